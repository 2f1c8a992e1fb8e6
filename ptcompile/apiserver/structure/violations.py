"""Structural violations: path, message, and the field that was probably meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.spelling import closest, normalize
from ptcompile.apiserver.kinds import as_tuple
from ptcompile.diagnostics import Edit, Fix, Path, Problem, field_path, problem_at
from ptcompile.diagnostics.fixes import NO_ITEM, FixTemplate, fix_key, fix_type
from ptcompile.kubernetes.unstructured import get
from ptcompile.kubernetes.versions import Version, is_switched, stage_in, version_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.kinds import Schema
    from ptcompile.apiserver.structure.checks import SchemaScope
    from ptcompile.diagnostics.terms import Severity, Stage
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.kubernetes.versions import Switches

    FieldsOf = Callable[[Schema, SchemaScope], tuple[Json, SchemaScope]]
    """Returns the fields of a schema node and their scope, following references, list items and
    map values.
    """


class SchemaViolation:
    """One structural mistake. `path` is reversed: each container appends its key on the way to
    the root.
    """

    __slots__ = (
        "fix_template",
        "help",
        "home",
        "moved_value",
        "name",
        "on_key",
        "path",
        "severity",
        "stage",
        "suggestion",
        "text",
    )

    def __init__(
        self,
        name: str,
        text: str,
        help: str | None = None,
        *,
        stage: Stage = "apply",
        fix_template: FixTemplate | None = None,
    ) -> None:
        self.name = name
        self.text = text
        self.help = help
        self.stage: Stage = stage
        self.severity: Severity = "error"
        self.path: list[str | int] = []
        self.on_key = False
        self.suggestion: str | None = None
        """Field of the same object that was probably meant, if this one is unknown."""
        self.home: tuple[int, str] | None = None
        """Number of steps up to an object that has the field, and its name there, if it is
        unknown here.
        """
        self.fix_template = fix_template
        self.moved_value: str | int | None = None
        """Scalar value of an unknown field whose home does not set it."""


Violations = list[SchemaViolation] | None
"""Result of a check. None means valid, so accepting a value allocates nothing."""

ValueCheck = Callable[["Any"], Violations]
"""Check of one value that is not null."""

_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
}

_QUOTED_TYPES = {"boolean", "integer", "number"}


def type_name(value: Any) -> str:
    """Return the JSON name of a value's type."""
    if value is None:
        return "null"
    for kind, name in _TYPES.items():
        if isinstance(value, kind):
            return name
    return "object"


def format_value(value: Any) -> str:
    """Return a value as JSON for a message, shortened if it is long."""
    import json

    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def type_mismatch(expected: str, value: Any) -> SchemaViolation:
    """Return the violation of a value whose type differs from the field's."""
    got = type_name(value)
    detail = f" ({format_value(value)})" if got in _QUOTED_TYPES or got == "string" else ""
    return SchemaViolation(
        "wrong-type",
        f"must be of type {expected}, not {got}{detail}",
        _type_help(expected, got, value),
        fix_template=NO_ITEM if value is None else fix_type(expected, value),
    )


def _type_help(expected: str, got: str, value: Any) -> str:
    if got == "null":
        return "remove the empty item"
    if expected == "string" and got in _QUOTED_TYPES:
        return "put the value in quotes"
    if expected in {"integer", "int32", "int64", "boolean"} and got == "string":
        is_boolean = expected == "boolean"
        if value in {"true", "false"} if is_boolean else value.lstrip("-").isdecimal():
            return "remove the quotes"
        return f"write a plain {expected}"
    if expected == "array":
        return "write a list, one item per line, each after a dash"
    return f"write a value of type {expected}"


def to_problem(violation: SchemaViolation) -> Problem:
    """Convert a violation with a complete path to a `Problem`."""
    path: Path = tuple(reversed(violation.path))
    help_text = violation.help
    fix = violation.fix_template.at(path) if violation.fix_template else None
    if violation.home is not None:
        depth, name = violation.home
        home = (*path[: len(path) - depth], name)
        help_text = f"move it to {field_path(home)}"
        if violation.moved_value is not None:
            edits = (Edit("set", home, violation.moved_value), Edit("remove", path))
            fix = Fix(f"move it to {field_path(home)}", edits)

    return problem_at(
        violation.name,
        path,
        violation.text,
        help_text,
        violation.severity,
        violation.stage,
        on_key=violation.on_key,
        fix=fix,
    )


