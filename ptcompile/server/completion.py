"""Completion items and the values that they suggest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

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
from ptcompile.explainer.fields import (
    SCHEMA_FILES,
    SchemaNode,
    choices,
    fields,
    is_collection,
    nodes_at,
    root_nodes,
)
from ptcompile.kubernetes.requests import GroupVersionKind
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.linter.environment import KNOWN_VARIABLES, LEVEL_VARIABLES, RENAMED_VARIABLES
from ptcompile.server.cursor import Cursor, Sketch, cursor_at
from ptcompile.server.definition import is_mount, profile_table, referenced_kinds
from ptcompile.server.document import OpenDocument
from ptcompile.server.hover import field_text

_MAX_SUGGESTIONS = 200
"""Maximum number of suggestions per request."""
_PROBE = "ptcompile-probe"
_supported_values = re.compile(r"supported values: (?P<values>.*)")
_HOST_FIELDS = frozenset({"args", "command", "env", "value"})
"""Keys below which a value may be a pod's address."""
_VARIABLES = KNOWN_VARIABLES.difference(RENAMED_VARIABLES)
"""Environment variables that NCCL, PyTorch and OpenMP read."""


class Suggestion(NamedTuple):
    """A value that may be inserted, with a short description."""

    text: str
    detail: str = ""
    kind: str = "value"
    """`value`, `name` (of an object or an entry of the profile) or `host`."""


def suggestions(
    opened: OpenDocument, cursor: Cursor, kind: GroupVersionKind, nodes: Sequence[SchemaNode]
) -> list[Suggestion]:
    """Return the distinct values that fit at the cursor, the most likely first."""
    by_text: dict[str, Suggestion] = {}
    for suggestion in _all_suggestions(opened, cursor, kind, nodes):
        by_text.setdefault(suggestion.text, suggestion)
        if len(by_text) >= _MAX_SUGGESTIONS:
            break
    return list(by_text.values())


def _all_suggestions(
    opened: OpenDocument, cursor: Cursor, kind: GroupVersionKind, nodes: Sequence[SchemaNode]
) -> Iterator[Suggestion]:
    """Yield what may be written at the cursor, from every source."""
    api_version, kind_name = kind
    path = cursor.path
    if path == ("apiVersion",):
        yield from _version_suggestions(kind_name)
        return
    if path == ("kind",):
        yield from _kind_suggestions(api_version)
        return

    ours = kind_name in SCHEMA_FILES and (api_version.startswith("ptcompile/") or not api_version)
    if ours:
        yield from _spec_suggestions(opened, path)
    yield from (Suggestion(choice) for choice in choices(nodes))
    if is_mount(path):
        yield from (Suggestion(name, "volume", "name") for name in _volume_names(cursor))
    if path[-1:] == ("name",) and path[-3:-2] == ("env",):
        yield from map(Suggestion, _variables_at(opened, cursor))
    variable = _variable(cursor)
    yield from (Suggestion(level) for level in LEVEL_VARIABLES.get(variable, ()))
    kinds = referenced_kinds(path)
    yield from (
        Suggestion(choice.name, choice.kind, "name")
        for choice in (*opened.named_objects, *opened.elsewhere)
        if choice.kind in kinds
    )
    if not ours and not choices(nodes):
        yield from (Suggestion(choice) for choice in _server_choices(opened, cursor, kind))
    has_address = not _HOST_FIELDS.isdisjoint(path) and path[-1] != "name"
    if has_address and variable not in _VARIABLES:
        yield from _host_suggestions(opened)


def _variable(cursor: Cursor) -> str:
    """Return the environment variable whose value is at the cursor, or ""."""
    match cursor.path:
        case (*_, "env", str(name)):
            return name
        case (*entries, "env", item, "value"):
            return cursor.document.value(*entries, "env", item, "name") or ""
        case _:
            return ""


def _all_kinds() -> list[GroupVersionKind]:
    from ptcompile.apiserver.kinds import known_kinds

    return [*(("ptcompile/v1", name) for name in SCHEMA_FILES), *known_kinds()]


def _version_suggestions(kind: str) -> Iterator[Suggestion]:
    """Yield the apiVersions of a kind, or all if `kind` is ""."""
    for version, name in _all_kinds():
        if kind in ("", name):
            yield Suggestion(version, kind)


def _kind_suggestions(api_version: str) -> Iterator[Suggestion]:
    """Yield the kinds of an apiVersion, or all if `api_version` is ""."""
    for version, name in _all_kinds():
        if api_version in ("", version):
            yield Suggestion(name, version)


