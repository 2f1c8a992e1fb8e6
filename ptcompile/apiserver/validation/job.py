"""Job: creation, failure and success policies, updates.

Source: docs/facts/api-server.md#jobs 164 to 195, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.metadata import check_labels, check_selector, generated_name, why_not_key
from ptcompile.apiserver.validation.pod import (
    check_pod_annotations,
    check_pod_only_rules,
    check_pod_spec,
    check_template_metadata,
)
from ptcompile.apiserver.validation.pod_groups import check_job_scheduling
from ptcompile.diagnostics import Path, Problems, field_path, problem_at
from ptcompile.diagnostics.field_errors import (
    RECREATE_HELP,
    FieldErrors,
    as_field_int,
    container_names,
    immutable,
    indexed_mappings,
    is_empty,
    key_path,
    quote_value,
    with_stage,
)
from ptcompile.diagnostics.fixes import FixTemplate
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map

_PARALLELISM_MAX = 100_000
_MANY_COMPLETIONS = 100_000
_MANY_COMPLETIONS_LIMIT = 10_000
_MANAGED_BY_MAX = 63
_COUNT_FIELDS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")


def check_job(manifest: Any, context: ApiServer, problems: FieldErrors) -> None:
    """Check a Job, except its metadata. The name is checked because pod names and labels contain it."""
    spec = nested_map(manifest, "spec")
    meta = nested_map(manifest, "metadata")
    if manifest.get("spec") is not None and type(manifest["spec"]) is not dict:
        return
    path: Path = ("spec",)
    check_job_counts(spec, path, context, problems)
    _check_name(meta, spec, problems)
    check_job_selector(meta, spec, path, problems)
    template = nested_map(spec, "template")
    pod = template.get("spec")
    template_path = (*path, "template")
    check_template_metadata(template.get("metadata"), (*template_path, "metadata"), problems, template_path)
    check_pod_annotations(template.get("metadata"), pod, (*template_path, "metadata"), problems)
    check_pod_spec(pod, (*template_path, "spec"), context, problems, template=True)
    check_restart_policy(pod, (*template_path, "spec"), problems)

    # what the server accepts in a template but rejects in a Pod: such a Job creates no pod
    pods = FieldErrors()
    check_pod_only_rules(as_mapping(pod), (*template_path, "spec"), pods)
    problems += with_stage(pods, "pod")


def check_restart_policy(pod: Any, path: Path, problems: FieldErrors) -> None:
    """Check that a Job's pods can end: restartPolicy must not be Always, which is the default."""
    policy = pod.get("restartPolicy") if type(pod) is dict else None
    if policy in (None, "", "Always"):
        help = "set restartPolicy: Never, or OnFailure to restart in place"
        policy_path = (*path, "restartPolicy")
        fix = FixTemplate("set restartPolicy to Never", "set", "Never", safe=False).at(policy_path)
        problems.required(policy_path, 'valid values: "OnFailure", "Never"', help, fix=fix)


