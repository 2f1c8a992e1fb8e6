"""Completion items, and the values behind them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    CompletionList,
    MarkupContent,
    MarkupKind,
    Position,
    TextEdit,
)

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.server.cursor import Cursor, Sketch, place_at
from ptcompile.server.definition import in_profile, is_mount, kinds_named
from ptcompile.server.document import OpenDocument
from ptcompile.server.hover import field_text
from ptcompile.server.schema import OURS, SchemaNode, at, choices, fields, is_collection, root

_MOST: Final = 200
"""Names that are offered at once."""
_PROBE: Final = "ptcompile-probe"
_supported = re.compile(r"supported values: (.*)")
_LINES: Final = frozenset({"args", "command", "env", "value"})
"""Keys below which a value may be the address of a pod."""


class Suggestion(NamedTuple):
    """Something that may be written, and what it is."""

    text: str
    detail: str = ""
    kind: str = "value"
    """`value`, `name` (of an object or an entry of the profile) or `host`."""


def values(opened: OpenDocument, place: Cursor, kind: tuple[str, str], nodes: Sequence[SchemaNode]) -> list[Suggestion]:
    """What may be written at a place, the likeliest first, each once."""
    found: dict[str, Suggestion] = {}
    ours = kind[1] in OURS and (kind[0].startswith("ptcompile/") or not kind[0])
    for one in _all(opened, place, kind, nodes, ours=ours):
        found.setdefault(one.text, one)
        if len(found) >= _MOST:
            break
    return list(found.values())


def _all(
    opened: OpenDocument, place: Cursor, kind: tuple[str, str], nodes: Sequence[SchemaNode], *, ours: bool
) -> Iterator[Suggestion]:
    path = place.path
    if len(path) == 1 and path[0] in ("apiVersion", "kind"):
        yield from _kinds(path[0] == "kind", kind)
        return
    if ours:
        yield from _of_spec(opened, path)
    yield from (Suggestion(one) for one in choices(nodes))
    if is_mount(path):
        yield from (Suggestion(name, "volume", "name") for name in _volume_names(place))
    kinds = kinds_named(path)
    yield from (Suggestion(one.name, one.kind, "name") for one in (*opened.own, *opened.elsewhere) if one.kind in kinds)
    if not ours and not choices(nodes):
        yield from (Suggestion(one) for one in _supported_at(opened, place, kind))
    if any(part in _LINES for part in path):
        yield from _hosts(opened, place)


def _kinds(is_kind: bool, kind: tuple[str, str]) -> Iterator[Suggestion]:
    """Every apiVersion with a kind that is known here."""
    from ptcompile.apiserver.kinds import known_kinds

    ours = [("ptcompile/v1", name) for name in OURS]
    for version, name in (*ours, *known_kinds()):
        if not is_kind:
            if kind[1] in ("", name):
                yield Suggestion(version, name if kind[1] else "")
        elif kind[0] in ("", version):
            yield Suggestion(name, version)


def _of_spec(opened: OpenDocument, path: Path) -> Iterator[Suggestion]:
    """The names that a spec takes from the targets, the catalogue and the profile."""
    profile = opened.profile.spec
    if path == ("spec", "target"):
        from ptcompile.registry.targets import TARGETS, target_named

        yield from (Suggestion(name, target_named(name).title) for name in TARGETS)
    elif path == ("spec", "accelerator"):
        from ptcompile.hardware import accelerators

        yield from (Suggestion(name, "of the profile", "name") for name in profile.accelerators)
        yield from (Suggestion(name, "built in") for name in accelerators.names(profile.cloud or ""))
    elif path == ("spec", "fabric"):
        from ptcompile.hardware.fabrics import FABRICS

        yield from (Suggestion(name, "of the profile", "name") for name in profile.fabrics)
        yield from (Suggestion(name, "built in") for name in FABRICS)
    elif in_profile(path) == ("topology", "levels"):
        yield from (Suggestion(name, "level of the profile", "name") for name in profile.topology.levels)
    elif in_profile(path) == ("priorities",):
        yield from (Suggestion(name, f"priority {value} of the profile", "name") for name, value in _pairs(profile))
    elif path == ("spec", "queue") and profile.defaults.queue:
        yield Suggestion(profile.defaults.queue, "the profile's default queue", "name")


def _pairs(profile: Any) -> Iterable[tuple[str, int]]:
    priorities: Mapping[str, int] = profile.priorities
    return priorities.items()


def _volume_names(place: Cursor) -> Iterator[str]:
    """The volumes of the pod, by the document's outline."""
    for end in range(len(place.path) - 3, -1, -1):
        yield from place.document.values((*place.path[:end], "volumes"), "name")


def _supported_at(opened: OpenDocument, place: Cursor, kind: tuple[str, str]) -> Iterator[str]:
    """The closed list that an API server or a webhook would quote: asked by a value that is in none."""
    from ptcompile.apiserver import validate
    from ptcompile.source import documents as source

    before, after = opened.text[place.begin : place.start], opened.text[place.end :]
    rest = after[after.find("\n") :] if "\n" in after else ""
    closing = place.quote + ("" if not place.flow else after.partition("\n")[0].removeprefix(place.quote))
    blank = " " if place.glued else ""
    read = source.read(f"{before}{blank}{_PROBE}{closing}{rest}")
    for document in read.documents[:1]:
        if kind_of(document.data) == kind:
            for problem in validate(document.data, versions=opened.versions):
                found = _supported.search(problem.message)
                if found and problem.path == place.path:
                    yield from re.findall(r'"([^"]*)"', found[1])


