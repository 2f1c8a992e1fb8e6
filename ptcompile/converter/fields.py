"""Fields of the pods that the job's containers read: labels and annotations of the first
operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.converter.selectors import PodPair
from ptcompile.converter.settings import conversion_problem
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes.unstructured import (
    JsonDict,
    nested_value,
    values_in,
    without_keys,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.pods import PodView
    from ptcompile.simulator.job import SimulatedJob


def rewrite_fields(
    objects: Sequence[JsonDict], pairs: Sequence[PodPair], job: SimulatedJob
) -> tuple[list[JsonDict], list[Problem]]:
    """Return the converted objects with each field path that has another value in the new pods
    replaced, and the findings for them.

    A value that all pods share becomes a plain value.
    """
    changed = list(objects)
    problems: list[Problem] = []
    for field in dict.fromkeys(_field_paths(changed)):
        readers = [
            pair
            for pair in pairs
            if field in _field_paths(pair.new.spec) and field in _field_paths(pair.old.spec)
        ]
        wanted = [_value(pair.old, field) for pair in readers]
        if not any(wanted) or wanted == [_value(pair.new, field) for pair in readers]:
            continue

        replacement = _replacement(readers, wanted, job)
        is_known = "<" not in "".join(wanted)  # such as the UID of an object
        constant = wanted[0] if is_known and len(set(wanted)) == 1 else None
        names = frozenset(name for pair in readers for name in _variables(pair.old.spec, field))
        change = _Change(field, names, replacement, None if replacement is not None else constant)
        replaced = _replace_field(changed, change)
        where = f"{field}, which {', '.join(sorted(names)) or 'a volume'} reads,"
        if (
            replaced == changed
            and not is_known
            and all(_value(pair.new, field) for pair in readers)
        ):
            message = f"the field {where} has another value in the converted pods"
            problems.append(conversion_problem(message, "check what uses the value", "warning"))
        else:
            problems.append(
                _finding(where, None if replaced == changed else replacement or repr(constant))
            )

        changed = replaced

    return changed, problems


class _Change(NamedTuple):
    """The replacement of one field path by another one, or by a plain value."""

    field: str
    variables: frozenset[str]
    """The variables that read it in the old pods. Others of the new pods are the operator's own."""
    path: str | None
    value: str | None


def _field_paths(value: Any) -> Iterator[str]:
    """Yield the field paths of labels and annotations that a value names."""
    for inner in values_in(value):
        field = nested_value(inner, "fieldRef", "fieldPath")
        if isinstance(field, str) and field.endswith("']"):
            yield field


def _value(pod: PodView, field: str) -> str:
    """Return a label or an annotation of a pod by its field path, or an empty string."""
    holder, _, key = field[:-2].partition("['")
    values = pod.labels if holder == "metadata.labels" else pod.annotations
    return values.get(key, "")


def _replacement(
    readers: Sequence[PodPair], wanted: Sequence[str], job: SimulatedJob
) -> str | None:
    """Return a field path with the wanted value in each of the new pods, or None without one."""
    following = job.record.following()
    first = (
        (following.role_label, following.index_label, following.pods_label)
        if following is not None
        else ()
    )
    for holder in ("labels", "annotations"):
        values: Mapping[str, str] = getattr(readers[0].new, holder)
        own = {key for pair in readers for key in getattr(pair.old, holder)}
        for key in (
            *(label for label in first if label in values),
            *sorted(values.keys() - own - set(first)),
        ):
            if [getattr(pair.new, holder).get(key) for pair in readers] == list(wanted):
                return f"metadata.{holder}['{key}']"

    return None


def _variables(value: Any, field: str) -> Iterator[str]:
    """Yield the names of the variables that read a field."""
    for inner in values_in(value):
        if nested_value(inner, "valueFrom", "fieldRef", "fieldPath") == field:
            yield str(inner.get("name"))


def _replace_field(value: Any, change: _Change) -> Any:
    """Return the data with a change applied to variables, and to files of downward API volumes."""
    if isinstance(value, list):
        return [_replace_field(inner, change) for inner in value]
    if not isinstance(value, Mapping):
        return value

    if nested_value(value, "valueFrom", "fieldRef", "fieldPath") == change.field:
        if value.get("name") not in change.variables:
            return value
        if change.value is not None:
            return {**without_keys(value, "valueFrom"), "value": change.value}
    if change.path is not None and value.get("fieldPath") == change.field:
        return {**value, "fieldPath": change.path}

    return {key: _replace_field(inner, change) for key, inner in value.items()}


def _finding(where: str, now: str | None) -> Problem:
    if now is not None:
        message = f"the field {where} becomes {now}, with the same value in each pod"
        return conversion_problem(message, None, "note")
    message = f"the field {where} is empty in the converted pods, and no other field has its values"
    help = "set the value in the job's pod template, or compute it from RANK in the script"
    return conversion_problem(message, help)
