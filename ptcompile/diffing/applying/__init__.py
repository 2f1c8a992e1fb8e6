"""What `kubectl apply` of a changed file over the object that is there would do: refused, ignored, or done.

The server checks the new object as on creation, and then the change; operators' webhooks add their own. Sources:
Kubernetes 1.30 to 1.36 `ValidateXUpdate`, the CRDs' transition rules, and the operators' update webhooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.diffing.applying.claim import claim_update
from ptcompile.diffing.applying.custom import stored
from ptcompile.diffing.applying.data import config_map_update, secret_update
from ptcompile.diffing.applying.fields import stateful_set_update
from ptcompile.diffing.applying.job import job_update
from ptcompile.diffing.applying.metadata import metadata_update
from ptcompile.diffing.applying.pod import pod_update
from ptcompile.diffing.applying.pointers import pointer_changes
from ptcompile.diffing.applying.service import service_update
from ptcompile.diffing.applying.update import Rule
from ptcompile.diffing.applying.verdict import verdict
from ptcompile.diffing.paths import changes
from ptcompile.diffing.values import Apply, Change
from ptcompile.findings.diagnostics import Problem, once
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.all import OPERATORS, kind_named
from ptcompile.operators.record import Update
from ptcompile.validate import supported, validate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Json = Mapping[str, Any]

_RULES: Final[dict[tuple[str, str], Rule]] = {
    ("", "Pod"): pod_update,
    ("", "Service"): service_update,
    ("", "PersistentVolumeClaim"): claim_update,
    ("", "ConfigMap"): config_map_update,
    ("", "Secret"): secret_update,
    ("batch", "Job"): job_update,
    ("apps", "StatefulSet"): stateful_set_update,
}
"""The rules of the kinds that have some, by API group and kind."""


def applied(old: Json, new: Json, versions: Versions) -> tuple[Apply, list[Problem]]:
    """What an apply of `new` over `old` does, and what it would be refused for.

    Both are the same object: group, kind, namespace and name. `old` may be what `kubectl get -o yaml` prints.
    """
    merged, found = stored(old, new)
    told = (change.path for change in changes(old, new) if not _says_nothing(change))
    update = Update(old, merged, versions, (*told, *pointer_changes(old, new)))
    found += [*_valid(update, webhooks=False), *metadata_update(old, new), *_changed(update)]
    said = {problem.path for problem in found}
    refusals = [one for one in _valid(update, webhooks=True) if one.authority != "kube-apiserver"]
    refusals += _operators(update)
    problems = [*once(found), *(problem for problem in refusals if problem.path not in said)]
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
    from ptcompile.diffing.applying.custom import custom_update
    from ptcompile.diffing.applying.fields import fixed_fields

    api_version, kind = kind_of(update.new)
    key = api_version.rpartition("/")[0], kind
    if key in _RULES:
        yield from _RULES[key](update)
    yield from fixed_fields(key, update)
    yield from custom_update((api_version, kind), update)