_NO_HINT = "remove it, or check where it belongs"


class Release(NamedTuple):
    """The release of an operator that a cluster runs."""

    field: str
    """Its field in the profile's `versions`."""
    version: Version
    declared: bool
    """Whether the profile names the release; otherwise the newest is assumed."""
    title: str = ""
    """The operator's name in messages."""


def has_until(release: Release, last: str) -> bool:
    """Return whether a release still has something whose last release was `last`; False for a
    release that is only assumed.
    """
    return release.declared and release.version <= as_tuple(last)


class KnownFields(NamedTuple):
    """Fields of a schema node that a hint may name."""

    properties: Json
    homes: Mapping[str, str]
    """The nearest descendant, such as `template.spec.containers[]`, that has a field of this
    name.
    """


_HOME_DEPTH = 3
"""How many levels below an unknown field its home is looked for."""


def known_fields(properties: Json, scope: SchemaScope, fields_of: FieldsOf) -> KnownFields:
    """Return the fields that hints about a node may name. It is slow, so callers keep the result
    for all unknown fields of the node.
    """
    homes: dict[str, str] = {}
    level: Iterable[tuple[str, Json, SchemaScope]] = [("", properties, scope)]
    for _ in range(_HOME_DEPTH):
        level = [*_children(level, fields_of)]
        for place, names, _ in level:
            for name in names:
                homes.setdefault(name, place)
    return KnownFields(properties, homes)


def _children(
    level: Iterable[tuple[str, Json, SchemaScope]], fields_of: FieldsOf
) -> Iterator[tuple[str, Json, SchemaScope]]:
    """Yield the fields of the nodes one level below, each with the node's place, such as
    `template.spec`.
    """
    for place, properties, scope in level:
        prefix = f"{place}." if place else ""
        for child, schema in properties.items():
            if child != "status":
                yield (
                    f"{prefix}{child}[]" if "items" in schema else f"{prefix}{child}",
                    *fields_of(schema, scope),
                )


def bare_unknown_field(key: object) -> SchemaViolation:
    """Return the violation for an unknown key, without a hint."""
    violation = SchemaViolation("unknown-field", "unknown field")
    violation.path.append(str(key))
    violation.on_key = True
    violation.help = _NO_HINT
    return violation


_MOUNT_FIELDS = frozenset({"mountPath", "subPath", "subPathExpr", "mountPropagation"})
"""Fields of a container's volumeMounts that people write in the volume."""


_CLAIM_NAMES = frozenset({"pvc", "claim", "claimName", "volumeClaim"})
"""What people call a volume's claim."""


def unknown_field(key: object, known: KnownFields, siblings: Json) -> SchemaViolation:
    """Return the violation for an unknown key, with the best hint that this object and its children
    give.

    `siblings` is the object with the key.
    """
    name = str(key)
    properties = known.properties
    violation = bare_unknown_field(key)
    same_letters = _find_same_letters(name, properties)
    if same_letters:
        violation.suggestion = same_letters
        violation.help = f'did you mean "{same_letters}"?'
        violation.fix_template = fix_key(name, same_letters, siblings)
        return violation

    home = known.homes.get(name, "")
    if home and "." not in home:
        violation.help = f"move it into {home}"
        return violation
    if name in _MOUNT_FIELDS and "persistentVolumeClaim" in properties:
        violation.help = f"move it into volumeMounts: [{{name: ..., {name}: ...}}]"
        return violation
    if name in _CLAIM_NAMES and "persistentVolumeClaim" in properties:
        violation.help = "write persistentVolumeClaim: {claimName: ...}"
        return violation

    similar = closest(name, properties)
    violation.suggestion = similar
    violation.fix_template = fix_key(name, similar, siblings)
    if similar:
        violation.help = f'did you mean "{similar}"?'
    elif home:
        violation.help = f"move it into {home}"

    return violation


