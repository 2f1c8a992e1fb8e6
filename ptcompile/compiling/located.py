"""Findings in manifests at the lines of the spec that caused them, as the trace of the compilation has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ptcompile.compiling.causes import cause
from ptcompile.compiling.record import Trace, there
from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.frontends.lines import moved, value_at
from ptcompile.job.pod_words import in_holder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RUN_POLICY = frozenset(
    {"ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit", "suspend", "cleanPodPolicy"}
)


def traced(
    found: Iterable[tuple[int, Problem]],
    data: Mapping[str, Any],
    trace: Callable[[], Trace],
    *,
    causes: bool = True,
) -> Iterator[Problem]:
    """Problems of manifests, by index, at the lines of the spec that they are about, each once.

    With `causes`, one about a value that no line gives stands at the word that it was written because of. The trace is
    asked for when there is a problem.
    """
    seen: set[tuple[str, Path, str]] = set()
    for index, problem in found:
        path = located(trace(), index, problem.path, data)
        exact = path != ("spec",)
        if causes and not (exact and value_at(path, data) is not None):
            near = cause(problem, trace(), index, data)
            path = path if exact and near == ("spec",) else near
        named = problem.path[-1:] == ("name",) and path[-2:-1] == ("env",)  # a name is a key in a spec
        moved_problem = problem._replace(on_key=problem.on_key or named, fix=None)
        moved_problem = moved_problem._replace(path=path) if path == ("spec",) else moved(moved_problem, path)
        known = (problem.name, path, "" if exact else moved_problem.message)
        if known not in seen:
            seen.add(known)
            yield moved_problem


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
