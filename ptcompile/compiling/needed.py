"""Fields that a job keeps empty and its target writes all the same: the target could not do without them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.compiling.build import Built
from ptcompile.compiling.location import Finding
from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.job.model import map_templates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def nulls_the_target_needs(built: Built) -> Iterator[Finding]:
    """Yield an error for each null of a job, after its passes, that takes away what the target itself writes."""
    job, target = built.job, built.context.target
    if not any(role.template.nulls for role in job.roles):
        return
    free = map_templates(job, lambda template: template._replace(nulls={}))
    lost = _lost(target.emit(free, built.context.cluster), built.emitted)
    for path in dict.fromkeys(path for role in job.roles for path in _leaves(role.template.nulls)):
        if path[-1] in lost:
            text = f"{field_path(path)}: the target {target.name} needs {path[-1]}, and null would remove it"
            help = "remove this line"
            yield Finding(Problem("unsupported-by-target", path, text, help, authority="ptcompile", on_key=True))


def _leaves(nulls: Mapping[str, Any]) -> Iterator[Path]:
    for inside in nulls.values():
        if isinstance(inside, tuple):
            yield inside
        else:
            yield from _leaves(inside)


def _lost(whole: Any, left: Any) -> set[str]:
    """The keys, and the values of items of lists, that only the whole has."""
    if isinstance(whole, Mapping) and isinstance(left, Mapping):
        both = whole.keys() & left.keys()
        return (whole.keys() - left.keys()).union(*(_lost(whole[key], left[key]) for key in both))
    if not isinstance(whole, Sequence) or not isinstance(left, Sequence) or isinstance(whole, str):
        return set()
    if len(whole) == len(left):
        return set().union(*map(_lost, whole, left))
    return {str(value) for item in whole if isinstance(item, Mapping) for value in item.values()}