def _hosts(opened: OpenDocument, place: Cursor) -> Iterator[Suggestion]:
    """The names under which the pods of this text's jobs find each other, as it was when it last could be read."""
    sound = opened.last_sound()
    seen = 0
    for jobs in sound.jobs.values() if sound is not None else ():
        for job in jobs:
            for role in job.roles:
                for index in range(min(role.count, 8)):
                    pod = job.pod(role, index)
                    if pod.dns and seen < _MOST:
                        seen += 1
                        yield Suggestion(_short(pod.dns, pod.view.namespace), f"pod {pod.shown}", "host")


def _short(dns: str, namespace: str) -> str:
    """A pod's name within its namespace."""
    return dns.removesuffix(f".{namespace}.svc.cluster.local").removesuffix(f".{namespace}.svc")


_KINDS: Final = {
    "value": CompletionItemKind.EnumMember,
    "name": CompletionItemKind.Reference,
    "host": CompletionItemKind.Constant,
}
_ignoring = re.compile(r"#[ \t]*ptcompile:[ \t]*ignore(?:-file)?\[(?:[^\]]*,[ \t]*)?([\w-]*)$").search
_is_plain = re.compile(r"[A-Za-z_./][\w./-]*").fullmatch
_words = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def complete(opened: OpenDocument, position: Position) -> CompletionList:
    """What may be typed at a position."""
    place = place_at(opened.text, opened.lines.offset(position))
    if place.part == "text":
        return CompletionList(False, [])
    if place.part == "comment":
        return CompletionList(False, list(_codes(opened, place)))
    under, kind = kind_at(place.document, place.path)
    nodes = at(root(kind, opened.definitions), place.path[len(under) :])
    found: list[CompletionItem] = []
    if place.part in ("key", "item"):
        found += _keys(opened, place, nodes or _nothing_yet(place, kind))
    if place.part in ("value", "item"):
        found += (_of_value(opened, place, one, rank) for rank, one in enumerate(_values(opened, place, kind, nodes)))
    return CompletionList(False, found)


def _values(opened: OpenDocument, place: Cursor, kind: tuple[str, str], nodes: list[SchemaNode]) -> list[Suggestion]:
    if place.part == "item" and place.path and not isinstance(place.path[-1], int) and not nodes:
        return []
    return values(opened, place, kind, nodes)


def kind_at(document: Sketch, path: Path) -> tuple[Path, tuple[str, str]]:
    """The object that a path is in, and its apiVersion and kind as far as they are written."""
    under: Path = path[:2] if document.value("kind") == "List" and path[:1] == ("items",) and len(path) > 1 else ()
    return under, (document.value(*under, "apiVersion") or "", document.value(*under, "kind") or "")


def _nothing_yet(place: Cursor, kind: tuple[str, str]) -> list[SchemaNode]:
    """What an object begins with, of which nothing is known."""
    if place.path or all(kind):
        return []
    keys = ("apiVersion", "kind", "metadata", "spec")
    return [SchemaNode({"properties": {key: {"type": "object" if key in keys[2:] else "string"} for key in keys}}, "")]


def _keys(opened: OpenDocument, place: Cursor, nodes: list[SchemaNode]) -> Iterator[CompletionItem]:
    """The fields that are not there yet."""
    there = place.document.keys(place.path)
    colon = opened.text[place.end : place.end + 1] == ":"
    for rank, (name, node) in enumerate(fields(nodes, opened.versions.kubernetes).items()):
        if name in there:
            continue
        ending = "" if colon or place.quote else ":" if is_collection(node) and not place.flow else ": "
        yield CompletionItem(
            label=name,
            kind=CompletionItemKind.Field,
            documentation=MarkupContent(MarkupKind.Markdown, field_text(name, node)),
            sort_text=f"{rank:04}",
            filter_text=name,
            text_edit=TextEdit(opened.lines.range(place.start, place.end), name + ending),
        )


def _of_value(opened: OpenDocument, place: Cursor, value: Suggestion, rank: int) -> CompletionItem:
    plain = place.quote or (_is_plain(value.text) and value.text.lower() not in _words) or value.kind == "value"
    text = value.text if plain else f'"{value.text}"'
    return CompletionItem(
        label=value.text,
        kind=_KINDS[value.kind],
        detail=value.detail or None,
        sort_text=f"{rank:04}",
        filter_text=value.text,
        text_edit=TextEdit(opened.lines.range(place.start, place.end), (" " if place.glued else "") + text),
    )


def _codes(opened: OpenDocument, place: Cursor) -> Iterator[CompletionItem]:
    """The codes of `# ptcompile: ignore[...]`; those found in this text first."""
    typed = _ignoring(place.prefix)
    if typed is None:
        return
    from ptcompile.diagnostics.codes import CODES

    found = {one.name for one in opened.report.diagnostics}
    where = opened.lines.range(place.end - len(typed[1]), place.end)
    for name, code in CODES.items():
        yield CompletionItem(
            label=code,
            detail=name,
            kind=CompletionItemKind.EnumMember,
            sort_text=f"{int(name not in found)}{code}",
            filter_text=f"{code} {name}",
            text_edit=TextEdit(where, code),
        )
