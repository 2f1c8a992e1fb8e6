"""The reference of one field, of a spec or of a Kubernetes object: type, default, description, the
fields below it, and for a field of a spec what an example of it becomes on each target. `ptcompile
explain spec.elastic` prints it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from itertools import chain

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load, load_table
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.kinds import CORE, known_kinds
from ptcompile.compiler.frontend import aliases
from ptcompile.compiler.pipeline import compile_document
from ptcompile.compiler.reader import read_profile
from ptcompile.explainer.fields import (
    SCHEMA_FILES,
    SchemaNode,
    choices,
    default_of,
    description_of,
    first_version,
    leaves,
    nodes_at,
    root_nodes,
    type_name,
)
from ptcompile.explainer.values import differences, shown_path, shown_value
from ptcompile.hardware.accelerators import names as accelerator_names
from ptcompile.kubernetes.requests import GroupVersionKind
from ptcompile.kubernetes.unstructured import MISSING, Json, JsonDict
from ptcompile.operators.targets import TARGETS
from ptcompile.source.emitter import emit
from ptcompile.spec.reader import default_cluster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


class Field(NamedTuple):
    """A field of a mapping, as the list of its fields shows it."""

    name: str
    type: str
    description: str
    """The whole text, or ""."""


class TargetEffect(NamedTuple):
    """What the example of a field changes in the manifests of one target."""

    target: str
    changes: tuple[str, ...]
    """Each as `path: value`, with `(removed)` for a value that goes."""
    error: str = ""
    """Why the example does not compile for this target; "" if it does."""


class FieldReference(NamedTuple):
    """The documentation of one field."""

    kind: str
    """apiVersion and kind, such as `batch/v1 Job`."""
    path: str
    """The path in the object; "" for the object itself."""
    type: str
    default: Any
    """The default, or None."""
    since: str | None
    """The Kubernetes version that added the field, or None."""
    description: str
    values: tuple[str, ...]
    """The values that it can have, if they are a list."""
    fields: tuple[Field, ...]
    example: JsonDict | None
    """A part of a document with the field, or None."""
    effects: tuple[TargetEffect, ...]
    also: tuple[str, ...]
    """Other kinds of the same name, each as the address of its fields begins."""

    def text(self, width: int = 100) -> str:
        """Return the reference as text, with lines of at most `width` characters where words
        permit.
        """
        return "\n\n".join(_sections(self, width)) + "\n"

    def to_dict(self) -> JsonDict:
        """Return the reference as JSON has it."""
        parts = {
            "fields": [field._asdict() for field in self.fields],
            "effects": [row._asdict() for row in self.effects],
        }
        return {**self._asdict(), **parts}


class UnknownFieldError(LookupError):
    """Raised for an unknown kind or field; the message suggests a similar name."""


def find_field(address: str) -> FieldReference:
    """Return the reference of a field: `spec.elastic` of a TrainingJob, `Pod.spec.containers`, or
    `batch/v1/Job.spec`. Items of lists have no place in an address.

    Raises UnknownFieldError for an unknown kind or field.
    """
    kind, others, parts = _parse_address(address)
    nodes = root_nodes(kind)
    for depth, part in enumerate(parts):
        below = _nodes_below(nodes, part)
        if not below:
            raise UnknownFieldError(_no_such_field(kind, parts[: depth + 1], nodes))
        nodes = below

    node = nodes[0]
    example = _example(kind, parts, node)
    effects = _effects(example, parts) if example and parts != ["spec", "target"] else ()

    return FieldReference(
        kind=" ".join(kind),
        path=".".join(parts),
        type=type_name(node),
        default=default_of(node),
        since=first_version(node),
        description=description_of(node),
        values=tuple(_values(kind, parts, nodes)),
        fields=tuple(_fields(nodes)),
        example=example,
        effects=tuple(effects),
        also=tuple(map("/".join, others)),
    )


def is_address(word: str) -> bool:
    """Return whether a word begins as the address of a field does: with `spec`, `metadata` or a
    known kind.
    """
    _, _, fields = word.rpartition("/")
    first, _, _ = fields.partition(".")
    return first in _OUR_FIELDS or bool(_kinds_named(first))


_TRAINING_JOB = ("ptcompile/v1", "TrainingJob")
_OUR_FIELDS = frozenset({"spec", "metadata", "variants"})
"""The fields of a TrainingJob, which need no kind before them."""


def spec_addresses() -> Iterator[str]:
    """Yield the addresses of the spec's fields and of the fields below them."""
    nodes = nodes_at(root_nodes(_TRAINING_JOB), ("spec",))
    for field in _fields(nodes):
        yield f"spec.{field.name}"
        yield from (
            f"spec.{field.name}.{inner.name}" for inner in _fields(_nodes_below(nodes, field.name))
        )


def _kinds_named(name: str) -> list[GroupVersionKind]:
    ours = [("ptcompile/v1", kind) for kind in SCHEMA_FILES]
    return [
        (api_version, kind)
        for api_version, kind in dict.fromkeys((*ours, *known_kinds()))
        if kind.casefold() == name.casefold()
    ]


