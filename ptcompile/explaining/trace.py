"""What each pass did to a job, as paths and values: its steps compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile import passes
from ptcompile.explaining.leaves import MISSING, at, differences
from ptcompile.explaining.model import Change, Step
from ptcompile.explaining.shown import Named, shown_path, shown_value
from ptcompile.findings.diagnostics import Path
from ptcompile.job import pod_template
from ptcompile.job.model import Job
from ptcompile.secrets.structure import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHORT = 64
"""Characters of a value that stands in a trace as one; a longer mapping or list is shown part by part."""


def view(job: Job) -> dict[str, Any]:
    """What passes may change of a job, as plain data: each role's pod template, the objects' metadata, the queue, the
    processes of a node."""
    return {
        "roles": {role.name: pod_template.write(role.template) for role in job.roles},
        "job": {
            "metadata": {"labels": dict(job.labels), "annotations": dict(job.annotations)},
            **({"queue": job.queue} if job.queue else {}),
            **({"nprocPerNode": job.launch.nproc_per_node} if job.launch else {}),
        },
    }


def trace(steps: Sequence[passes.Step]) -> tuple[Step, ...]:
    """What each pass added, changed or removed; the same in several roles is said once."""
    return tuple(Step(step.name, _changes(step)) for step in steps)


def _changes(step: passes.Step) -> tuple[Change, ...]:
    if step.before == step.after:
        return ()
    real = view(step.before), view(step.after)
    before, after = map(without_secrets, real)
    found: dict[tuple[Path, str], Change] = {}
    named = Named()
    for path, old, new in _short(differences(before, after)):
        (where, *names), inner = path[: 1 if path[0] == "job" else 2], path[1 if path[0] == "job" else 2 :]
        shown = shown_path(inner, at(before if new is MISSING else after, (where, *names)), named)
        key = (inner, repr((shown, old, new)))
        roles = (*found[key].roles, *map(str, names)) if key in found else tuple(map(str, names))
        masked = (old, new) != tuple(
            MISSING if side is MISSING else at(one, path) for side, one in zip((old, new), real, strict=True)
        )
        found[key] = Change(roles, inner, shown, old, new, masked)
    return tuple(found.values())


def _short(found: Iterator[tuple[Path, Any, Any]]) -> Iterator[tuple[Path, Any, Any]]:
    """The same changes, those of long mappings and lists part by part."""
    for path, old, new in found:
        whole = new if old is MISSING else old if new is MISSING else None
        if isinstance(whole, Mapping | list) and whole and len(shown_value(whole, 2 * _SHORT)) > _SHORT:
            parts = whole.items() if isinstance(whole, Mapping) else enumerate(whole)
            gone = new is MISSING
            yield from _short(
                iter([((*path, key), one if gone else MISSING, MISSING if gone else one) for key, one in parts])
            )
        else:
            yield path, old, new