def set_homes(violations: Iterable[SchemaViolation], properties: Json, parent: Json) -> None:
    """Set the home of unknown fields of children that `parent` has as its own fields; the
    nearest such parent wins.
    """
    for violation in violations:
        if (
            violation.name != "unknown-field"
            or violation.home is not None
            or violation.suggestion is not None
        ):
            continue

        key = str(violation.path[0])
        name = key if key in properties else _find_same_letters(key, properties)
        if name and name != "name":
            violation.home = (len(violation.path), name)
            if name not in parent:
                value = get(parent, reversed(violation.path))
                violation.moved_value = value if isinstance(value, str | int) else None


def wrong_version(
    key: str, since: str | None, until: str | None, version: str, *, in_crd: bool
) -> SchemaViolation:
    """Return the violation for a field of another Kubernetes version."""
    if in_crd:
        owner = f"the schema of this kind, made with Kubernetes {version}"
    else:
        owner = f"Kubernetes {version}"

    is_early = since is not None and as_tuple(version) < as_tuple(since)
    change = f"added in {since}" if is_early else f"removed after {until}"
    violation = SchemaViolation("version-unknown-field", f"unknown field in {owner}: {change}")
    if in_crd or not is_early:
        violation.help = "remove it"
    else:
        violation.help = f"remove it, or use Kubernetes {since} or newer"

    violation.path.append(key)
    violation.on_key = True

    return violation


def field_of_other_release(
    key: str, added: str | None, removed: str | None, release: Release
) -> SchemaViolation:
    """Return the violation for a field that other releases of the operator have."""
    violation = _of_other_release("unknown-field", "unknown field", added, removed, release)
    violation.path.append(key)
    violation.on_key = True
    return violation


def value_of_other_release(
    value: str, added: str | None, removed: str | None, release: Release
) -> SchemaViolation:
    """Return the violation for a value that other releases of the operator accept."""
    text = f"Unsupported value: {format_value(value)}"
    return _of_other_release("wrong-type", text, added, removed, release)


def _of_other_release(
    name: str, text: str, added: str | None, removed: str | None, release: Release
) -> SchemaViolation:
    """Return an error if the profile names the release, else a warning. `name` is the rule for
    things that the newest release lacks.
    """
    is_early = added is not None and release.version < as_tuple(added)
    change = f"added in {added}" if is_early else f"removed after {removed}"
    named = f"{release.title} {version_text(release.version)}"
    violation = SchemaViolation(
        "version-unknown-field" if is_early else name, f"{text} in {named}: {change}"
    )
    if is_early:
        violation.help = f"remove it, or use {release.title} {added} or newer"
    elif release.declared:
        violation.help = "remove it"
    else:
        violation.severity = "warning"
        violation.help = (
            f"remove it; if the cluster runs {release.title} {removed}, set "
            f'spec.versions.{release.field} to "{removed}" in the profile'
        )

    return violation


def gate_off(gate: str, whole_field: str, server: Version, gates: Switches) -> SchemaViolation:
    """Return the warning about a field that the server drops: its feature gate is off.

    `whole_field` is the name of the field that the server drops, if it is not this field itself.
    """
    release = version_text(server)
    dropped = f"drops the whole {whole_field}" if whole_field else "drops this field"
    stage = stage_in("kubernetes", gate, server)
    why = f"{stage.name} and off by default" if stage is not None else "not in this release"
    if is_switched("kubernetes", gate, server, gates) is False:
        why = "switched off in the profile"
    violation = SchemaViolation(
        "gate-off", f"Kubernetes {release} {dropped}: the feature gate {gate} is {why}", stage="run"
    )
    violation.severity = "warning"
    violation.help = (
        f"remove it; if the cluster enables the gate, set spec.featureGates.kubernetes.{gate} to "
        "true in the profile"
    )
    violation.on_key = True

    return violation


def _find_same_letters(name: str, properties: Iterable[str]) -> str | None:
    letters = normalize(name)
    return next((field for field in properties if normalize(field) == letters), None)