class _FieldAddress(NamedTuple):
    """The address of a field."""

    kind: GroupVersionKind
    others: Sequence[GroupVersionKind]
    """Other kinds of the same name."""
    parts: list[str]
    """The path in the object."""


def _parse_address(address: str) -> _FieldAddress:
    """Parse `spec.elastic`, `Pod.spec` or `batch/v1/Job`. Raises UnknownFieldError for an unknown
    kind.
    """
    api_version, _, path = address.rpartition("/")
    name, *parts = path.split(".")
    if name in _OUR_FIELDS and not api_version:
        return _FieldAddress(_TRAINING_JOB, (), [name, *parts])

    kinds = _kinds_named(name)
    if api_version:
        kinds = [(version, kind) for version, kind in kinds if version == api_version]
    if not kinds:
        raise UnknownFieldError(_no_such_kind(api_version, name))

    kind, *others = kinds
    return _FieldAddress(kind, others, [part for part in parts if part])


def _no_such_kind(api_version: str, name: str) -> str:
    """Return the message for an unknown kind, with the apiVersions or the kind that was probably
    meant.
    """
    where = f" in {api_version}" if api_version else ""
    if versions := [version for version, _ in _kinds_named(name)]:
        return f"no kind {name!r}{where}; it is in {' and '.join(versions)}"

    names = {kind for _, kind in known_kinds()}.union(SCHEMA_FILES)
    near = closest_match(name, sorted(names))
    hint = f"; did you mean {near}?" if near else ""
    return f"no kind {name!r}{where}{hint}"


def _nodes_below(nodes: Sequence[SchemaNode], part: str) -> list[SchemaNode]:
    """Return the schemas of a field, which may be one of the items of a list."""
    return nodes_at(nodes, (part,)) or nodes_at(nodes, (0, part))


def _fields(nodes: Sequence[SchemaNode]) -> Iterator[Field]:
    """Yield the fields of a mapping, of the items of a list, or of the entries of a mapping with
    free keys.
    """
    for part in ((), (0,), ("name",)):
        inner = chain.from_iterable(map(leaves, nodes_at(nodes, part)))
        mappings = [leaf for leaf in inner if "properties" in leaf.schema]
        if mappings:
            break

    names = chain.from_iterable(leaf.schema["properties"] for leaf in mappings)
    for name in dict.fromkeys(names):
        field = nodes_at(mappings, (name,))[0]
        yield Field(name, type_name(field), description_of(field))


def _no_such_field(
    kind: GroupVersionKind, parts: Sequence[str], nodes: Sequence[SchemaNode]
) -> str:
    """Return the message for a field that does not exist, with the one that was probably meant."""
    _, kind_name = kind
    *parents, name = parts
    text = f"{'.'.join((kind_name, *parents))} has no field {name!r}"
    known = [field.name for field in _fields(nodes)]
    if near := closest_match(name, known):
        return f"{text}; did you mean {'.'.join((*parents, near))}?"

    alias = aliases.find_alias(name) if kind == _TRAINING_JOB else None
    if alias is not None:
        return f"{text}; did you mean {'.'.join(('spec', *alias.field))}?"
    if 0 < len(known) <= 30:
        return f"{text}; its fields are {', '.join(known)}"

    return text


def _values(
    kind: GroupVersionKind, parts: Sequence[str], nodes: Sequence[SchemaNode]
) -> Iterable[str]:
    """Return the values that a field may have, if they are a list."""
    if kind == _TRAINING_JOB and parts == ["spec", "accelerator"]:
        return accelerator_names()
    if kind == _TRAINING_JOB and parts == ["spec", "target"]:
        return TARGETS
    return choices(nodes)


_TABLE = load_table("explainer/companions.json")
_COMPANIONS: Mapping[str, Json] = _TABLE["companions"]
"""What the examples of a field, and of those below it, need next to them in `spec`."""
_REPLACED: Mapping[str, tuple[str, str]] = _TABLE["replaced"]
"""Fields of the basic spec that the example of another replaces; for the fields below it too."""


def _example(kind: GroupVersionKind, parts: Sequence[str], node: SchemaNode) -> JsonDict | None:
    """Return the part of a TrainingJob that gives a field the value of its example."""
    examples = node.schema.get("examples")
    if kind != _TRAINING_JOB or not parts or not examples:
        return None

    value = examples[0]
    for part in reversed(parts):
        value = {part: value}
    return dict(value)


def _effects(example: JsonDict, parts: Sequence[str]) -> Iterator[TargetEffect]:
    """Yield what an example changes on each target, in a job of two nodes with four GPUs each;
    in a Pod, of one.
    """
    before = deepcopy(_TABLE["basic"])
    for length in range(2, len(parts) + 1):
        _merge(before["spec"], _COMPANIONS.get(".".join(parts[:length]), {}))
    after = deepcopy(before)
    if replaced := _REPLACED.get(".".join(parts[:2])):
        section, field = replaced
        del after[section][field]
    _merge(after, example)
    for role in after["spec"].get("roles", {}).values():
        role.setdefault("command", ["python", "load.py"])
    for target in TARGETS:
        yield _effect(before, after, target)


