"""The place of a spec that a place of one of its manifests comes from, as the trace has it."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.compiling.record import Trace, there
from ptcompile.findings.diagnostics import Path
from ptcompile.frontends.lines import value_at
from ptcompile.job.pod_words import in_holder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RUN_POLICY = frozenset(
    {"ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit", "suspend", "cleanPodPolicy"}
)


def located(trace: Trace, manifest: int, path: Path, data: Mapping[str, Any]) -> Path:
    """The place in a spec that a place of one of its manifests comes from; `spec` itself where no line gives it."""
    place = trace.place(manifest, path)
    if place is not None and (known := there(place, data)):
        return known
    if path[:1] == ("metadata",):
        return path
    if patch := _patch(trace, manifest, path):
        return patch
    job = data.get("spec")
    role = trace.role(manifest, path)
    if isinstance(job, Mapping) and role in (job.get("roles") or {}):
        return ("spec", "roles", role)
    if len(path) > 1 and path[0] == "spec" and path[-1] in _RUN_POLICY:
        return ("spec", "runPolicy", path[-1])
    return ("spec",)


_POD = in_holder("spec")


def _patch(trace: Trace, manifest: int, path: Path) -> Path | None:
    """The patch that must have caused what is wrong with a pod field that is not there and has no word in a spec."""
    holder = value_at(path[:-1], trace.manifests[manifest]) if path else None
    if not isinstance(holder, Mapping) or "containers" not in holder or path[-1] in {*_POD, "containers", *holder}:
        return None
    places = (trace.place(manifest, (*path[:-1], str(key))) for key in holder)
    return next((one[: one.index("spec", 1) + 1] for one in places if one and "podTemplate" in one), None)
