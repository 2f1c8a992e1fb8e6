"""Metadata of any object: names, labels, annotations, finalizers, owners; label selectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile._internal.lazy import bounded_cache
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.field_errors import forbidden_change, immutable
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.diagnostics.fixes import as_label
from ptcompile.kubernetes import names
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


NameRule = Callable[[str], "str | None"]
"""Says why a text may not be the object's name; `None` where it may."""

ANNOTATIONS_MAX = 256 * 1024
"""Bytes in all keys and values of an object's annotations."""

_STANDARD_FINALIZERS = frozenset({"orphan", "foregroundDeletion", "kubernetes"})

why_not_key = bounded_cache(4096)(names.why_not_qualified_name)
why_not_value = bounded_cache(4096)(names.why_not_label_value)


def metadata_problems(
    meta: Any,
    path: Path,
    context: ApiServer,
    *,
    name_rule: NameRule = names.why_not_dns_subdomain,
    built_in: bool = True,
) -> Iterator[Problem]:
    """What the server answers to an object's metadata.

    `name_rule` is the kind's own rule for names. `built_in` is false for kinds that a CRD defines: their finalizers
    need no domain.
    """
    found: f.Problems = []
    check_metadata(meta, path, found, name_rule, built_in)
    return iter(found)


def check_metadata(meta: Any, path: Path, found: f.Problems, name_rule: NameRule, built_in: bool = True) -> None:
    """Add the problems of an object's metadata to `found`."""
    if meta is None:
        meta = {}
    if type(meta) is not dict:
        return
    _check_name(meta, path, found, name_rule)
    if meta.get("labels"):
        check_labels(meta["labels"], (*path, "labels"), found)
    if meta.get("annotations"):
        check_annotations(meta["annotations"], (*path, "annotations"), found)
    if meta.get("finalizers"):
        check_finalizers(meta["finalizers"], (*path, "finalizers"), found, built_in)
    if meta.get("ownerReferences"):
        _check_owners(meta["ownerReferences"], (*path, "ownerReferences"), found)


def _check_name(meta: dict[str, Any], path: Path, found: f.Problems, name_rule: NameRule) -> None:
    name, prefix = meta.get("name"), meta.get("generateName")
    if type(prefix) is str and prefix and (why := name_rule(mask_dash(prefix)) or name_rule(generated(prefix))):
        help = "write a text that is a name with five random characters behind it"
        f.invalid(found, (*path, "generateName"), prefix, why, help)
    elif f.is_empty(name) and f.is_empty(prefix):
        f.required(found, (*path, "name"), "name or generateName is required", "give the object a name")
    if type(name) is str and name and (why := name_rule(name)):
        here = (*path, "name")
        f.invalid(found, here, name, why, f.like_label(name), fix=as_label(name, here))


def check_generation(manifest: Any, found: f.Problems) -> None:
    """The generation of kinds for which the server does not begin to count at 1 itself."""
    generation = f.as_field_mapping(manifest.get("metadata")).get("generation")
    f.check_not_negative(found, ("metadata", "generation"), generation)


def generated(prefix: str) -> str:
    """A name as the server makes it of `generateName`: cut to 58 characters, and five random ones."""
    return prefix[:58] + "xxxxx"


def mask_dash(prefix: str) -> str:
    """A prefix of a name as the server judges it: a dash at its end will not be at the end of the name."""
    return prefix[:-2] + "a" if len(prefix) > 1 and prefix[-1] == "-" else prefix


def check_labels(labels: Any, path: Path, found: f.Problems, at: str | None = None) -> None:
    """Labels, or any map that selects by labels. The server names the map and not the label."""
    if type(labels) is not dict:
        return
    for key, value in labels.items():
        if why := why_not_key(key):
            help = "write [domain/]name of letters, digits, '-', '_' and '.'"
            f.invalid(found, (*path, key), key, why, help, at or field_path(path))
        if type(value) is str and value and (why := why_not_value(value)):
            help = "use up to 63 letters, digits, '-', '_' and '.'"
            f.invalid(found, (*path, key), value, why, help, at or field_path(path))


