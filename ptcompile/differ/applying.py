"""Outcome of `kubectl apply`: unchanged, in place, restarts, ignored or refused.

The server validates the new object as on creation, and then the change; operators' webhooks add
their own checks.
Sources: Kubernetes 1.30 to 1.36 `ValidateXUpdate`, the CRDs' transition rules, and the operators'
update webhooks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver import is_supported, validate
from ptcompile.apiserver.defaulting.decoding import with_defaults
from ptcompile.apiserver.kinds import is_built_in
from ptcompile.apiserver.managed_fields import (
    as_patched,
    as_stored,
    conflicts,
    fields_of,
    keyed_fields,
    merge,
    null_fields,
    overlay,
    united,
    with_server_fields,
    without_removed,
)
from ptcompile.apiserver.stored import as_created, as_updated, stored_object
from ptcompile.apiserver.validation.cluster import node_update
from ptcompile.apiserver.validation.config import config_map_update, secret_update
from ptcompile.apiserver.validation.job import job_update
from ptcompile.apiserver.validation.metadata import metadata_update
from ptcompile.apiserver.validation.networking import service_cidr_update
from ptcompile.apiserver.validation.pod import pod_update
from ptcompile.apiserver.validation.service import service_update
from ptcompile.apiserver.validation.storage import persistent_volume_update
from ptcompile.apiserver.validation.updates import (
    custom_definition_update,
    custom_update,
    immutable_field_changes,
    stateful_set_update,
    stored_after_apply,
)
from ptcompile.apiserver.validation.volume_claims import claim_update
from ptcompile.diagnostics import Problem, Problems, deduplicate, has_error
from ptcompile.differ.changes import changed_paths, changes
from ptcompile.differ.model import Apply, Change
from ptcompile.differ.normal import normalize
from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.unstructured import (
    LAST_APPLIED,
    Json,
    as_mapping,
    get,
    kind_of,
    nested_map,
    nested_string,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.table import OPERATORS, kind_named, record_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.crds import Definitions


_TABLE = load_table("differ/pod_changes.json")
_POINTER_FIELDS = frozenset(_TABLE["pointers"])
"""Fields of which Go distinguishes false from an absent one."""


def pointer_changes(old: Any, new: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths at which only one of two objects says `false`. List items are compared by
    index.
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in old.keys() | new.keys():
            before = old.get(key)
            after = new.get(key)
            if (
                key in _POINTER_FIELDS
                and (before is None) != (after is None)
                and (before is False or after is False)
            ):
                yield (*path, key)
            elif key == "securityContext" and (before is None or after is None):
                yield from pointer_changes(before or {}, after or {}, (*path, key))
            else:
                yield from pointer_changes(before, after, (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index, (before, after) in enumerate(zip(old, new, strict=False)):
            yield from pointer_changes(before, after, (*path, f"[{index}]"))


def apply_verdict(
    old: Json, new: Json, touched: Sequence[tuple[str, ...]], problems: Sequence[Problem]
) -> Apply:
    """Return the verdict on an apply of `new` over `old`; `problems` are the reasons for a
    rejection.
    """
    if has_error(problems):
        # the caller shows why the apply is refused
        return Apply("refused", None)

    key = "/".join(group_and_kind(new))
    for field, why in _TABLE["restarting"].get(key, ()):
        if _is_below(touched, field):
            return Apply("restarts", why)
    rejections = record_of(new).rejections()
    unseen = rejections.unseen_changes(old) or _TABLE["unseen"].get(key, ())
    for field, why in unseen:
        if _is_below(touched, field):
            return Apply("ignored", why)

    return Apply("in-place" if touched else "unchanged", None)


def _is_below(touched: Sequence[tuple[str, ...]], field: Sequence[str]) -> bool:
    """Return whether one of the changed paths is the field or below it."""
    return any(path[: len(field)] == (*field,) for path in touched)


_UPDATE_VALIDATORS = {
    ("", "Pod"): pod_update,
    ("", "Service"): service_update,
    ("", "Node"): node_update,
    ("", "PersistentVolume"): persistent_volume_update,
    ("", "PersistentVolumeClaim"): claim_update,
    ("", "ConfigMap"): config_map_update,
    ("", "Secret"): secret_update,
    ("batch", "Job"): job_update,
    ("apps", "StatefulSet"): stateful_set_update,
    ("networking.k8s.io", "ServiceCIDR"): service_cidr_update,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): custom_definition_update,
}
"""Update validators by API group and kind."""


class ApplyMode(NamedTuple):
    """How the new side is applied, in the words of `kubectl apply`."""

    server_side: bool = False
    force_conflicts: bool = False


class AppliedObject(NamedTuple):
    """The outcome of an apply."""

    verdict: Apply
    problems: list[Problem]
    """The problems for which it would be rejected."""
    stored: Json | None
    """The object that the server would keep, if the old one is live."""


def apply_outcome(
    old: Json, new: Json, versions: Versions, mode: ApplyMode, definitions: Definitions | None
) -> AppliedObject:
    """Return the outcome of applying `new` over `old`. `definitions` are those of kinds that users
    supply.

    Both are the same object: group, kind, namespace and name. `old` may be what `kubectl get -o
    yaml` prints; its managers then decide what the apply removes.
    """
    new = _without_dropped(old, new, versions)
    is_live = _is_live(old)
    server_problems: list[Problem] = []
    if mode.server_side:
        merged, server_problems = stored_after_apply(old, new, definitions)
        if is_live:
            if not mode.force_conflicts:
                server_problems += conflicts(old, new)
            new = merged = merge(old, merged)
    elif is_live:
        new = merged = three_way_merge(old, new)
    else:
        # kubectl removes a field that is null
        merged = as_patched(new)

    before, after = _stored_pair(old, new, definitions)
    update = Update(old, merged, versions, tuple(_touched_paths(before, after, old, new)))
    server_problems += [
        *_new_problems(update, definitions, webhooks=False),
        *metadata_update(old, new),
    ]
    stored_update = update._replace(old=before, new=after) if is_built_in(kind_of(new)) else update
    server_problems += _update_problems(stored_update, definitions)
    reported_paths = {problem.path for problem in server_problems}
    rejections = [
        p
        for p in _new_problems(update, definitions, webhooks=True)
        if p.authority != "kube-apiserver"
    ]
    rejections += _webhook_problems(_with_creation_defaults(update, new))
    problems = [
        *deduplicate(server_problems),
        *(p for p in rejections if p.path not in reported_paths),
    ]
    if is_live and normalize(before) == normalize(old):
        # the live object has all of its defaults, as every object in a cluster has
        new = after

    return AppliedObject(
        apply_verdict(old, new, update.touched, problems), problems, new if is_live else None
    )


def _is_live(manifest: Json) -> bool:
    """Return whether an object is what `kubectl get -o yaml` prints: no file has `uid`."""
    return "uid" in nested_map(manifest, "metadata")


def _touched_paths(before: Json, after: Json, old: Json, new: Json) -> Iterator[tuple[str, ...]]:
    """Yield the paths at which the stored objects differ. The fields of Go's types have no
    defaults left to ignore.
    """
    if is_built_in(kind_of(new)):
        yield from (
            path for path in changed_paths(before, after) if path != ("metadata", "namespace")
        )
    else:
        yield from (
            change.path for change in changes(before, after) if not _is_empty_change(change)
        )
        yield from pointer_changes(old, new)


def three_way_merge(live: Json, file: Json) -> Json:
    """Return the object that `kubectl apply` of `file` over `live` stores: fields that only the
    last applied file has are removed, and all others stay.

    Lists of a built-in kind are merged by their keys; those of other kinds are replaced.
    """
    annotation = nested_string(live, "metadata", "annotations", LAST_APPLIED)
    try:
        last_applied = as_mapping(json.loads(annotation)) if annotation else {}
    except ValueError:
        last_applied = {}
    return _merge_file(live, last_applied, file)


def _merge_file(live: Json, last_applied: Json, file: Json) -> Json:
    """Return a live object with the values of a file, and without the fields that only the last
    applied file has.
    """
    applied = as_stored(file)
    fields = keyed_fields(live) if is_built_in(kind_of(live)) else None
    metadata = nested_map(applied, "metadata")
    # the annotations include kubectl's last-applied-configuration
    applied["metadata"] = {"annotations": {}, **metadata}
    removed = united([fields_of(last_applied, fields or {}), null_fields(file)])
    return with_server_fields(
        live, overlay(without_removed(live, removed, {}, applied), applied, fields)
    )


def _stored_pair(old: Json, new: Json, definitions: Definitions | None) -> tuple[Json, Json]:
    """Return both objects with their defaults. A default of a built-in kind stays when a file is
    applied.
    """
    if not is_built_in(kind_of(new)):
        return with_defaults(old, definitions), with_defaults(new, definitions)
    before = with_defaults(old) if _is_live(old) else as_created(old)
    spec = nested_map(new, "spec")
    # the old name of the field means the new one
    if kind_of(new) == ("v1", "Pod") and spec.get("serviceAccount"):
        new = {**new, "spec": {"serviceAccountName": spec["serviceAccount"], **spec}}
    return before, as_updated(before, _merge_file(before, as_stored(old), new))


def _without_dropped(old: Json, new: Json, versions: Versions) -> Json:
    """Return the file without the fields that the server drops because their feature gate is off.

    The server keeps such a field if the stored object has it.
    """
    if not is_built_in(kind_of(new)):
        return new

    paths = [
        problem.path
        for problem in validate(new, versions=versions, webhooks=False)
        if problem.name == "gate-off"
    ]
    dropped = [path for path in paths if path[-2:] != _WHOLE_SOURCE and get(old, path) is None]
    kept: Any = deepcopy(dict(new)) if dropped else new
    for path in dropped:
        *holder, last = path
        del get(kept, holder)[last]

    return kept  # type: ignore[no-any-return]


_WHOLE_SOURCE = ("dataSourceRef", "namespace")
"""End of the path of a field with which the server drops the field around it; the rules for
claims know that.
"""


def _with_creation_defaults(update: Update, file: Json) -> Update:
    """Return an update by a file as webhooks see it: the old object has what its webhook wrote
    at creation.
    """
    old = update.old
    new = update.new
    if not record_of(file).defaults_once:
        return update
    if not _is_live(old):
        old = stored_object(old, versions=update.versions).manifest
        new = _merge_file(old, as_stored(update.old), file)
    return update._replace(old=old, new=with_defaults(new))


def _webhook_problems(update: Update) -> Problems:
    """Yield what the operators' webhooks reject about the change."""
    kind = kind_of(update.new)
    yield from kind_named(kind).rejections().validate_update(update)
    for operator in OPERATORS:
        if operator.foreign is not None and kind in operator.foreign.kinds:
            yield from operator.validate_foreign_update(update)