def _spec_suggestions(opened: OpenDocument, path: Path) -> Iterator[Suggestion]:
    """Yield the names that a spec field may take from the targets, the hardware catalog or the
    profile.
    """
    profile = opened.inputs.profile.spec
    priorities = profile.priorities
    if path == ("spec", "target"):
        from ptcompile.operators.targets import TARGETS, target_named

        yield from (Suggestion(name, target_named(name).title) for name in TARGETS)
    elif path == ("spec", "accelerator"):
        from ptcompile.hardware import accelerators

        yield from (Suggestion(name, "of the profile", "name") for name in profile.accelerators)
        yield from (
            Suggestion(name, "built in") for name in accelerators.names(profile.cloud or "")
        )
    elif path == ("spec", "fabric"):
        from ptcompile.hardware.fabrics import FABRICS

        yield from (Suggestion(name, "of the profile", "name") for name in profile.fabrics)
        yield from (Suggestion(name, "built in") for name in FABRICS)
    elif profile_table(path) == ("topology", "levels"):
        yield from (
            Suggestion(name, "level of the profile", "name") for name in profile.topology.levels
        )
    elif profile_table(path) == ("priorities",):
        yield from (
            Suggestion(name, f"priority {value} of the profile", "name")
            for name, value in priorities.items()
        )
    elif path == ("spec", "queue") and profile.defaults.queue:
        yield Suggestion(profile.defaults.queue, "the profile's default queue", "name")


def _volume_names(cursor: Cursor) -> Iterator[str]:
    """Yield the names of the pod's volumes, read from the document's outline."""
    for end in range(len(cursor.path) - 3, -1, -1):
        yield from cursor.document.values((*cursor.path[:end], "volumes"), "name")


def _server_choices(opened: OpenDocument, cursor: Cursor, kind: GroupVersionKind) -> Iterator[str]:
    """Yield the supported values that the API server or a webhook lists when it rejects a
    made-up value.
    """
    from ptcompile.apiserver import validate
    from ptcompile.source import documents as source

    before = opened.text[cursor.begin : cursor.start]
    line, newline, rest = opened.text[cursor.end :].partition("\n")
    # the rest of the line closes the brackets of a flow collection
    closing = line.removeprefix(cursor.quote) if cursor.in_flow else ""
    space = " " if cursor.is_glued else ""
    stream = source.read(f"{before}{space}{_PROBE}{cursor.quote}{closing}{newline}{rest}")
    for document in stream.documents[:1]:
        if kind_of(document.data) != kind:
            return
        for problem in validate(document.data, versions=opened.versions):
            match = _supported_values.search(problem.message)
            if match is not None and problem.path == cursor.path:
                yield from re.findall(r'"([^"]*)"', match["values"])


def _host_suggestions(opened: OpenDocument) -> Iterator[Suggestion]:
    """Yield the pods' DNS names, from the last version of the text that could be parsed."""
    readable = opened.last_sound()
    if readable is None:
        return

    count = 0
    for obj in readable.objects:
        for job in readable.jobs_of(obj):
            for role in job.roles:
                for index in range(min(role.count, 8)):
                    pod = job.pod(role, index)
                    if pod.dns and count < _MAX_SUGGESTIONS:
                        count += 1
                        name_in_namespace, _, _ = pod.dns.partition(f".{pod.view.namespace}.svc")
                        yield Suggestion(name_in_namespace, f"pod {pod.display_name}", "host")


_KINDS = {
    "value": CompletionItemKind.EnumMember,
    "name": CompletionItemKind.Reference,
    "host": CompletionItemKind.Constant,
}
_ignore_comment = re.compile(
    r"#[ \t]*ptcompile:[ \t]*ignore(?:-file)?\[(?:[^\]]*,[ \t]*)?(?P<code>[\w-]*)$"
).search
_is_plain = re.compile(r"[A-Za-z_./][\w./-]*").fullmatch
_YAML_CONSTANTS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def complete(opened: OpenDocument, position: Position) -> CompletionList:
    """Return the completions at a position."""
    cursor = cursor_at(opened.text, opened.lines.offset(position))
    if cursor.part == "text":
        return CompletionList(False, [])
    if cursor.part == "comment":
        return CompletionList(False, list(_code_items(opened, cursor)))

    base, kind = kind_at(cursor.document, cursor.path)
    nodes = nodes_at(root_nodes(kind, opened.definitions), cursor.path[len(base) :])
    items: list[CompletionItem] = []
    if cursor.part in ("key", "item"):
        _, kind_name = kind
        items += _key_items(opened, cursor, nodes or _initial_nodes(cursor, kind))
        if kind_name in SCHEMA_FILES and cursor.path[-1:] == ("env",):
            items += _variable_items(opened, cursor)
    # no values are known for the items of an unknown key
    is_below_key = bool(cursor.path) and isinstance(cursor.path[-1], str)
    is_unknown_item = cursor.part == "item" and is_below_key and not nodes
    if cursor.part in ("value", "item") and not is_unknown_item:
        for rank, suggestion in enumerate(suggestions(opened, cursor, kind, nodes)):
            items.append(_value_item(opened, cursor, suggestion, rank))

    return CompletionList(False, items)


