"""Label selectors that select a job's pods: rewritten to the labels of the pods after a
conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.converter.settings import conversion_problem
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import (
    JsonDict,
    kind_of,
    nested_map,
    nested_maps,
    nested_string_map,
    object_name,
    without_keys,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ptcompile.kinds.pods import PodView
    from ptcompile.simulator.job import SimulatedJob

    T = TypeVar("T")


_HOLDERS = frozenset({"labelSelector", "podSelector", "selector"})
"""Keys whose values select pods."""
_MAX_ADDED = 3
"""Maximum number of labels that replace those of the first operator."""


class PodPair(NamedTuple):
    """One pod before and after a conversion."""

    old: PodView
    new: PodView


class Rewritten(NamedTuple):
    """Objects with other selectors, and the findings for them."""

    objects: list[JsonDict]
    problems: list[Problem]


Searched = dict[tuple[object, int], tuple[JsonDict, "Any"]]
"""What was searched for in the objects of a stream, each of which is searched once for all jobs."""


def search(searched: Searched, data: JsonDict, find: Callable[[JsonDict], T]) -> T:
    """Return `find(data)`, computed once for each object."""
    key = find, id(data)
    if key not in searched:
        searched[key] = data, find(data)  # with the object, so that no other gets its id
    result: T = searched[key][1]
    return result


def rewrite_selectors(
    objects: Sequence[JsonDict], pairs: Sequence[PodPair], job: SimulatedJob, searched: Searched
) -> Rewritten:
    """Return the objects with each selector of the old pods selecting the same new ones, where
    labels allow it.

    `job` is the converted one, whose labels of role and index are tried first.
    """
    following = job.record.following()
    first = (
        (following.pods_label, following.role_label, following.index_label)
        if following is not None
        else ()
    )
    order = [label for label in first if label]
    rewritten: list[JsonDict] = []
    problems: list[Problem] = []
    for data in objects:
        changed: Any = data
        for path, selector in search(searched, data, _selectors_of):
            replacement = _replacement(selector, pairs, order)
            if replacement == selector:
                continue
            where = f"{data.get('kind')}/{object_name(data)}: {field_path(path)}"
            if replacement is not None:
                changed = _with_value(changed, path, replacement)
            problems.append(_finding(where, selector, replacement))

        rewritten.append(changed)

    return Rewritten(rewritten, problems)


def _selectors_of(data: JsonDict) -> list[tuple[Path, JsonDict]]:
    return [*_selectors(data, (), is_service=kind_of(data) == ("v1", "Service"))]


def _selectors(value: Any, path: Path, *, is_service: bool) -> Iterator[tuple[Path, JsonDict]]:
    """Yield the label selectors in an object with their paths."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            is_selector = isinstance(inner, Mapping) and (
                "matchLabels" in inner
                or "matchExpressions" in inner
                or (is_service and path == ("spec",))
            )
            if key in _HOLDERS and is_selector:
                yield (*path, str(key)), dict(inner)
            else:
                yield from _selectors(inner, (*path, str(key)), is_service=is_service)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _selectors(inner, (*path, index), is_service=is_service)


def _is_plain(selector: JsonDict) -> bool:
    return not selector.keys() & {"matchLabels", "matchExpressions"}


def _as_selector(selector: JsonDict) -> JsonDict:
    if _is_plain(selector):
        return {"matchLabels": selector}
    return selector


def _replacement(
    selector: JsonDict, pairs: Sequence[PodPair], order: Sequence[str]
) -> JsonDict | None:
    """Return the selector for the new pods: itself if it selects the same, or None if no labels
    do.
    """
    wanted = [selects(_as_selector(selector), pair.old.labels) for pair in pairs]
    if not any(wanted) or wanted == [
        selects(_as_selector(selector), pair.new.labels) for pair in pairs
    ]:
        return selector

    kept = _without_changed_keys(_as_selector(selector), pairs)
    chosen = [pair.new.labels for pair, is_wanted in zip(pairs, wanted, strict=True) if is_wanted]
    common = {
        key: value
        for key, value in chosen[0].items()
        if all(labels.get(key) == value for labels in chosen)
    }
    keys = [*(key for key in order if key in common), *sorted(common.keys() - set(order))]
    for size in range(1, _MAX_ADDED + 1):
        for added in combinations(keys, size):
            if order and order[0] in common and order[0] not in added:
                continue  # without the job's own label, pods of other jobs would be selected

            labels = {
                **nested_string_map(kept, "matchLabels"),
                **{key: common[key] for key in added},
            }
            candidate = {**kept, "matchLabels": labels}
            if wanted == [selects(candidate, pair.new.labels) for pair in pairs]:
                if _is_plain(selector):
                    if "matchExpressions" in candidate:
                        return None
                    return dict(labels)
                return candidate

    return None


def _without_changed_keys(selector: JsonDict, pairs: Sequence[PodPair]) -> JsonDict:
    """Return the selector without the labels that the conversion changes."""
    changed = {
        key
        for pair in pairs
        for key in {*pair.old.labels, *pair.new.labels}
        if pair.old.labels.get(key) != pair.new.labels.get(key)
    }
    labels = without_keys(nested_map(selector, "matchLabels"), *changed)
    expressions = [
        item for item in nested_maps(selector, "matchExpressions") if item.get("key") not in changed
    ]

    return {
        **({"matchLabels": labels} if labels else {}),
        **({"matchExpressions": expressions} if expressions else {}),
    }


def _with_value(data: Any, path: Sequence[str | int], value: Any) -> Any:
    """Return a copy of the data with the value at `path`."""
    if not path:
        return value
    key, *rest = path
    if isinstance(data, list):
        return [
            _with_value(item, rest, value) if index == key else item
            for index, item in enumerate(data)
        ]
    return {**data, key: _with_value(data[key], rest, value)}


def _finding(where: str, selector: JsonDict, replacement: JsonDict | None) -> Problem:
    was = _as_text(selector)
    if replacement is not None:
        message = (
            f"{where}: the selector {was} becomes {_as_text(replacement)}, which selects the same "
            "pods"
        )
        return conversion_problem(message, None, "note")
    message = f"{where}: no labels of the converted pods select what {was} selects"
    help = "select the pods by labels of your own, and set those in the job's pod template"
    return conversion_problem(message, help)


def _as_text(selector: JsonDict) -> str:
    """Return a selector as kubectl writes it."""
    full = _as_selector(selector)
    parts = [f"{key}={value}" for key, value in nested_map(full, "matchLabels").items()]
    for item in nested_maps(full, "matchExpressions"):
        values = item.get("values")
        listed = f" ({', '.join(map(str, values))})" if isinstance(values, list) and values else ""
        parts.append(f"{item.get('key')} {item.get('operator')}{listed}")
    return ",".join(parts)