def check_job_counts(spec: Json, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    """Check the numbers, modes and policies of a Job's spec: everything except the template and the selector."""
    for name in _COUNT_FIELDS:
        if name in spec:
            problems.check_not_negative((*path, name), spec[name])
    problems.check_choice((*path, "completionMode"), spec.get("completionMode"), ("Indexed", "NonIndexed"))
    indexed = spec.get("completionMode") == "Indexed"
    parallelism = as_field_int(spec.get("parallelism"))
    if indexed:
        _check_indexed(spec, path, parallelism, problems)
    _check_index_limits(spec, path, indexed, problems)
    _check_replacement(spec, path, problems)
    manager = spec.get("managedBy")
    if type(manager) is str and context.has_gate("JobManagedBy", 32):
        if len(manager) > _MANAGED_BY_MAX:
            problems.too_long((*path, "managedBy"), _MANAGED_BY_MAX)
        else:
            problems.check_text((*path, "managedBy"), manager, names.why_not_domain_prefixed_path)
    if spec.get("scheduling") is not None:
        check_job_scheduling(spec["scheduling"], (*path, "scheduling"), problems)
    check_failure_policy(spec, path, problems)
    if context.has_gate("JobSuccessPolicy", 31):
        check_success_policy(spec, path, problems)


def completions_of(spec: Json) -> int | None:
    """Return the defaulted `completions`: 1 if neither it nor `parallelism` is set, or None if it is not an integer."""
    completions = spec.get("completions")
    if completions is None and spec.get("parallelism") is None:
        return 1
    return as_field_int(completions)


def _check_indexed(spec: Json, path: Path, parallelism: int | None, problems: FieldErrors) -> None:
    if spec.get("completions") is None and spec.get("parallelism") is not None:
        why = "when completion mode is Indexed"
        problems.required((*path, "completions"), why, "set it to the number of pods, like parallelism")
    if parallelism is not None and parallelism > _PARALLELISM_MAX:
        why = f"must be less than or equal to {_PARALLELISM_MAX} when completion mode is Indexed"
        problems.invalid((*path, "parallelism"), parallelism, why)


def _check_index_limits(spec: Json, path: Path, indexed: bool, problems: FieldErrors) -> None:
    limit = spec.get("backoffLimitPerIndex")
    failed = as_field_int(spec.get("maxFailedIndexes"))
    if not indexed:
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if type(spec.get(name)) is int:
                help = "set completionMode: Indexed"
                problems.invalid((*path, name), spec[name], "requires indexed completion mode", help)
        return
    if failed is not None and limit is None:
        problems.required((*path, "backoffLimitPerIndex"), "when maxFailedIndexes is specified")
    completions = completions_of(spec)
    if completions is None:
        return
    failed_path = (*path, "maxFailedIndexes")
    if failed is not None and failed > completions:
        problems.invalid(failed_path, failed, "must be less than or equal to completions")
    elif failed is not None and failed > _PARALLELISM_MAX:
        problems.invalid(failed_path, failed, f"must be less than or equal to {_PARALLELISM_MAX}")
    if limit is not None and completions > _MANY_COMPLETIONS:
        _check_many_completions(spec, path, failed, problems)


def _check_many_completions(spec: Json, path: Path, failed: int | None, problems: FieldErrors) -> None:
    suffix = f"when completions are above {_MANY_COMPLETIONS} and used with backoff limit per index"
    parallelism = as_field_int(spec.get("parallelism"))
    if parallelism is not None and parallelism > _MANY_COMPLETIONS_LIMIT:
        why = f"must be less than or equal to {_MANY_COMPLETIONS_LIMIT} {suffix}"
        problems.invalid((*path, "parallelism"), parallelism, why)
    if failed is None:
        why = f"must be specified when completions is above {_MANY_COMPLETIONS}"
        problems.required((*path, "maxFailedIndexes"), why)
    elif _MANY_COMPLETIONS_LIMIT < failed <= _PARALLELISM_MAX:  # a higher value is rejected already
        problems.invalid(
            (*path, "maxFailedIndexes"),
            failed,
            f"must be less than or equal to {_MANY_COMPLETIONS_LIMIT} {suffix}",
        )


def _check_replacement(spec: Json, path: Path, problems: FieldErrors) -> None:
    allowed = ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
    problems.check_choice((*path, "podReplacementPolicy"), spec.get("podReplacementPolicy"), allowed)


def _check_name(meta: Json, spec: Json, problems: FieldErrors) -> None:
    name = meta.get("name")
    key = "name"
    if is_empty(name) and type(meta.get("generateName")) is str and meta["generateName"]:
        name = generated_name(meta["generateName"])
        key = "generateName"
    if type(name) is not str or not names.is_dns_subdomain(name):
        return  # reported with the metadata
    completions = completions_of(spec)
    if spec.get("completionMode") == "Indexed":
        last = f"{name}-{completions - 1}" if completions else ""
        if last and (why := names.why_not_dns_label(last)):
            message = f"will not able to create pod with invalid DNS label {last}: {why}"
            problems.invalid(("metadata", key), name, message, "shorten the name, and keep dots out of it")
            return
    if len(name) > names.LABEL_VALUE_MAX:
        why = f"must be no more than {names.LABEL_VALUE_MAX} bytes, because it becomes a label of the pods"
        problems.invalid(("metadata", key), name, why, "shorten the name", "spec.template.labels")


def check_job_selector(meta: Json, spec: Json, path: Path, problems: FieldErrors) -> None:
    """Check the selector and the labels that the server generates unless `manualSelector` is set."""
    selector = spec.get("selector")
    selector_path = (*path, "selector")
    template = nested_map(spec, "template", "metadata")
    labels = nested_map(template, "labels")
    labels_path = (*path, "template", "metadata", "labels")
    if spec.get("manualSelector") is True:
        before = len(problems)
        check_selector(selector, selector_path, problems)
        if selector is None:
            problems.required(selector_path)
        elif type(selector) is dict and len(problems) == before and not selects(selector, labels):
            problems.invalid(labels_path, labels, "`selector` does not match template `labels`")
        return
    check_selector(selector, selector_path, problems)
    generated = _generated_labels(meta)
    if type(selector) is dict and meta.get("resourceVersion") and selects(selector, generated):
        problems.append(
            problem_at(
                "invalid-value",
                selector_path,
                "the server generated it for this Job, and refuses it in a new one",
                "to create the Job again, remove the selector and the labels with the controller's uid",
                severity="note",
            )
        )
    elif type(selector) is dict and not selects(selector, generated):
        problems.invalid(
            selector_path,
            selector,
            "`selector` not auto-generated",
            "remove the selector: the server makes one",
        )
    for key in _NAME_LABELS:
        value = labels.get(key)
        name = meta.get("name")
        if type(value) is str and (value != name) and (type(name) is str or name is None):
            why = f"must be the Job's name, {quote_value(name)}" if name else "must be the Job's name, not known yet"
            problems.invalid((*labels_path, key), value, why, "remove the label", key_path((*labels_path, key)))
    for key in _UID_LABELS:
        value = labels.get(key)
        if type(value) is str and value != generated[key]:
            why = "must be the Job's uid, which the server gives"
            problems.invalid((*labels_path, key), value, why, "remove the label", key_path((*labels_path, key)))


def _generated_labels(meta: Json) -> Json:
    """Return the labels that the server adds to a Job's pods; a Job that no server stored has a placeholder as uid."""
    is_stored = meta.get("resourceVersion") and meta.get("uid")
    uid = meta["uid"] if is_stored else object()
    return {**dict.fromkeys(_NAME_LABELS, meta.get("name")), **dict.fromkeys(_UID_LABELS, uid)}


def check_job_template_metadata(meta: Any, path: Path, problems: FieldErrors) -> None:
    """Check the labels of a template from which an operator creates a Job."""
    if type(meta) is dict and meta.get("labels"):
        check_labels(meta["labels"], (*path, "labels"), problems)


_RULES_MAX = 20
_PATTERNS_MAX = 20
_CODES_MAX = 255
_INDEXES_MAX = 64 * 1024
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_is_number = Pattern(r"[+-]?[0-9]{1,18}").fullmatch


def check_failure_policy(spec: Json, path: Path, problems: FieldErrors) -> None:
    """Check `podFailurePolicy` of a Job's spec, which requires restartPolicy Never."""
    policy = spec.get("podFailurePolicy")
    if type(policy) is not dict:
        return
    rules_path = (*path, "podFailurePolicy", "rules")
    pod = nested_map(spec, "template", "spec")
    if pod.get("restartPolicy") == "OnFailure":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        problems.invalid((*path, "template", "spec", "restartPolicy"), "OnFailure", why, "set restartPolicy: Never")
    rules = policy.get("rules")
    problems.check_length(rules_path, rules, _RULES_MAX)
    known_containers = container_names(pod)
    for index, rule in indexed_mappings(rules):
        _check_rule(rule, (*rules_path, index), spec, known_containers, problems)


def _check_rule(rule: Json, path: Path, spec: Json, known_containers: set[str], problems: FieldErrors) -> None:
    action = rule.get("action")
    codes = rule.get("onExitCodes")
    conditions = rule.get("onPodConditions")
    problems.check_required_choice((*path, "action"), action, _ACTIONS, f"valid values: {', '.join(_ACTIONS)}")
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        problems.invalid((*path, "action"), action, "requires the backoffLimitPerIndex to be set")
    if type(codes) is dict:
        _check_codes(codes, (*path, "onExitCodes"), known_containers, problems)
    problems.check_length((*path, "onPodConditions"), conditions, _PATTERNS_MAX)
    for index, condition in indexed_mappings(conditions):
        _check_condition(condition, (*path, "onPodConditions", index), problems)
    if codes is not None and conditions:
        problems.invalid(path, rule, "specifying both OnExitCodes and OnPodConditions is not supported", "split it")
    elif codes is None and not conditions:
        why = "specifying one of OnExitCodes and OnPodConditions is required"
        problems.invalid(path, rule, why, "set onExitCodes or onPodConditions")


def _check_codes(codes: Json, path: Path, known_containers: set[str], problems: FieldErrors) -> None:
    operator = codes.get("operator")
    name = codes.get("containerName")
    values = codes.get("values")
    problems.check_required_choice((*path, "operator"), operator, ("In", "NotIn"), 'valid values: "In", "NotIn"')
    if type(name) is str and name not in known_containers:
        problems.invalid((*path, "containerName"), name, "must be one of the container or initContainer names")
    values_path = (*path, "values")
    if values is None or values == []:
        problems.invalid(values_path, [], "at least one value is required", "list exit codes")
    elif type(values) is list:
        if len(values) > _CODES_MAX:
            problems.too_many(values_path, len(values), _CODES_MAX)
        numbers = [0 if value is None else value for value in values]
        _check_numbers([value for value in numbers if type(value) is int], values_path, operator == "In", problems)


def _check_numbers(values: list[int], path: Path, zero_is_wrong: bool, problems: FieldErrors) -> None:
    seen: set[int] = set()
    for index, value in enumerate(values):
        if zero_is_wrong and value == 0:
            problems.invalid(
                (*path, index), value, "must not be 0 for the In operator", "remove it: 0 is not a failure"
            )
        problems.check_unseen((*path, index), value, seen)
    if values != sorted(values):
        problems.invalid(path, values, "must be ordered", "sort the exit codes")


def _check_condition(condition: Json, path: Path, problems: FieldErrors) -> None:
    kind = condition.get("type") or ""
    status = condition.get("status")
    problems.check_text((*path, "type"), kind, why_not_key)
    if not is_empty(status):
        problems.check_choice((*path, "status"), status, ("False", "True", "Unknown"))


def check_success_policy(spec: Json, path: Path, problems: FieldErrors) -> None:
    """Check `successPolicy` of a Job's spec."""
    policy = spec.get("successPolicy")
    policy_path = (*path, "successPolicy")
    if type(policy) is not dict:
        return
    if spec.get("completionMode") != "Indexed":
        problems.invalid(policy_path, policy, "requires indexed completion mode", "set completionMode: Indexed")
        return
    rules = policy.get("rules")
    if rules is None or rules == []:
        why = "at least one rules must be specified when the successPolicy is specified"
        problems.required((*policy_path, "rules"), why)
    else:
        problems.check_length((*policy_path, "rules"), rules, _RULES_MAX)
    total = spec.get("completions")
    completions = 1 if total is None and spec.get("parallelism") is None else as_field_int(total)
    for index, rule in indexed_mappings(rules):
        _check_success_rule(rule, (*policy_path, "rules", index), completions, problems)


def _check_success_rule(rule: Json, path: Path, completions: int | None, problems: FieldErrors) -> None:
    count = rule.get("succeededCount")
    indexes = rule.get("succeededIndexes")
    if count is None and indexes is None:
        problems.required(path, "at least one of succeededCount or succeededIndexes must be specified")
    listed = None
    if type(indexes) is str:
        indexes_path = (*path, "succeededIndexes")
        if len(indexes) > _INDEXES_MAX:
            problems.too_long(indexes_path, _INDEXES_MAX)
        else:
            listed, why = count_indexes(indexes, completions)
            if why:
                problems.invalid(indexes_path, indexes, f"error parsing succeededIndexes: {why}", "write it as 0,2-4")
    if type(count) is not int:
        return
    count_path = (*path, "succeededCount")
    if count < 0:
        problems.invalid(count_path, count, "must be greater than or equal to 0")
    elif completions is not None and count > completions:
        why = f"must be less than or equal to {completions} (the number of specified completions)"
        problems.invalid(count_path, count, why)
    elif listed is not None and count > listed:
        why = f"must be less than or equal to {listed} (the number of indexes in the specified succeededIndexes field)"
        problems.invalid(count_path, count, why)


def count_indexes(text: str, completions: int | None) -> tuple[int | None, str | None]:
    """Count the indexes in a list such as `0,2-4` (Kubernetes 1.36 `validateIndexesFormat`).

    Returns None and the reason if the list is invalid.
    """
    total = 0
    last = -1
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


_IMMUTABLE_FIELDS = (
    "selector",
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
_SUSPENDED_MUTABLE_PATHS = (
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec", "nodeSelector"),
    ("spec", "tolerations"),
    ("spec", "schedulingGates"),
    ("spec", "affinity", "nodeAffinity"),
)
"""Template fields that may change while the Job is suspended."""

_TEMPLATE_PATH = ("spec", "template")
_SUSPEND_HELP = "suspend the Job before it starts to change where its pods run, or give each run its own name"


def job_update(update: Update) -> Problems:
    """Yield a problem for each forbidden change. The template may change only while the Job is suspended and has no
    pods.
    """
    for name in _IMMUTABLE_FIELDS:
        if update.under("spec", name):
            yield immutable(("spec", name), nested_map(update.new, "spec").get(name))
    yield from _completions_changes(update)
    yield from _lost_label(update)
    free = _mutable_template_paths(update)
    for path in _template_changes(update):
        if not any(_matches_prefix(path[2:], steps) for steps in free):
            inner = "spec" in path[2:3] and _resources_path() in free
            yield immutable(
                (*_TEMPLATE_PATH, "spec") if inner else _TEMPLATE_PATH, None, _SUSPEND_HELP if free else RECREATE_HELP
            )
            return


_NAME_LABEL = "batch.kubernetes.io/job-name"


def _lost_label(update: Update) -> Problems:
    """Yield a problem if the template loses the labels that the server gave it: an apply that drops all labels does."""
    path = (*_TEMPLATE_PATH, "metadata", "labels")
    before, after = (nested_map(manifest, *path) for manifest in (update.old, update.new))
    name = before.get(_NAME_LABEL)
    if nested_map(update.old, "spec").get("manualSelector") is not True and name and after.get(_NAME_LABEL) != name:
        text = f"Required value: must be '{name}'"
        help = "keep `labels`, and remove its entries one by one"
        yield problem_at("required-value", path, text, help, field=field_path((*path, _NAME_LABEL)))


def _template_changes(update: Update) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the template that differ; new metadata counts by its fields."""
    metadata = (*_TEMPLATE_PATH, "metadata")
    for path in update.under(*_TEMPLATE_PATH):
        if path == metadata:
            before, after = (nested_map(manifest, *metadata) for manifest in (update.old, update.new))
            yield from ((*path, str(key)) for key in {**before, **after} if before.get(key) != after.get(key))
        else:
            yield path


def _mutable_template_paths(update: Update) -> list[tuple[str, ...]]:
    """Return the paths inside the template that may change."""
    spec = nested_map(update.old, "spec")
    status = nested_map(update.old, "status")
    if spec.get("suspend") is not True or not _has_no_pods(status, update.versions.kubernetes):
        return []
    server = ApiServer(update.versions.kubernetes, gates=update.versions.gates_of("kubernetes"))
    if not server.has_gate("MutablePodResourcesForSuspendedJobs", 36):
        return list(_SUSPENDED_MUTABLE_PATHS)
    return [*_SUSPENDED_MUTABLE_PATHS, ("metadata",), _resources_path(), ("spec", "initContainers", "*", "resources")]


def _resources_path() -> tuple[str, ...]:
    return ("spec", "containers", "*", "resources")


def _has_no_pods(status: Json, kubernetes: tuple[int, int]) -> bool:
    """Return whether a suspended Job has no pods: until 1.35 it must never have started, later it may have stopped."""
    if status.get("startTime") is None:
        return True
    conditions = status.get("conditions")
    stopped = any(
        isinstance(condition, Mapping) and condition.get("type") == "Suspended" and condition.get("status") == "True"
        for condition in (conditions if isinstance(conditions, list) else ())
    )
    return kubernetes >= (1, 36) and stopped and not status.get("active")


def _matches_prefix(path: tuple[str, ...], steps: tuple[str, ...]) -> bool:
    return len(path) >= len(steps) and all(step in ("*", part) for step, part in zip(steps, path, strict=False))


def _completions_changes(update: Update) -> Problems:
    if not update.under("spec", "completions"):
        return
    spec = nested_map(update.new, "spec")
    completions_path = ("spec", "completions")
    completions: Any = spec.get("completions")
    if spec.get("completionMode") != "Indexed":
        yield immutable(completions_path, completions)
    elif completions is not None and completions != spec.get("parallelism"):
        help = "set parallelism to the same number; running pods keep the old number of pods"
        yield immutable(completions_path, completions, help, "can only be modified in tandem with spec.parallelism")