def _effect(before: JsonDict, after: JsonDict, target: str) -> TargetEffect:
    """Return what a field changes on a target, or the target's error."""
    if target == "pod" and after["spec"].get("nodes") == before["spec"].get("nodes") == 2:
        before, after = ({**spec, "spec": {**spec["spec"], "nodes": 1}} for spec in (before, after))
    cluster = _cluster()
    compiled = compile_document(after, cluster, target)
    errors = [problem.message for problem in compiled.problems if problem.severity == "error"]
    if errors:
        return TargetEffect(target, (), errors[0])
    base = compile_document(before, cluster, target)
    return TargetEffect(target, tuple(dict.fromkeys(_changes(base.manifests, compiled.manifests))))


@cache
def _cluster() -> ClusterProfile:
    """Return the profile of the examples: the built-in one with a topology level and spot nodes."""
    spot = {"nodeLabels": {"example.com/spot": "true"}}
    levels = {"rack": {"nodeLabel": "example.com/rack", "tier": 1}}
    profile, _ = read_profile(
        {**_PROFILE, "spec": {"topology": {"name": "default", "levels": levels}, "spot": spot}}
    )
    return profile or default_cluster()


_PROFILE = {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "metadata": {"name": "example"}}


def _changes(before: Iterable[Json], after: Iterable[Json]) -> Iterator[str]:
    """Yield the differences between two lists of manifests, as paths with new values.

    A path into a pod begins at its template, so that equal changes of several roles are one.
    """
    old, new = (
        {manifest["kind"]: manifest for manifest in manifests} for manifests in (before, after)
    )
    yield from (f"{kind}: (removed)" for kind in old if kind not in new)
    for kind, manifest in new.items():
        if kind not in old:
            yield f"{kind}: (added)"
            continue
        for path, _, value in differences(old[kind], manifest):
            if value is not MISSING:
                yield f"{_in_pod(shown_path(path, manifest))}: {shown_value(_named_value(value))}"
            elif not isinstance(path[-1], int):
                yield f"{_in_pod(shown_path(path, old[kind]))}: (removed)"


def _in_pod(path: str) -> str:
    """Return a path into a pod template from the template on, and any other path whole."""
    head, separator, rest = path.rpartition("template.spec.")
    field = re.split(r"[.[]", rest, maxsplit=1)[0]
    if head and field in load(CORE)["$defs"]["PodSpec"]["properties"]:
        return f"{separator}{rest}"
    return path


def _named_value(value: Any) -> Any:
    """Return the value of an env entry, whose name is already in its path; any other value
    unchanged.
    """
    if isinstance(value, Mapping) and set(value) == {"name", "value"}:
        return value["value"]
    return value


def _merge(data: JsonDict, patch: Json) -> None:
    """Write the values of a patch into the data."""
    for key, value in patch.items():
        if isinstance(value, Mapping) and isinstance(data.get(key), dict):
            _merge(data[key], value)
        else:
            data[key] = deepcopy(value)


def _sections(reference: FieldReference, width: int) -> Iterator[str]:
    path = f": {reference.path}" if reference.path else ""
    default = f", default {shown_value(reference.default)}" if reference.default is not None else ""
    since = f", since Kubernetes {reference.since}" if reference.since else ""
    yield f"{reference.kind}{path}\n  {reference.type}{default}{since}"

    if reference.description:
        yield "\n\n".join(_fill(part, width, "  ") for part in reference.description.split("\n\n"))
    if len(reference.values) > 3:
        yield "Values:\n" + _fill(", ".join(reference.values), width, "  ")
    if reference.fields:
        lines = ["Fields:"]
        for field in reference.fields:
            first_sentence = _sentence_end.split(field.description, maxsplit=1)[0]
            lines.append(f"  {field.name}  ({field.type})")
            lines += filter(None, [_fill(first_sentence, width, "      ")])
        yield "\n".join(lines)
    if reference.example is not None:
        yield "Example:\n" + textwrap.indent(emit(reference.example).rstrip("\n"), "  ")
    if reference.effects:
        head = "In a job of two nodes with four GPUs each, it changes:"
        yield "\n".join([head, *_effect_lines(reference.effects)])
    if reference.also:
        yield f"See also: {', '.join(reference.also)}"


def _effect_lines(effects: Iterable[TargetEffect]) -> Iterator[str]:
    for effect in effects:
        yield f"  {effect.target}"
        if effect.error:
            yield f"    (an error) {effect.error}"
        elif not effect.changes:
            yield "    nothing"
        yield from (f"    {change}" for change in effect.changes)


def _fill(text: str, width: int, margin: str) -> str:
    """Return a paragraph as indented lines."""
    return textwrap.fill(
        text,
        max(width, 40),
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


_sentence_end = re.compile(r"(?<=\.)(?<!e\.g\.)(?<!i\.e\.) (?=[A-Z])")
