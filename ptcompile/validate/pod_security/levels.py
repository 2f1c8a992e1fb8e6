"""The checks of the levels baseline and restricted, in the order of their names, as the server says them."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.validate.pod_security.baseline import BASELINE
from ptcompile.validate.pod_security.checks import Pod, Violation
from ptcompile.validate.pod_security.restricted import OVERRIDDEN, RESTRICTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.validate.pod_security.checks import Json


def violations(level: str, minor: int, spec: Json, meta: Json) -> Iterator[Violation]:
    """What a level has against a pod."""
    pod = Pod(spec, meta, minor)
    for name, check in BASELINE.items():
        if level == "baseline" or name not in OVERRIDDEN:
            yield from check(pod)
    if level == "restricted":
        for check in RESTRICTED.values():
            yield from check(pod)
