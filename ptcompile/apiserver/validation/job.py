"""Job: creation, failure and success policies, updates.

Source: docs/facts/api-server.md#jobs 164 to 195, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.field_errors import ANEW, immutable
from ptcompile.apiserver.validation.metadata import check_labels, check_selector, generated, selects, why_not_key
from ptcompile.apiserver.validation.pod import (
    check_pod_alone,
    check_pod_annotations,
    check_pod_spec,
    check_template_metadata,
)
from ptcompile.diagnostics import Path, Problem
from ptcompile.diagnostics.fixes import Cure
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.registry.model import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.registry.model import Update


_PARALLELISM_MAX: Final = 100_000
_HIGH_COMPLETIONS: Final = 100_000
_LOW_LIMIT: Final = 10_000
_MANAGED_BY_MAX: Final = 63
_COUNTS: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_NAME_LABELS: Final = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")


def check_job(manifest: Any, context: ApiServer, found: f.Problems) -> None:
    """A Job without its metadata; the name counts, since pods and labels are made of it."""
    spec, meta = f.as_field_mapping(manifest.get("spec")), f.as_field_mapping(manifest.get("metadata"))
    if manifest.get("spec") is not None and type(manifest["spec"]) is not dict:
        return
    path: Path = ("spec",)
    check_job_counts(spec, path, context, found)
    _check_name(meta, spec, found)
    check_job_selector(meta, spec, path, found)
    template = f.as_field_mapping(spec.get("template"))
    pod, here = template.get("spec"), (*path, "template")
    check_template_metadata(template.get("metadata"), (*here, "metadata"), found, here)
    check_pod_annotations(template.get("metadata"), pod, (*here, "metadata"), found)
    check_pod_spec(pod, (*here, "spec"), context, found, template=True)
    check_restart_policy(pod, (*here, "spec"), found)


def check_job_pods(manifest: Any, found: f.Problems) -> None:
    """What the template may have and the Job's pods may not: the Job is accepted and makes no pod."""
    pod = f.as_field_mapping(f.as_field_mapping(f.as_field_mapping(manifest.get("spec")).get("template")).get("spec"))
    check_pod_alone(pod, ("spec", "template", "spec"), found)


def check_restart_policy(pod: Any, path: Path, found: f.Problems) -> None:
    """Pods of a Job end: they may not restart always, which is also the default."""
    policy = pod.get("restartPolicy") if type(pod) is dict else None
    if policy in (None, "", "Always"):
        help = "set restartPolicy: Never, or OnFailure to restart in place"
        here = (*path, "restartPolicy")
        fix = Cure("set restartPolicy to Never", "set", "Never", safe=False).at(here)
        f.required(found, here, 'valid values: "OnFailure", "Never"', help, fix=fix)


def check_job_counts(spec: dict[str, Any], path: Path, context: ApiServer, found: f.Problems) -> None:
    """Numbers, modes and policies of a Job's spec: everything that is not its template or its name."""
    for name in _COUNTS:
        if name in spec:
            f.check_not_negative(found, (*path, name), spec[name])
    f.check_choice(found, (*path, "completionMode"), spec.get("completionMode"), ("Indexed", "NonIndexed"))
    indexed = spec.get("completionMode") == "Indexed"
    parallelism = f.as_field_int(spec.get("parallelism"))
    if indexed:
        _check_indexed(spec, path, parallelism, found)
    _check_index_limits(spec, path, indexed, found)
    _check_replacement(spec, path, found)
    manager = spec.get("managedBy")
    if type(manager) is str and context.at_least(32):
        if len(manager) > _MANAGED_BY_MAX:
            f.too_long(found, (*path, "managedBy"), _MANAGED_BY_MAX)
        elif why := names.why_not_domain_prefixed_path(manager):
            f.invalid(found, (*path, "managedBy"), manager, why)
    check_failure_policy(spec, path, found)
    if context.at_least(31):
        check_success_policy(spec, path, found)


