"""Labels, annotations and node labels that are read in one place only, and those of an object that
are not read.

The table is `key_places.json`: by reader, the keys with the part of the metadata that they belong
to, the places that are looked at, and the values that mean something. A row from memory leads to a
note without a fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Edit, Fix, Path, Severity
from ptcompile.kubernetes.pod_spec import pinned_values
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_string_map
from ptcompile.linter.rule import Finding, Findings, Subject, found_at
from ptcompile.world.templates import ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Way = Literal["labels", "annotations", "pods", "object", "kind", "name", "value"]

POD = "pod"
"""The place of keys that are read from pods, so from pod templates."""
OBJECT = "object"
"""The place of keys that are read from whatever object is applied."""
_SELECTOR = "nodeSelector"
_EITHER = "either"
_DURATION = "<duration>"
_is_duration = Pattern(r"(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h))+").fullmatch
_PARTS: tuple[Literal["labels", "annotations"], ...] = ("labels", "annotations")


class KeyPlace(NamedTuple):
    """A place where a key is read."""

    key: str
    """The key, or what such keys begin with and `*`."""
    reader: str
    """Who reads it, for sentences."""
    part: str
    """labels, annotations, either, or nodeSelector for a label of nodes."""
    on: Sequence[str] = ()
    """The kinds of objects that are looked at, `pod` or `object`; nothing for a key that is no
    longer read.
    """
    values: Sequence[str] = ()
    """The values that mean something, if others mean nothing."""
    is_list: bool = False
    """Whether the value is a comma-separated list of them."""
    now: str = ""
    """The key that replaced it."""
    help: str = ""
    """What to write instead, if it is not a key."""
    written: bool = False
    """Whether a controller writes it, so that people only copy it."""
    memory: bool = False
    """Whether it was not checked in a source."""
    source: str = ""
    rules: Mapping[str, str] = {}  # shared by all rows: never changed
    """The rules that report it, by `Unread.way`; misplaced-key reports all others."""


class Unread(NamedTuple):
    """A key of an object that no program reads as it is written."""

    place: KeyPlace
    way: Way
    """What is wrong: that it is among the labels, or among the annotations; that it is read from
    pods, from the object itself, or from other kinds; its name; or its value.
    """
    finding: Finding

    @property
    def rule(self) -> str:
        """The name of the rule that reports it."""
        return self.place.rules.get(self.way, "misplaced-key")


class _Holder(NamedTuple):
    """One metadata with labels and annotations."""

    path: Path
    data: Json
    places: frozenset[str]
    template: ManifestTemplate | None = None


class _Table(NamedTuple):
    """Rows by key, and rows for families of keys by the beginning of their keys."""

    keys: Mapping[str, Sequence[KeyPlace]]
    families: Mapping[str, Sequence[KeyPlace]]


@cache
def _table() -> _Table:
    """Return the known keys, and the known beginnings of keys, with their places."""
    keys: dict[str, list[KeyPlace]] = {}
    families: dict[str, list[KeyPlace]] = {}
    for group in load_table("linter/key_places.json").values():
        for row in group["rows"]:
            place = KeyPlace(**{"rules": group.get("rules", {}), **row})
            if place.key.endswith("*"):
                families.setdefault(place.key.removesuffix("*"), []).append(place)
            else:
                keys.setdefault(place.key, []).append(place)

    return _Table(keys, families)


def places_of(key: str) -> Sequence[KeyPlace]:
    """Return the rows of the table about a key; none if it is not in the table."""
    keys, families = _table()
    if key in keys:
        return keys[key]
    return next((rows for start, rows in families.items() if key.startswith(start)), ())


def keys_with_prefix(prefix: str) -> list[str]:
    """Return the keys of the table that begin with a prefix, in its order."""
    return [key for key in _table().keys if key.startswith(prefix)]


def unread_keys(subject: Subject) -> tuple[Unread, ...]:
    """Return the keys of an object and of its pod templates that no program reads as they are
    written.
    """
    return tuple(item for holder in _holders(subject) for item in _unread_of(subject, holder))


def unread_findings(subject: Subject, rule: str) -> Findings:
    """Return the findings of one rule about keys that no program reads as written."""
    return (item.finding for item in subject.cached(unread_keys) if item.rule == rule)


def _holders(subject: Subject) -> Iterator[_Holder]:
    """Yield what may have labels and annotations: the object, and the templates that are written in
    it.
    """
    _, kind = subject.kind
    if kind == "Pod":
        yield _Holder(
            (),
            subject.manifest,
            frozenset({OBJECT, POD, kind}),
            next(iter(subject.templates), None),
        )
        return

    yield _Holder((), subject.manifest, frozenset({OBJECT, kind}))
    if subject.made is not subject.manifest:
        return
    for template in subject.templates:
        yield _Holder(template.path, template.data, frozenset({POD}), template)


def _unread_of(subject: Subject, holder: _Holder) -> Iterator[Unread]:
    """Yield the labels, annotations and selectors of a holder that nothing reads."""
    metadata = nested_map(holder.data, "metadata")
    for part in _PARTS:
        for key, value in nested_string_map(metadata, part).items():
            rows = places_of(key)
            if rows and not any(row.written for row in rows):
                yield from _check_key(subject, holder, part, key, value, rows)

    if holder.template is None:
        return

    for key, value in nested_string_map(holder.template.spec, _SELECTOR).items():
        path = (*holder.path, "spec", _SELECTOR, key)
        for row in places_of(key):
            if row.part == _SELECTOR and not row.on:
                yield _renamed_key(row, path, holder.template.spec)
            elif row.part == _SELECTOR and not _is_read(row, value):
                yield _unread_value(row, path, value)


def _check_key(
    subject: Subject,
    holder: _Holder,
    part: Literal["labels", "annotations"],
    key: str,
    value: str,
    rows: Sequence[KeyPlace],
) -> Iterator[Unread]:
    """Yield what is wrong with one label or annotation."""
    path = (*holder.path, "metadata", part, key)
    row = rows[0]
    if not any(candidate.on for candidate in rows):
        yield _renamed_key(row, path, nested_map(holder.data, "metadata"))
        return

    rows_of_holder = [candidate for candidate in rows if not holder.places.isdisjoint(candidate.on)]
    fitting = [candidate for candidate in rows_of_holder if candidate.part in (part, _EITHER)]
    if fitting:
        if not any(_is_read(candidate, value) for candidate in fitting):
            row = fitting[0]
            yield _unread_value(row, path, value)
    elif row.part == _SELECTOR:
        is_selector = any(any(pinned_values(item.spec, key)) for item in subject.templates)
        if subject.templates and not is_selector:
            text = "it is a label of nodes, which does nothing on pods and jobs"
            help_text = "select nodes with it: nodeSelector in the pod template"
            yield _make_unread(row, part, path, text, help_text)
    elif rows_of_holder:
        row = rows_of_holder[0]
        if key not in nested_map(holder.data, "metadata", row.part):
            yield _wrong_part(row, part, path, value)
    elif not _is_also_in_place(subject, holder, row, key):
        yield _wrong_place(subject, holder, row, path, value)


def _make_unread(
    row: KeyPlace, way: Way, path: Path, text: str, help_text: str, edits: Sequence[Edit] = ()
) -> Unread:
    """Return what is wrong with a key; a note without a fix if the row was not checked in a
    source.
    """
    severity: Severity | None = "note" if row.memory else None
    fix = Fix(help_text, tuple(edits)) if edits and not row.memory else None
    finding = found_at(path, text, help_text, fix, on_key=True, severity=severity)
    return Unread(row, way, finding)


def _renamed_key(row: KeyPlace, path: Path, siblings: Json) -> Unread:
    text = f"{row.reader} does not read it"
    if not row.now:
        return _make_unread(row, "name", path, text, row.help or "remove it")
    is_taken = row.now in nested_map(siblings, str(path[-2]))
    edits = () if is_taken else (Edit("rename", path, row.now),)
    return _make_unread(row, "name", path, text, f"write {row.now}", edits)


def _is_read(row: KeyPlace, value: str) -> bool:
    """Return whether a value means something to the reader."""
    values = [item.strip() for item in value.split(",")] if row.is_list else [value]
    return not row.values or all(
        item in row.values or (_DURATION in row.values and _is_duration(item)) for item in values
    )


def _unread_value(row: KeyPlace, path: Path, value: str) -> Unread:
    text = f"{row.reader} does not know the value {value!r}"
    spelled_value = next((item for item in row.values if item.lower() == value.lower()), None)
    if spelled_value is not None:
        return _make_unread(
            row,
            "value",
            path,
            text,
            f'write "{spelled_value}"',
            (Edit("set", path, spelled_value),),
        )
    values = [item for item in row.values if item != _DURATION]
    durations = ", or a duration such as 4h" if _DURATION in row.values else ""
    return _make_unread(row, "value", path, text, f"write {' or '.join(values)}{durations}")


def _wrong_part(
    row: KeyPlace, written: Literal["labels", "annotations"], path: Path, value: str
) -> Unread:
    *metadata, _, key = path
    singular = row.part.removesuffix("s")
    article = "an" if row.part == "annotations" else "a"
    edits = (Edit("set", (*metadata, row.part, key), value), Edit("remove", path))

    return _make_unread(
        row,
        written,
        path,
        f"{row.reader} reads it from the {row.part}, and ignores the {written.removesuffix('s')}",
        f"make it {article} {singular}",
        edits,
    )


def _is_also_in_place(subject: Subject, holder: _Holder, row: KeyPlace, key: str) -> bool:
    """Return whether the key is also where it is read, or a controller copies it there."""
    if OBJECT in row.on:
        return _has_key(subject.manifest, key)
    if POD not in row.on or holder.template is not None:
        return False
    if any(_has_key(template.data, key) for template in subject.templates):
        return True
    views = [role.pod.view for role in subject.roles]
    return any(key in view.labels or key in view.annotations for view in views)


def _has_key(data: Json, key: str) -> bool:
    return any(key in nested_map(data, "metadata", part) for part in _PARTS)


def _wrong_place(
    subject: Subject, holder: _Holder, row: KeyPlace, path: Path, value: str
) -> Unread:
    *_, written, key = path
    part = str(written) if row.part == _EITHER else row.part
    removal = Edit("remove", path)
    if POD in row.on and holder.template is None:
        targets = [template.path for template in subject.templates]
        edits = [
            *(Edit("set", (*target, "metadata", part, key), value) for target in targets),
            removal,
        ]
        is_movable = len(targets) == 1 and subject.made is subject.manifest
        text = f"{row.reader} looks for it only in the pod template"
        help_text = "move it to the metadata of the pod template"
        return _make_unread(row, "pods", path, text, help_text, edits if is_movable else ())
    if OBJECT in row.on:
        _, kind = subject.kind
        edits = [Edit("set", ("metadata", part, key), value), removal]
        text = f"{row.reader} looks for it only in the {kind}, not in its pods"
        help_text = f"move it to the metadata of the {kind}"
        return _make_unread(row, "object", path, text, help_text, edits)

    kinds = " or ".join("pod" if place == POD else place for place in row.on)
    text = f"{row.reader} looks for it only in a {kinds}"

    return _make_unread(row, "kind", path, text, f"write it in the {kinds}")
