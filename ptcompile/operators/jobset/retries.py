"""How often a JobSet starts its pods again, for the rules of lint: its Jobs do, and the JobSet all of them."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import at, integer, items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.operators.common.templates import Template


def recreated(manifest: Json, _template: Template) -> bool:
    """Whether a lost pod is recreated."""
    return any(limit > 0 for limit in _of_jobs(manifest)) or _of_all(manifest) > 0


def retries(manifest: Json) -> int:
    """How often a pod is restarted at most."""
    return (max(_of_jobs(manifest), default=0) + 1) * (_of_all(manifest) + 1) - 1


def _of_jobs(manifest: Json) -> Iterator[int]:
    for one in items(at(manifest, "spec").get("replicatedJobs")):
        yield integer(at(one, "template", "spec").get("backoffLimit"), 6)


def _of_all(manifest: Json) -> int:
    return integer(at(manifest, "spec", "failurePolicy").get("maxRestarts"))