def completions_of(spec: dict[str, Any]) -> int | None:
    """`completions` as defaulted: 1 where neither it nor parallelism is set."""
    given = spec.get("completions")
    if given is None and spec.get("parallelism") is None:
        return 1
    return f.as_field_int(given)


def _check_indexed(spec: dict[str, Any], path: Path, parallelism: int | None, found: f.Problems) -> None:
    if spec.get("completions") is None and spec.get("parallelism") is not None:
        why = "when completion mode is Indexed"
        f.required(found, (*path, "completions"), why, "set it to the number of pods, as parallelism")
    if parallelism is not None and parallelism > _PARALLELISM_MAX:
        why = f"must be less than or equal to {_PARALLELISM_MAX} when completion mode is Indexed"
        f.invalid(found, (*path, "parallelism"), parallelism, why)


def _check_index_limits(spec: dict[str, Any], path: Path, indexed: bool, found: f.Problems) -> None:
    limit, failed = spec.get("backoffLimitPerIndex"), f.as_field_int(spec.get("maxFailedIndexes"))
    if not indexed:
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if type(spec.get(name)) is int:
                help = "set completionMode: Indexed"
                f.invalid(found, (*path, name), spec[name], "requires indexed completion mode", help)
        return
    if failed is not None and limit is None:
        f.required(found, (*path, "backoffLimitPerIndex"), "when maxFailedIndexes is specified")
    completions = completions_of(spec)
    if completions is None:
        return
    here = (*path, "maxFailedIndexes")
    if failed is not None and failed > completions:
        f.invalid(found, here, failed, "must be less than or equal to completions")
    elif failed is not None and failed > _PARALLELISM_MAX:
        f.invalid(found, here, failed, f"must be less than or equal to {_PARALLELISM_MAX}")
    if limit is not None and completions > _HIGH_COMPLETIONS:
        _check_high(spec, path, failed, found)


def _check_high(spec: dict[str, Any], path: Path, failed: int | None, found: f.Problems) -> None:
    suffix = f"when completions are above {_HIGH_COMPLETIONS} and used with backoff limit per index"
    parallelism = f.as_field_int(spec.get("parallelism"))
    if parallelism is not None and parallelism > _LOW_LIMIT:
        why = f"must be less than or equal to {_LOW_LIMIT} {suffix}"
        f.invalid(found, (*path, "parallelism"), parallelism, why)
    if failed is None:
        why = f"must be specified when completions is above {_HIGH_COMPLETIONS}"
        f.required(found, (*path, "maxFailedIndexes"), why)
    elif _LOW_LIMIT < failed <= _PARALLELISM_MAX:  # above that it is rejected anyway
        f.invalid(found, (*path, "maxFailedIndexes"), failed, f"must be less than or equal to {_LOW_LIMIT} {suffix}")


def _check_replacement(spec: dict[str, Any], path: Path, found: f.Problems) -> None:
    allowed = ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
    f.check_choice(found, (*path, "podReplacementPolicy"), spec.get("podReplacementPolicy"), allowed)


def _check_name(meta: dict[str, Any], spec: dict[str, Any], found: f.Problems) -> None:
    name = meta.get("name")
    key = "name"
    if f.is_empty(name) and type(meta.get("generateName")) is str and meta["generateName"]:
        name, key = generated(meta["generateName"]), "generateName"
    if type(name) is not str or not names.is_dns_subdomain(name):
        return  # the metadata's own mistake
    completions = completions_of(spec)
    if spec.get("completionMode") == "Indexed":
        last = f"{name}-{completions - 1}" if completions else ""
        if last and (why := names.why_not_dns_label(last)):
            what = f"will not able to create pod with invalid DNS label {last}: {why}"
            f.invalid(found, ("metadata", key), name, what, "shorten the name, and keep dots out of it")
            return
    if len(name) > names.LABEL_VALUE_MAX:
        why = f"must be no more than {names.LABEL_VALUE_MAX} bytes, as a label of the pods holds it"
        f.invalid(found, ("metadata", key), name, why, "shorten the name", "spec.template.labels")


