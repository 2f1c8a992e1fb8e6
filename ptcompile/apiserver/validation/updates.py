"""Immutable fields by kind, and the transition rules of custom resources.

A transition rule runs only if both objects have the value: adding or removing a field passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.schema_files import load, load_table
from ptcompile.apiserver.crds import NO_DEFINITIONS, Definition, Definitions, transition_problems
from ptcompile.apiserver.defaulting.schemas import with_schema_defaults
from ptcompile.apiserver.kinds import CUSTOM, is_built_in
from ptcompile.apiserver.server_side_apply import REMOVED, merge_by_schema
from ptcompile.diagnostics import Path, Problem, Problems, problem_at
from ptcompile.diagnostics.field_errors import (
    RECREATE_HELP,
    forbidden_change,
    immutable,
    quote_value,
)
from ptcompile.kubernetes.unstructured import (
    Json,
    as_list,
    get,
    kind_of,
    nested_maps,
    nested_value,
    placed_values,
)
from ptcompile.operators.table import kind_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.requests import Update


_ITEM_KEYS = ("name", "manager")


def stored_after_apply(
    old: Json, new: Json, definitions: Definitions | None
) -> tuple[Json, list[Problem]]:
    """Return the custom resource that results from a server-side apply of `new` over `old`, and a
    problem for each null in `new`.
    """
    kind = kind_of(new)
    if is_built_in(kind):
        return new, []

    definition = (definitions or NO_DEFINITIONS).find(kind)
    if kind in CUSTOM and (definitions is None or kind not in definitions.kinds):
        document = CUSTOM[kind]
        schema: Json = load(document)
    elif isinstance(definition, Definition):
        document = definition.document
        schema = definition.schema
    else:
        return new, [_uncertain_null(path) for path in _null_paths(new)]

    nulls: list[Path] = []
    stored = merge_by_schema(schema, document, old, new, (), nulls)
    problems = (problem_at("wrong-type", path, "must not be null", _NULL_HELP) for path in nulls)

    return {} if stored is REMOVED else stored, list(problems)


_NULL_HELP = "remove the line: an apply treats null as a value"


def _uncertain_null(path: Path) -> Problem:
    """Return the warning for a null in an object of a kind that no CRD shows."""
    message = "must not be null, unless the CustomResourceDefinition allows it"
    return problem_at(
        "wrong-type",
        path,
        message,
        f"{_NULL_HELP}; --schemas takes the definition",
        severity="warning",
    )


def _null_paths(value: Any) -> Iterator[Path]:
    """Yield the paths of the nulls in mappings below the top of an object. Its metadata has none
    on the server.
    """
    for path, item in placed_values(value):
        is_entry = len(path) > 1 and not isinstance(path[-1], int)
        if item is None and is_entry and path[0] != "metadata":
            yield path


def custom_update(
    kind: tuple[str, str], update: Update, definitions: Definitions | None
) -> Problems:
    """Yield the problems that a kind's CRD reports for an update."""
    if kind in CUSTOM:
        schema = load(CUSTOM[kind])
        document = CUSTOM[kind]
        old, new = (
            with_schema_defaults(schema, document, manifest)
            for manifest in (update.old, update.new)
        )
        for path, why in kind_named(kind).rejections().immutable_fields:
            for changed_path, before, after in _value_pairs(old, new, path.split("."), ()):
                if before != after:
                    yield immutable(changed_path, None, RECREATE_HELP, why)

        return

    definition = (definitions or NO_DEFINITIONS).find(kind)
    if isinstance(definition, Definition):
        yield from transition_problems(definition, update.new, update.old)


def _value_pairs(
    old: Any, new: Any, steps: list[str], path: Path
) -> Iterator[tuple[Path, Any, Any]]:
    """Yield each path that both objects have, with its old and new value."""
    if not steps:
        yield path, old, new
        return

    step, *rest = steps
    if step == "*":
        if isinstance(old, list) and isinstance(new, list):
            old_items = {_item_key(item): item for item in old}
            for index, item in enumerate(new):
                key = _item_key(item)
                if key in old_items:
                    yield from _value_pairs(old_items[key], item, rest, (*path, index))
    elif isinstance(old, Mapping) and isinstance(new, Mapping) and step in old and step in new:
        yield from _value_pairs(old[step], new[step], rest, (*path, step))


def _item_key(item: Any) -> str:
    if isinstance(item, Mapping):
        return next((str(item[key]) for key in _ITEM_KEYS if key in item), "")
    return ""


_FIELDS = "apiserver/validation/immutable_fields.json"
"""Fields by group/kind: those that are immutable, each with the server's message or "" for `field
is immutable`, and all that are mutable of kinds that fix the rest. Of a PodGroup's policy, which is
fixed too, minCount is mutable since 1.37.
"""


def immutable_field_changes(kind: tuple[str, str], update: Update) -> Problems:
    """Yield a problem for each changed field that is immutable for the kind."""
    table = load_table(_FIELDS)
    for field, why in table["immutable"].get("/".join(kind), {}).items():
        path = tuple(field.split("."))
        if update.under(*path):
            yield immutable(path, get(update.new, path), RECREATE_HELP, why or "field is immutable")

    if kind == ("scheduling.k8s.io", "PodGroup") and update.versions.kubernetes < (1, 37):
        for path in update.under("spec", "schedulingPolicy")[:1]:
            yield immutable(path, get(update.new, path))
    if kind == ("", "PersistentVolume"):
        for path in update.under("spec"):
            if len(path) > 1 and path[1] not in table["mutable"]["/PersistentVolume"]:
                why = "spec.persistentvolumesource is immutable after creation"
                yield forbidden_change(path[:2], why)
                return


def stateful_set_update(update: Update) -> Problems:
    """Yield a problem if a StatefulSet changes in more than scaling and rolling out."""
    allowed = [
        name
        for name in load_table(_FIELDS)["mutable"]["apps/StatefulSet"]
        if name != "revisionHistoryLimit" or update.versions.kubernetes >= (1, 33)
    ]
    for path in update.under("spec"):
        if len(path) > 1 and path[1] not in allowed:
            *others, last = [f"'{name}'" for name in allowed]
            why = (
                f"updates to statefulset spec for fields other than {', '.join(others)} and {last} "
                "are forbidden"
            )
            yield forbidden_change(
                ("spec",), why, "delete it with --cascade=orphan and apply again, or rename it"
            )
            return


def custom_definition_update(update: Update) -> Problems:
    """Yield a problem for each change that would make stored objects unreadable.

    A definition becomes established within a second, so its scope and kind count as fixed too.
    """
    for path in (
        ("spec", "scope"),
        ("spec", "names", "kind"),
        ("spec", "group"),
        ("spec", "names", "plural"),
    ):
        before, after = update.values(*path)
        if before is not None and after is not None and before != after:
            yield immutable(path, after)

    served = [version.get("name") for version in nested_maps(update.new, "spec", "versions")]
    for index, name in enumerate(_stored_versions(update.old)):
        if name not in served:
            help = (
                f"keep version {name} until its objects are migrated and status.storedVersions no "
                "longer lists it"
            )
            text = f"Invalid value: {quote_value(name)}: must appear in spec.versions"
            field = f"status.storedVersions[{index}]"
            yield problem_at("invalid-value", ("spec", "versions"), text, help, field=field)


def _stored_versions(crd: Json) -> list[Any]:
    """Return the versions in which objects may be stored: what the status lists, or the storage
    version of a file.
    """
    versions = nested_maps(crd, "spec", "versions")
    return as_list(nested_value(crd, "status", "storedVersions")) or [
        version.get("name") for version in versions if version.get("storage") is True
    ]