def _is_empty_change(change: Change) -> bool:
    """Return whether an empty list or mapping appears or disappears where Go does not distinguish
    it from an absent one.
    """
    if change.kind not in ("added", "removed"):
        return False
    value = change.after if change.kind == "added" else change.before
    return value == [] or (
        value == {} and change.path[-1] in ("limits", "requests", "annotations", "labels")
    )


def _new_problems(update: Update, definitions: Definitions | None, *, webhooks: bool) -> Problems:
    """Yield the server's problems with the new object that the old one does not have."""
    if not is_supported(update.new, definitions):
        return

    before, after = (
        validate(
            obj, versions=update.versions, webhooks=webhooks, foreign=False, definitions=definitions
        )
        for obj in (update.old, update.new)
    )
    existing = {(problem.name, problem.path, problem.message) for problem in before}
    for problem in after:
        is_rejection = problem.stage == "apply" and problem.severity == "error"
        if is_rejection and (problem.name, problem.path, problem.message) not in existing:
            yield problem


def _update_problems(update: Update, definitions: Definitions | None) -> Problems:
    """Yield what the server rejects about the change from the old object to the new one."""
    key = group_and_kind(update.new)
    if key in _UPDATE_VALIDATORS:
        yield from _UPDATE_VALIDATORS[key](update)
    yield from immutable_field_changes(key, update)
    yield from custom_update(kind_of(update.new), update, definitions)