def check_job_selector(meta: dict[str, Any], spec: dict[str, Any], path: Path, found: f.Problems) -> None:
    """The selector and the labels that the server makes itself unless `manualSelector` is set."""
    selector, here = spec.get("selector"), (*path, "selector")
    template = f.as_field_mapping(f.as_field_mapping(spec.get("template")).get("metadata"))
    labels, at = f.as_field_mapping(template.get("labels")), (*path, "template", "metadata", "labels")
    if spec.get("manualSelector") is True:
        before = len(found)
        check_selector(selector, here, found)
        if selector is None:
            f.required(found, here)
        elif type(selector) is dict and len(found) == before and not selects(selector, labels):
            f.invalid(found, at, labels, "`selector` does not match template `labels`")
        return
    check_selector(selector, here, found)
    if type(selector) is dict and not selects(selector, _made_labels(meta)):
        f.invalid(found, here, selector, "`selector` not auto-generated", "remove the selector: the server makes one")
    for key in _NAME_LABELS:
        value, name = labels.get(key), meta.get("name")
        if type(value) is str and (value != name) and (type(name) is str or name is None):
            why = f"must be the Job's name, {f.quote_value(name)}" if name else "must be the Job's name, not known yet"
            f.invalid(found, (*at, key), value, why, "remove the label", f.key_path((*at, key)))
    for key in _UID_LABELS:
        value = labels.get(key)
        if type(value) is str:
            why = "must be the Job's uid, which the server gives"
            f.invalid(found, (*at, key), value, why, "remove the label", f.key_path((*at, key)))


def _made_labels(meta: dict[str, Any]) -> dict[str, Any]:
    """The labels that the server gives a Job's pods; the uid is unknown."""
    return {**dict.fromkeys(_NAME_LABELS, meta.get("name")), **dict.fromkeys(_UID_LABELS, object())}


def check_job_template_metadata(meta: Any, path: Path, found: f.Problems) -> None:
    """Labels of a Job that an operator makes from a template."""
    if type(meta) is dict and meta.get("labels"):
        check_labels(meta["labels"], (*path, "labels"), found)


_RULES_MAX: Final = 20
_PATTERNS_MAX: Final = 20
_CODES_MAX: Final = 255
_INDEXES_MAX: Final = 64 * 1024
_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_is_number = Pattern(r"[+-]?[0-9]{1,18}").fullmatch


def check_failure_policy(spec: dict[str, Any], path: Path, found: f.Problems) -> None:
    """`podFailurePolicy` of a Job's spec. It wants restartPolicy Never (rule 166)."""
    policy = spec.get("podFailurePolicy")
    if type(policy) is not dict:
        return
    here = (*path, "podFailurePolicy", "rules")
    pod = f.as_field_mapping(f.as_field_mapping(spec.get("template")).get("spec"))
    if pod.get("restartPolicy") == "OnFailure":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        f.invalid(found, (*path, "template", "spec", "restartPolicy"), "OnFailure", why, "set restartPolicy: Never")
    rules = policy.get("rules")
    if type(rules) is list and len(rules) > _RULES_MAX:
        f.too_many(found, here, len(rules), _RULES_MAX)
    known = f.container_names(pod)
    for index, rule in f.indexed_mappings(rules):
        _check_rule(rule, (*here, index), spec, known, found)


def _check_rule(rule: dict[str, Any], path: Path, spec: dict[str, Any], known: set[str], found: f.Problems) -> None:
    action, codes, conditions = rule.get("action"), rule.get("onExitCodes"), rule.get("onPodConditions")
    if f.is_empty(action):
        f.required(found, (*path, "action"), f"valid values: {', '.join(_ACTIONS)}")
    else:
        f.check_choice(found, (*path, "action"), action, _ACTIONS)
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        f.invalid(found, (*path, "action"), action, "requires the backoffLimitPerIndex to be set")
    if type(codes) is dict:
        _check_codes(codes, (*path, "onExitCodes"), known, found)
    if type(conditions) is list and len(conditions) > _PATTERNS_MAX:
        f.too_many(found, (*path, "onPodConditions"), len(conditions), _PATTERNS_MAX)
    for index, condition in f.indexed_mappings(conditions):
        _check_condition(condition, (*path, "onPodConditions", index), found)
    if codes is not None and conditions:
        f.invalid(found, path, rule, "specifying both OnExitCodes and OnPodConditions is not supported", "split it")
    elif codes is None and not conditions:
        why = "specifying one of OnExitCodes and OnPodConditions is required"
        f.invalid(found, path, rule, why, "say which failures the rule is for")


