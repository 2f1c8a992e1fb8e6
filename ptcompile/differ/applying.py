"""What `kubectl apply` would do: unchanged, in place, restarts, ignored or refused.

The server checks the new object as on creation, and then the change; operators' webhooks add their own. Sources:
Kubernetes 1.30 to 1.36 `ValidateXUpdate`, the CRDs' transition rules, and the operators' update webhooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.apiserver import supported, validate
from ptcompile.apiserver.validation.config import config_map_update, secret_update
from ptcompile.apiserver.validation.context import UpdateValidator
from ptcompile.apiserver.validation.job import job_update
from ptcompile.apiserver.validation.metadata import metadata_update
from ptcompile.apiserver.validation.pod import pod_update
from ptcompile.apiserver.validation.service import service_update
from ptcompile.apiserver.validation.updates import (
    custom_update,
    immutable_field_changes,
    stateful_set_update,
    stored_after_apply,
)
from ptcompile.apiserver.validation.volume_claims import claim_update
from ptcompile.diagnostics import Problem, deduplicate
from ptcompile.differ.changes import changes
from ptcompile.differ.model import Apply, Change
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.kubernetes.versions import Versions
from ptcompile.registry.model import Update
from ptcompile.registry.table import OPERATORS, kind_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Json = Mapping[str, Any]


_POINTERS: Final = frozenset(
    {
        "allowPrivilegeEscalation",
        "automountServiceAccountToken",
        "hostUsers",
        "privileged",
        "readOnlyRootFilesystem",
        "runAsNonRoot",
        "setHostnameAsFQDN",
        "shareProcessNamespace",
    }
)


def pointer_changes(old: Any, new: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths where only one of two objects says `false`; items of lists are compared by their place."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in old.keys() | new.keys():
            before, after = old.get(key), new.get(key)
            if key in _POINTERS and (before is None) != (after is None) and (before is False or after is False):
                yield (*path, key)
            elif key == "securityContext" and (before is None or after is None):
                yield from pointer_changes(before or {}, after or {}, (*path, key))
            else:
                yield from pointer_changes(before, after, (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index, (before, after) in enumerate(zip(old, new, strict=False)):
            yield from pointer_changes(before, after, (*path, f"[{index}]"))


_ROLLS: Final[dict[tuple[str, str], tuple[tuple[str, ...], str]]] = {
    ("apps", "Deployment"): (("spec", "template"), "pods are replaced, a few at a time"),
    ("apps", "DaemonSet"): (("spec", "template"), "pods are replaced, a few at a time"),
    ("apps", "StatefulSet"): (("spec", "template"), "pods are replaced, the last one first"),
    ("", "Pod"): (("spec", "containers"), "a container whose image changes is restarted"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        ("spec", "leaderWorkerTemplate"),
        "groups of pods are replaced, one at a time",
    ),
}
"""Where a change restarts pods, by API group and kind."""

_LATER: Final[dict[tuple[str, str], tuple[tuple[tuple[str, ...], str], ...]]] = {
    ("apps", "ReplicaSet"): ((("spec", "template"), "running pods stay as they are; later pods use the new template"),),
    ("batch", "CronJob"): ((("spec", "jobTemplate"), "running Jobs stay as they are; it applies to the next ones"),),
    ("ray.io", "RayCluster"): (
        (("spec",), "running pods stay as they are; replicas are scaled (upgradeStrategy Recreate replaces all)"),
    ),
    ("ray.io", "RayJob"): ((("spec", "rayClusterSpec"), "the running cluster stays as it is"),),
    ("", "ConfigMap"): ((("data",), "volumes follow after a minute (not with subPath), variables never"),),
    ("", "Secret"): ((("data",), "volumes follow after a minute (not with subPath), variables never"),),
}
"""Where a change is taken and running pods do not see it; operators' kinds have `unseen_changes`."""


def verdict(
    old: Mapping[str, Any], new: Mapping[str, Any], touched: Sequence[tuple[str, ...]], problems: Sequence[Problem]
) -> Apply:
    """The verdict on an apply of `new` over `old`; `problems` are why it is rejected."""
    if any(problem.severity == "error" for problem in problems):
        return Apply("refused", None)  # the caller shows why
    api_version, kind = kind_of(new)
    key = api_version.rpartition("/")[0], kind
    rolls = _ROLLS.get(key)
    if rolls is not None and any(path[: len(rolls[0])] == rolls[0] for path in touched):
        return Apply("restarts", rolls[1])
    for place, why in kind_named((api_version, kind)).unseen_changes(old) or _LATER.get(key, ()):
        if any(path[: len(place)] == place for path in touched):
            return Apply("ignored", why)
    return Apply("in-place" if touched else "unchanged", None)


_RULES: Final[dict[tuple[str, str], UpdateValidator]] = {
    ("", "Pod"): pod_update,
    ("", "Service"): service_update,
    ("", "PersistentVolumeClaim"): claim_update,
    ("", "ConfigMap"): config_map_update,
    ("", "Secret"): secret_update,
    ("batch", "Job"): job_update,
    ("apps", "StatefulSet"): stateful_set_update,
}
"""The rules of the kinds that have some, by API group and kind."""


def apply_outcome(old: Json, new: Json, versions: Versions) -> tuple[Apply, list[Problem]]:
    """What an apply of `new` over `old` does, and what it would be refused for.

    Both are the same object: group, kind, namespace and name. `old` may be what `kubectl get -o yaml` prints.
    """
    merged, found = stored_after_apply(old, new)
    told = (change.path for change in changes(old, new) if not _says_nothing(change))
    update = Update(old, merged, versions, (*told, *pointer_changes(old, new)))
    found += [*_valid(update, webhooks=False), *metadata_update(old, new), *_changed(update)]
    said = {problem.path for problem in found}
    refusals = [one for one in _valid(update, webhooks=True) if one.authority != "kube-apiserver"]
    refusals += _operators(update)
    problems = [*deduplicate(found), *(problem for problem in refusals if problem.path not in said)]
    return verdict(old, new, update.touched, problems), problems


def _operators(update: Update) -> Iterator[Problem]:
    """What the operators' webhooks say to the change."""
    api_version, kind = kind_of(update.new)
    key = api_version.rpartition("/")[0], kind
    yield from kind_named((api_version, kind)).validate_update(update)
    for operator in OPERATORS:
        yield from operator.validate_foreign_update(update, key)


def _says_nothing(change: Change) -> bool:
    """Whether an empty list or mapping came or went where Go has no difference between that and none."""
    if change.kind not in ("added", "removed"):
        return False
    value = change.after if change.kind == "added" else change.before
    return value == [] or (value == {} and change.path[-1] in ("limits", "requests", "annotations", "labels"))


def _valid(update: Update, *, webhooks: bool) -> Iterator[Problem]:
    """What the server has against the new object by itself, and had not against the old one."""
    if not supported(update.new):
        return
    before, after = (validate(one, versions=update.versions, webhooks=webhooks) for one in (update.old, update.new))
    kept = {(one.name, one.path, one.message) for one in before}
    for problem in after:
        if problem.stage == "apply" and (problem.name, problem.path, problem.message) not in kept:
            yield problem


def _changed(update: Update) -> Iterator[Problem]:

    api_version, kind = kind_of(update.new)
    key = api_version.rpartition("/")[0], kind
    if key in _RULES:
        yield from _RULES[key](update)
    yield from immutable_field_changes(key, update)
    yield from custom_update((api_version, kind), update)
