"""The pod template of a batch/v1 Job."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import at, integer
from ptcompile.operators.common.templates import Template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def of(manifest: Json) -> Iterator[Template]:
    """The template of all pods."""
    spec = at(manifest, "spec")
    yield Template(("spec", "template"), spec.get("template"), "", integer(spec.get("parallelism"), 1))