def _check_codes(codes: dict[str, Any], path: Path, known: set[str], found: f.Problems) -> None:
    operator, name, values = codes.get("operator"), codes.get("containerName"), codes.get("values")
    if f.is_empty(operator):
        f.required(found, (*path, "operator"), 'valid values: "In", "NotIn"')
    else:
        f.check_choice(found, (*path, "operator"), operator, ("In", "NotIn"))
    if type(name) is str and name not in known:
        f.invalid(found, (*path, "containerName"), name, "must be one of the container or initContainer names")
    here = (*path, "values")
    if values is None or values == []:
        f.invalid(found, here, [], "at least one value is required", "list exit codes")
    elif type(values) is list:
        if len(values) > _CODES_MAX:
            f.too_many(found, here, len(values), _CODES_MAX)
        _check_numbers([v for v in values if type(v) is int], here, operator == "In", found)


def _check_numbers(values: list[int], path: Path, zero_is_wrong: bool, found: f.Problems) -> None:
    seen: set[int] = set()
    for index, value in enumerate(values):
        if zero_is_wrong and value == 0:
            f.invalid(
                found, (*path, index), value, "must not be 0 for the In operator", "remove it: 0 is not a failure"
            )
        if value in seen:
            f.duplicate(found, (*path, index), value)
        seen.add(value)
    if values != sorted(values):
        f.invalid(found, path, values, "must be ordered", "sort the exit codes")


def _check_condition(condition: dict[str, Any], path: Path, found: f.Problems) -> None:
    kind, status = condition.get("type") or "", condition.get("status")
    if type(kind) is str and (why := why_not_key(kind)):
        f.invalid(found, (*path, "type"), kind, why)
    if not f.is_empty(status):
        f.check_choice(found, (*path, "status"), status, ("False", "True", "Unknown"))


def check_success_policy(spec: dict[str, Any], path: Path, found: f.Problems) -> None:
    """`successPolicy` of a Job's spec."""
    policy, here = spec.get("successPolicy"), (*path, "successPolicy")
    if type(policy) is not dict:
        return
    if spec.get("completionMode") != "Indexed":
        f.invalid(found, here, policy, "requires indexed completion mode", "set completionMode: Indexed")
        return
    rules = policy.get("rules")
    if rules is None or rules == []:
        why = "at least one rules must be specified when the successPolicy is specified"
        f.required(found, (*here, "rules"), why)
    elif type(rules) is list and len(rules) > _RULES_MAX:
        f.too_many(found, (*here, "rules"), len(rules), _RULES_MAX)
    total = spec.get("completions")
    completions = 1 if total is None and spec.get("parallelism") is None else f.as_field_int(total)
    for index, rule in f.indexed_mappings(rules):
        _check_success_rule(rule, (*here, "rules", index), completions, found)


def _check_success_rule(rule: dict[str, Any], path: Path, completions: int | None, found: f.Problems) -> None:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        f.required(found, path, "at least one of succeededCount or succeededIndexes must be specified")
    listed = None
    if type(indexes) is str:
        here = (*path, "succeededIndexes")
        if len(indexes) > _INDEXES_MAX:
            f.too_long(found, here, _INDEXES_MAX)
        else:
            listed, why = count_indexes(indexes, completions)
            if why:
                f.invalid(found, here, indexes, f"error parsing succeededIndexes: {why}", "write it as 0,2-4")
    if type(count) is not int:
        return
    here = (*path, "succeededCount")
    if count < 0:
        f.invalid(found, here, count, "must be greater than or equal to 0")
    elif completions is not None and count > completions:
        why = f"must be less than or equal to {completions} (the number of specified completions)"
        f.invalid(found, here, count, why)
    elif listed is not None and count > listed:
        why = f"must be less than or equal to {listed} (the number of indexes in the specified succeededIndexes field)"
        f.invalid(found, here, count, why)