def kind_at(document: Sketch, path: Path) -> tuple[Path, GroupVersionKind]:
    """Return the path of the enclosing object, and its apiVersion and kind ("" if missing)."""
    is_in_list = path[:1] == ("items",) and len(path) > 1 and document.value("kind") == "List"
    base = path[:2] if is_in_list else ()
    return base, (document.value(*base, "apiVersion") or "", document.value(*base, "kind") or "")


def _initial_nodes(cursor: Cursor, kind: GroupVersionKind) -> list[SchemaNode]:
    """Return the top-level fields of an object that has no apiVersion or kind yet."""
    if cursor.path or all(kind):
        return []

    types = {"apiVersion": "string", "kind": "string", "metadata": "object", "spec": "object"}
    properties = {key: {"type": type_name} for key, type_name in types.items()}
    return [SchemaNode({"properties": properties}, "")]


def _key_items(
    opened: OpenDocument, cursor: Cursor, nodes: list[SchemaNode]
) -> Iterator[CompletionItem]:
    """Yield the fields that the mapping does not have yet."""
    existing = cursor.document.keys(cursor.path)
    for rank, (name, node) in enumerate(fields(nodes, opened.versions.kubernetes).items()):
        if name in existing:
            continue

        ending = ":" if is_collection(node) and not cursor.in_flow else ": "
        yield CompletionItem(
            label=name,
            kind=CompletionItemKind.Field,
            documentation=MarkupContent(MarkupKind.Markdown, field_text(name, node)),
            sort_text=f"{rank:04}",
            filter_text=name,
            text_edit=_key_edit(opened, cursor, name, ending),
        )


def _variable_items(opened: OpenDocument, cursor: Cursor) -> Iterator[CompletionItem]:
    """Yield the environment variables that a mapping of a spec does not have yet."""
    for name in _variables_at(opened, cursor):
        if name not in cursor.document.keys(cursor.path):
            yield CompletionItem(
                label=name,
                kind=CompletionItemKind.Variable,
                filter_text=name,
                text_edit=_key_edit(opened, cursor, name, ": "),
            )


def _key_edit(opened: OpenDocument, cursor: Cursor, name: str, ending: str) -> TextEdit:
    """Return the edit that completes a key, with its ending unless it is quoted or has a colon."""
    has_colon = opened.text[cursor.end : cursor.end + 1] == ":"
    text = name if cursor.quote or has_colon else name + ending
    return TextEdit(opened.lines.range(cursor.start, cursor.end), text)


def _variables_at(opened: OpenDocument, cursor: Cursor) -> list[str]:
    """Return the environment variables that begin with the typed text."""
    typed = opened.text[cursor.start : cursor.end]
    return sorted(name for name in _VARIABLES if name.startswith(typed))


def _value_item(
    opened: OpenDocument, cursor: Cursor, value: Suggestion, rank: int
) -> CompletionItem:
    text = value.text
    is_plain = (
        cursor.quote
        or (_is_plain(text) and text.lower() not in _YAML_CONSTANTS)
        or value.kind == "value"
    )
    written = text if is_plain else f'"{text}"'

    return CompletionItem(
        label=text,
        kind=_KINDS[value.kind],
        detail=value.detail or None,
        sort_text=f"{rank:04}",
        filter_text=text,
        text_edit=TextEdit(
            opened.lines.range(cursor.start, cursor.end), (" " if cursor.is_glued else "") + written
        ),
    )


def _code_items(opened: OpenDocument, cursor: Cursor) -> Iterator[CompletionItem]:
    """Yield the codes for `# ptcompile: ignore[...]`, those reported in this text first."""
    typed = _ignore_comment(cursor.prefix)
    if typed is None:
        return

    from ptcompile.diagnostics.codes import CODES

    reported = {diagnostic.name for diagnostic in opened.report.diagnostics}
    typed_range = opened.lines.range(cursor.end - len(typed["code"]), cursor.end)
    for name, code in CODES.items():
        yield CompletionItem(
            label=code,
            detail=name,
            kind=CompletionItemKind.EnumMember,
            sort_text=f"{int(name not in reported)}{code}",
            filter_text=f"{code} {name}",
            text_edit=TextEdit(typed_range, code),
        )
