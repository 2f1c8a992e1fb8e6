"""What `kubectl apply` of a changed file over the object that is there would do: refused, ignored, or done.

The server checks the new object as on creation, and then the change; operators' webhooks add their own. Sources:
Kubernetes 1.30 to 1.36 `ValidateXUpdate`, the CRDs' transition rules, and the operators' update webhooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from ptcompile.diffing.applying.custom import stored
from ptcompile.diffing.applying.metadata import metadata_update
from ptcompile.diffing.applying.pointers import pointer_changes
from ptcompile.diffing.applying.update import Rule, Update
from ptcompile.diffing.applying.verdict import verdict
from ptcompile.diffing.paths import changes
from ptcompile.diffing.values import Apply, Change
from ptcompile.findings.diagnostics import Problem, once
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators import all as operators
from ptcompile.operators.record import resolve
from ptcompile.validate import supported, validate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Json = Mapping[str, Any]

_RULES: Final[dict[tuple[str, str], str]] = {
    ("", "Pod"): "pod.pod_update",
    ("", "Service"): "service.service_update",
    ("", "PersistentVolumeClaim"): "claim.claim_update",
    ("", "ConfigMap"): "data.config_map_update",
    ("", "Secret"): "data.secret_update",
    ("batch", "Job"): "job.job_update",
    ("apps", "StatefulSet"): "fields.stateful_set_update",
}
"""Module and function of the kinds with rules of their own, by API group and kind."""


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
    rule = operators.part((api_version, kind), "update")
    if rule is not None:
        yield from rule(update.old, update.new, update.touched, update.versions)
    for one in operators.OPERATORS:
        if one.admission_on_update:
            yield from resolve(one.folder, one.admission_on_update)(key, update.old, update.new, update.versions)


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
        module, _, function = _RULES[key].partition(".")
        rule: Rule = getattr(import_module(f"ptcompile.diffing.applying.{module}"), function)
        yield from rule(update)
    yield from fixed_fields(key, update)
    yield from custom_update((api_version, kind), update)
