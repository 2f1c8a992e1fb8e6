"""Where the parts of a workload's pods were written: in its object, in another one, or by
admission.

A controller says what it takes from where as it makes an object (`MadeObject.origins`), by the keys
of items: a merge may move them. Nothing is looked up before a finding is placed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kinds.pods import FieldOrigin, Place
from ptcompile.kubernetes.pod_spec import OBJECT_KEYS
from ptcompile.kubernetes.unstructured import Json, as_mapping, get, has


class WrittenPlace(NamedTuple):
    """Where a value of a workload's pods is reported: the nearest field of its object that a
    user wrote.
    """

    path: Path
    value: Path = ()
    """The value, if that field does not have it: from the root of the object that the pods are made
    of, or, if admission wrote it, below the field.
    """
    writer: str = ""
    """Who wrote it then, such as `LimitRange ml/defaults`."""
    source: Place | None = None
    """Where another object has it."""


class OriginMap(NamedTuple):
    """The origins of a workload's parts, for paths in the object that its pods are made of."""

    manifest: Json
    """The object of the file."""
    made: Json
    """The object that has the pod templates: the same, or the one that the controller makes of
    it.
    """
    origins: Sequence[tuple[Path, FieldOrigin]]
    """What the controller says about the origins of parts, in the order in which it writes them."""
    writers: Mapping[Path, str]
    """What admission writes, by path."""

    def at(self, path: Path) -> WrittenPlace | None:
        """Return where the value at a path was written, or None if it is at this path of the
        file.
        """
        added = next((below for below in self.writers if below[: len(path)] == path), None)
        place = self._made_at(path)
        if added is None or get(self.made, path) is not None:
            return place

        source = None if place is None else place.source
        path = _nearest_existing(self.made, path)
        place = self._made_at(path) or WrittenPlace(path)
        return place._replace(value=added[len(path) :], writer=self.writers[added], source=source)

    def _made_at(self, path: Path) -> WrittenPlace | None:
        keys = _with_keys(self.made, path)
        value = _nearest_existing(self.made, path)
        for start, origin in reversed(self.origins):
            end = len(start)
            if keys[:end] != start:
                continue

            if not origin.writer:
                own = _with_indexes(self.manifest, (*origin.path, *keys[end : len(value)]))
                if has(self.manifest, own):
                    return WrittenPlace((*own, *path[len(value) :]))
                continue

            own = _nearest_existing(self.manifest, _with_indexes(self.manifest, origin.path))
            source = origin.source
            if source is not None:
                source = source._replace(
                    path=_with_indexes(source.manifest, (*source.path, *keys[end:]))
                )

            return WrittenPlace(own, value, origin.writer, source)

        return None


def _nearest_existing(data: Any, path: Path) -> Path:
    """Return the path without the steps at its end that lead to nothing."""
    while path and not has(data, path):
        path = path[:-1]
    return path


def _with_keys(data: Any, path: Path) -> Path:
    """Return a path with the key of an item in place of its index, where a list has keys."""
    keys: list[str | int] = []
    field: str | int = ""
    for step in path:
        data = get(data, (step,))
        is_item = isinstance(step, int) and field in OBJECT_KEYS
        keys.append(as_mapping(data).get(OBJECT_KEYS[str(field)], step) if is_item else step)
        field = step
    return tuple(keys)


def _with_indexes(data: Any, keys: Path) -> Path:
    """Return a path with the index of an item in place of its key; of several with one key, the
    last takes effect.
    """
    path: list[str | int] = []
    field: str | int = ""
    for step in keys:
        if isinstance(data, list) and field in OBJECT_KEYS:
            key = OBJECT_KEYS[str(field)]
            step = next(
                (
                    i
                    for i, item in reversed([*enumerate(data)])
                    if as_mapping(item).get(key) == step
                ),
                step,
            )

        path.append(step)
        data = get(data, (step,))
        field = step

    return tuple(path)