def count_indexes(text: str, completions: int | None) -> tuple[int | None, str | None]:
    """How many indexes a list such as `0,2-4` has, or why it is none (Kubernetes 1.36 `validateIndexesFormat`)."""
    total, last = 0, -1
    if not text:
        return 0, None
    for part in text.split(","):
        limits = part.split("-")
        if len(limits) > 2:
            return None, f'"{part[:40]}" has more than two parts separated by "-"'
        start = last + 1
        for position, limit in enumerate(limits):
            if not _is_number(limit):
                return None, f'"{limit[:40]}" is not a number'
            value = int(limit)
            if completions is not None and value >= completions:
                return None, f"index {value} is too large for {completions} completions"
            if value <= last:
                return None, f"non-increasing order, previous: {last}, current: {value}"
            start = value if position == 0 else start
            last = value
        total += last - start + 1
    return total, None


_FIXED: Final = (
    "selector",
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
_STEERING: Final = (
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec", "nodeSelector"),
    ("spec", "tolerations"),
    ("spec", "schedulingGates"),
    ("spec", "affinity", "nodeAffinity"),
)
"""What of a suspended Job's template may change."""

_TEMPLATE: Final = ("spec", "template")
_SUSPENDED: Final = "suspend the Job before it starts to change where its pods run, or give each run a name of its own"


def job_update(update: Update) -> Iterator[Problem]:
    """A Job: its template changes only while it is suspended and has not run."""
    for name in _FIXED:
        if update.under("spec", name):
            yield immutable(("spec", name), nested_map(update.new, "spec").get(name))
    yield from _completions(update)
    free = _free(update)
    for path in update.under(*_TEMPLATE):
        if not any(_begins(path[2:], steps) for steps in free):
            inner = "spec" in path[2:3] and _resources() in free
            yield immutable((*_TEMPLATE, "spec") if inner else _TEMPLATE, None, _SUSPENDED if free else ANEW)
            return


def _free(update: Update) -> list[tuple[str, ...]]:
    """The paths inside the template that may change."""
    spec, status = nested_map(update.old, "spec"), nested_map(update.old, "status")
    if spec.get("suspend") is not True or not _at_rest(status, update.versions.kubernetes):
        return []
    if update.versions.kubernetes < (1, 36):
        return list(_STEERING)
    return [*_STEERING, _resources(), ("spec", "initContainers", "*", "resources")]


def _resources() -> tuple[str, ...]:
    return ("spec", "containers", "*", "resources")


def _at_rest(status: Mapping[str, Any], kubernetes: tuple[int, int]) -> bool:
    """Whether a suspended Job has no pods: until 1.35 it must never have started, later it may have stopped."""
    if status.get("startTime") is None:
        return True
    conditions = status.get("conditions")
    stopped = any(
        isinstance(one, Mapping) and one.get("type") == "Suspended" and one.get("status") == "True"
        for one in (conditions if isinstance(conditions, list) else ())
    )
    return kubernetes >= (1, 36) and stopped and not status.get("active")


def _begins(path: tuple[str, ...], steps: tuple[str, ...]) -> bool:
    return len(path) >= len(steps) and all(step in ("*", part) for step, part in zip(steps, path, strict=False))


def _completions(update: Update) -> Iterator[Problem]:
    if not update.under("spec", "completions"):
        return
    spec, here = nested_map(update.new, "spec"), ("spec", "completions")
    wanted: Any = spec.get("completions")
    if spec.get("completionMode") != "Indexed":
        yield immutable(here, wanted)
    elif wanted is not None and wanted != spec.get("parallelism"):
        help = "set parallelism to the same number; running pods keep the old number of pods"
        yield immutable(here, wanted, help, "can only be modified in tandem with spec.parallelism")
