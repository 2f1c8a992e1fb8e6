"""Metadata of any object: names, labels, annotations, finalizers, owners; label selectors."""

from __future__ import annotations

from ptcompile._internal.lazy import bounded_cache
from ptcompile.apiserver.validation.field import FieldValue, byte_count
from ptcompile.diagnostics import Path, Problems, field_path
from ptcompile.diagnostics.field_errors import (
    FieldErrors,
    TextRule,
    forbidden_change,
    immutable,
    indexed_mappings,
    is_empty,
    label_help,
)
from ptcompile.diagnostics.fixes import fix_name
from ptcompile.kubernetes import names
from ptcompile.kubernetes.index import CLUSTER_WIDE
from ptcompile.kubernetes.unstructured import Json, as_mapping, kind_of, nested_map, nested_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


ANNOTATIONS_MAX = 256 * 1024
"""Maximum number of bytes in all annotation keys and values of an object."""

_STANDARD_FINALIZERS = frozenset({"orphan", "foregroundDeletion", "kubernetes"})

why_not_key = bounded_cache(4096)(names.why_not_qualified_name)
why_not_value = bounded_cache(4096)(names.why_not_label_value)
_why_not_namespace = bounded_cache(64)(names.why_not_dns_label)


def metadata_problems(manifest: Json, *, namespaced: bool = True) -> FieldErrors:
    """Return the problems that the server reports for the metadata of an object whose kind a CRD
    defines.

    Finalizers of such kinds need no domain.
    """
    problems = FieldErrors()
    check_metadata(
        manifest.get("metadata"),
        ("metadata",),
        problems,
        names.why_not_dns_subdomain,
        built_in=False,
    )
    if namespaced:
        check_own_namespace(manifest, problems)

    return problems


def check_own_namespace(manifest: Json, problems: FieldErrors) -> None:
    """Check the namespace of an object. The server does not look at that of a template, and removes
    that of an object whose kind has none.
    """
    if kind_of(manifest).name in CLUSTER_WIDE:
        return

    space = nested_value(manifest, "metadata", "namespace")
    if type(space) is str and space and (why := _why_not_namespace(space)):
        problems.invalid(("metadata", "namespace"), space, why, label_help(space))


def check_metadata(
    meta: Any, path: Path, problems: FieldErrors, name_rule: TextRule, built_in: bool = True
) -> None:
    """Append the problems of an object's metadata to `problems`."""
    if meta is None:
        meta = {}
    if type(meta) is not dict:
        return

    _check_name(meta, path, problems, name_rule)
    if meta.get("labels"):
        check_labels(meta["labels"], (*path, "labels"), problems)
    if meta.get("annotations"):
        check_annotations(meta["annotations"], (*path, "annotations"), problems)
    if meta.get("finalizers"):
        check_finalizers(meta["finalizers"], (*path, "finalizers"), problems, built_in)
    if meta.get("ownerReferences"):
        _check_owners(meta["ownerReferences"], (*path, "ownerReferences"), problems)


def _check_name(meta: Json, path: Path, problems: FieldErrors, name_rule: TextRule) -> None:
    name = meta.get("name")
    prefix = meta.get("generateName")
    if (
        type(prefix) is str
        and prefix
        and (why := name_rule(names.mask_dash(prefix)) or name_rule(generated_name(prefix)))
    ):
        help = "use a prefix that makes a valid name when five random characters are appended"
        problems.invalid((*path, "generateName"), prefix, why, help)
    elif is_empty(name) and is_empty(prefix):
        problems.required(
            (*path, "name"), "name or generateName is required", "give the object a name"
        )
    if type(name) is str and name and (why := name_rule(name)):
        name_path = (*path, "name")
        problems.invalid(name_path, name, why, label_help(name), fix=fix_name(name, name_path))


def generated_name(prefix: str) -> str:
    """Return an example of the name that the server generates: the prefix, cut to 58 characters,
    and five random characters.
    """
    return prefix[:58] + "xxxxx"


def check_labels(labels: Any, path: Path, problems: FieldErrors, field: str | None = None) -> None:
    """Check labels, or any map that selects by labels. The server names the map instead of the
    label.
    """
    if type(labels) is not dict:
        return
    for key, value in labels.items():
        if why := why_not_key(key):
            help = "write [domain/]name of letters, digits, '-', '_' and '.'"
            problems.invalid((*path, key), key, why, help, field or field_path(path))
        if type(value) is str and value and (why := why_not_value(value)):
            help = "use up to 63 letters, digits, '-', '_' and '.'"
            problems.invalid((*path, key), value, why, help, field or field_path(path))


def check_annotations(annotations: Any, path: Path, problems: FieldErrors) -> None:
    """Check annotation keys and the total size of annotations."""
    if type(annotations) is not dict:
        return

    size = 0
    for key, value in annotations.items():
        # the server lowers annotation keys first, so an upper case prefix is valid here but not in
        # labels
        if why := why_not_key(key.lower()):
            help = "write [domain/]name of letters, digits, '-', '_' and '.'"
            problems.invalid((*path, key), key, why, help, field_path(path))
        if type(value) is str:
            size += len(key) + len(value)

    if size > ANNOTATIONS_MAX // 4:
        size = sum(
            byte_count(key) + byte_count(value)
            for key, value in annotations.items()
            if type(value) is str
        )
    if size > ANNOTATIONS_MAX:
        problems.too_long(path, ANNOTATIONS_MAX, "put long texts into a ConfigMap")