def check_annotations(annotations: Any, path: Path, found: f.Problems) -> None:
    """Annotation keys, and the size of all."""
    if type(annotations) is not dict:
        return
    size = 0
    for key, value in annotations.items():
        # The server lowers the key first, so upper case in the prefix passes here and not in labels.
        if why := why_not_key(key.lower()):
            help = "write [domain/]name of letters, digits, '-', '_' and '.'"
            f.invalid(found, (*path, key), key, why, help, field_path(path))
        if type(value) is str:
            size += len(key) + len(value)
    if size > ANNOTATIONS_MAX // 4:
        size = sum(_bytes(key) + _bytes(value) for key, value in annotations.items() if type(value) is str)
    if size > ANNOTATIONS_MAX:
        f.too_long(found, path, ANNOTATIONS_MAX, "put long texts into a ConfigMap")


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def check_finalizers(finalizers: Any, path: Path, found: f.Problems, built_in: bool = True) -> None:
    """Finalizers: qualified names, with a domain on built-in kinds."""
    if type(finalizers) is not list:
        return
    for index, name in enumerate(finalizers):
        name = "" if name is None else name
        if type(name) is not str:
            continue
        here = (*path, index)
        if why := why_not_key(name):
            f.invalid(found, here, name, why)
        elif built_in and "/" not in name and name not in _STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            f.invalid(found, here, name, why, "write it as domain/name")
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        f.invalid(found, path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set")


def _check_owners(owners: Any, path: Path, found: f.Problems) -> None:
    controllers = 0
    at = field_path(path)
    for index, owner in f.indexed_mappings(owners):
        here = (*path, index)
        version = owner.get("apiVersion")
        if f.is_empty(version) or (type(version) is str and not _has_version(version)):
            f.invalid(found, (*here, "apiVersion"), version, "version must not be empty", at=f"{at}.apiVersion")
        for key in ("kind", "name", "uid"):
            if f.is_empty(owner.get(key)):
                f.invalid(found, (*here, key), "", "must not be empty", at=f"{at}.{key}")
        if version == "v1" and owner.get("kind") == "Event":
            f.invalid(found, here, owner, "/v1, Kind=Event is disallowed from being an owner", at=at)
        controllers += owner.get("controller") is True
    if controllers > 1:
        f.invalid(found, path, owners, "Only one reference can have Controller set to true")


def _has_version(api_version: str) -> bool:
    return api_version.count("/") < 2 and bool(api_version.rpartition("/")[2])


_WITH_VALUES = ("In", "NotIn")
_WITHOUT_VALUES = ("Exists", "DoesNotExist")


def check_selector(selector: Any, path: Path, found: f.Problems) -> None:
    """A `LabelSelector` of Kubernetes 1.36; null selects nothing and is fine."""
    if type(selector) is not dict:
        return
    if selector.get("matchLabels"):
        check_labels(selector["matchLabels"], (*path, "matchLabels"), found)
    for index, requirement in f.indexed_mappings(selector.get("matchExpressions")):
        _check_requirement(requirement, (*path, "matchExpressions", index), found)


def _check_requirement(requirement: dict[str, Any], path: Path, found: f.Problems) -> None:
    operator, values = requirement.get("operator"), requirement.get("values") or []
    if operator in _WITH_VALUES:
        if not values:
            f.required(found, (*path, "values"), "must be specified when `operator` is 'In' or 'NotIn'", "list values")
    elif operator in _WITHOUT_VALUES:
        if values:
            f.forbidden(found, (*path, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif operator is None or type(operator) is str:
        check_operator(operator, path, found, (*_WITH_VALUES, *_WITHOUT_VALUES))
    check_key(requirement.get("key"), (*path, "key"), found)
    check_values(values, (*path, "values"), found)


def check_operator(operator: Any, path: Path, found: f.Problems, known: tuple[str, ...]) -> None:
    """Say that a requirement's operator is none of those known."""
    value = operator or ""
    f.invalid(found, (*path, "operator"), value, "not a valid selector operator", f"use {', '.join(known)}")


def check_key(key: Any, path: Path, found: f.Problems) -> None:
    """The label key of a requirement."""
    if (key is None or type(key) is str) and (why := why_not_key(key or "")):
        f.invalid(found, path, key or "", why)


def check_values(values: Any, path: Path, found: f.Problems) -> None:
    """The label values of a requirement."""
    if type(values) is not list:
        return
    for index, value in enumerate(values):
        if type(value) is str and (why := why_not_value(value)):
            f.invalid(found, (*path, index), value, why)


def selector_keys(selector: Any) -> set[str]:
    """The label keys that a selector names."""
    parts = f.as_field_mapping(selector)
    keys = set(f.as_field_mapping(parts.get("matchLabels")))
    return keys | {r["key"] for _, r in f.indexed_mappings(parts.get("matchExpressions")) if type(r.get("key")) is str}


def selects(selector: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Whether a selector matches labels, as the server reads both. The selector has to be valid."""
    for key, value in f.as_field_mapping(selector.get("matchLabels")).items():
        if labels.get(key) != value:
            return False
    return all(_meets(labels, r) for _, r in f.indexed_mappings(selector.get("matchExpressions")))


def _meets(labels: Mapping[str, Any], requirement: Mapping[str, Any]) -> bool:
    key, operator, values = requirement.get("key"), requirement.get("operator"), requirement.get("values")
    if type(key) is not str or (values and type(values) is not list):
        return True  # wrongly typed, which is another's finding
    if operator == "In":
        return key in labels and labels[key] in (values or ())
    if operator == "NotIn":
        return key not in labels or labels[key] not in (values or ())
    return (key in labels) == (operator == "Exists")


_GONE = "remove it: the server writes it when the object is deleted"


def metadata_update(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Problem]:
    """What the server answers to a change of metadata; labels and annotations are free."""
    before, after = _mapping(old.get("metadata")), _mapping(new.get("metadata"))
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        value = after.get(key)
        if value is not None and value != before.get(key):
            yield immutable(("metadata", key), value, _GONE)
    if after.get("uid") and before.get("uid") and after["uid"] != before["uid"]:
        yield immutable(("metadata", "uid"), after["uid"], "remove it: the server sets it")
    versions = before.get("resourceVersion"), after.get("resourceVersion")
    if all(versions) and versions[0] != versions[1]:
        why = "the object has been modified; please apply your changes to the latest version and try again"
        yield forbidden_change(
            ("metadata", "resourceVersion"), why, "remove it: it is from another state of the object"
        )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