def check_finalizers(
    finalizers: Any, path: Path, problems: FieldErrors, built_in: bool = True
) -> None:
    """Check that finalizers are qualified names, with a domain on built-in kinds."""
    if type(finalizers) is not list:
        return

    for index, name in enumerate(finalizers):
        if name is None:
            name = ""
        if type(name) is not str:
            continue
        finalizer_path = (*path, index)
        if why := why_not_key(name):
            problems.invalid(finalizer_path, name, why)
        elif built_in and "/" not in name and name not in _STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            problems.invalid(finalizer_path, name, why, "write it as domain/name")

    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        problems.invalid(
            path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"
        )


def check_namespace(namespace: FieldValue) -> None:
    """Check what a Namespace has besides its metadata: finalizers."""
    namespace["spec"]["finalizers"].check(check_finalizers)


def _check_owners(owners: Any, path: Path, problems: FieldErrors) -> None:
    controllers: set[str] = set()
    field = field_path(path)
    seen: list[Json] = []
    for index, owner in indexed_mappings(owners):
        # the server drops an owner that equals an earlier one
        if owner in seen:
            continue

        seen.append(owner)
        owner_path = (*path, index)
        version = owner.get("apiVersion")
        is_wrong = type(version) is str and (version.count("/") > 1 or version.endswith("/"))
        if is_empty(version) or is_wrong:
            problems.invalid(
                (*owner_path, "apiVersion"),
                version,
                "version must not be empty",
                field=f"{field}.apiVersion",
            )

        for key in ("kind", "name", "uid"):
            if is_empty(owner.get(key)):
                problems.invalid(
                    (*owner_path, key), "", "must not be empty", field=f"{field}.{key}"
                )

        if version == "v1" and owner.get("kind") == "Event":
            problems.invalid(
                owner_path, owner, "/v1, Kind=Event is disallowed from being an owner", field=field
            )
        if owner.get("controller") is True:
            controllers.add(owner_key(owner))

    if len(controllers) > 1:
        problems.invalid(path, owners, "Only one reference can have Controller set to true")


def owner_key(owner: Json) -> str:
    """Return a text that is equal for owners that the server regards as one."""
    return repr(sorted((key, value) for key, value in owner.items() if not is_empty(value)))


_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def check_selector(selector: Any, path: Path, problems: FieldErrors) -> None:
    """Check a `LabelSelector` of Kubernetes 1.36. Null selects nothing and is valid."""
    if type(selector) is not dict:
        return
    if selector.get("matchLabels"):
        check_labels(selector["matchLabels"], (*path, "matchLabels"), problems)
    for index, requirement in indexed_mappings(selector.get("matchExpressions")):
        requirement_path = (*path, "matchExpressions", index)
        check_requirement(requirement, requirement_path, problems)
        check_values(requirement.get("values") or [], (*requirement_path, "values"), problems)


def check_requirement(
    requirement: Json, path: Path, problems: FieldErrors, *, of_nodes: bool = False
) -> None:
    """Check the operator of a requirement, how many values it has, and its key. Requirements on
    nodes may compare numbers.
    """
    operator = requirement.get("operator")
    values = requirement.get("values") or []
    values_path = (*path, "values")

    if operator in ("In", "NotIn"):
        if not values:
            problems.required(
                values_path, "must be specified when `operator` is 'In' or 'NotIn'", "list values"
            )
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            problems.forbidden(
                values_path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            )
    elif of_nodes and operator in ("Gt", "Lt"):
        if type(values) is list and len(values) != 1:
            why = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            problems.required(values_path, why, "give one whole number")
    else:
        operators = (*_OPERATORS, "Gt", "Lt") if of_nodes else _OPERATORS
        reject_operator(operator, path, problems, operators)

    key = "" if requirement.get("key") is None else requirement["key"]
    if type(key) is str and (why_not := why_not_key(key)):
        problems.invalid((*path, "key"), key, why_not)


def reject_operator(
    operator: Any, path: Path, problems: FieldErrors, allowed: tuple[str, ...]
) -> None:
    """Report the operator of a requirement, which is not one of `allowed`, unless its type is
    wrong.
    """
    value = "" if operator is None else operator
    if type(value) is str:
        problems.invalid(
            (*path, "operator"), value, "not a valid selector operator", f"use {', '.join(allowed)}"
        )


def check_values(values: Any, path: Path, problems: FieldErrors) -> None:
    """Check the label values of a requirement."""
    if type(values) is not list:
        return
    for index, value in enumerate(values):
        if type(value) is str and (why := why_not_value(value)):
            problems.invalid((*path, index), value, why)


def selector_keys(selector: Any) -> set[str]:
    """Return the label keys that a selector names."""
    parts = as_mapping(selector)
    keys = set(nested_map(parts, "matchLabels"))
    return keys | {
        r["key"]
        for _, r in indexed_mappings(parts.get("matchExpressions"))
        if type(r.get("key")) is str
    }


_DELETION_HELP = "remove it: the server writes it when the object is deleted"


def metadata_update(old: Json, new: Json) -> Problems:
    """Yield a problem for each forbidden change of metadata; labels and annotations may change."""
    before = nested_map(old, "metadata")
    after = nested_map(new, "metadata")
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        value = after.get(key)
        if value is not None and value != before.get(key):
            yield immutable(("metadata", key), value, _DELETION_HELP)

    if after.get("uid") and before.get("uid") and after["uid"] != before["uid"]:
        yield immutable(("metadata", "uid"), after["uid"], "remove it: the server sets it")
    old_version = before.get("resourceVersion")
    new_version = after.get("resourceVersion")
    if old_version and new_version and old_version != new_version:
        why = (
            "the object has been modified; please apply your changes to the latest version and "
            "try again"
        )
        yield forbidden_change(
            ("metadata", "resourceVersion"),
            why,
            "remove it: it belongs to another state of the object",
        )
