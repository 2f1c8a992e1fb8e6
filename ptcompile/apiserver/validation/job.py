"""Job: creation, failure and success policies, updates.

Source: docs/facts/api-server.md#jobs 164 to 195, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.metadata import check_selector, generated_name, why_not_key
from ptcompile.apiserver.validation.pod import check_pod_only_rules, check_template
from ptcompile.apiserver.validation.pod_groups import check_job_scheduling
from ptcompile.diagnostics import Problems, field_path, problem_at
from ptcompile.diagnostics.field_errors import (
    RECREATE_HELP,
    FieldErrors,
    as_field_int,
    container_names,
    immutable,
    is_empty,
    key_path,
    quote_value,
    with_stage,
)
from ptcompile.diagnostics.fixes import FixTemplate
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_maps, nested_value

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


def check_job(job: FieldValue) -> None:
    """Check a Job, except its metadata. The name is checked because pod names and labels contain
    it.
    """
    spec = job["spec"]
    if spec.value is not None and not spec.is_mapping:
        return

    metadata = job["metadata"]
    template = spec["template"]
    pod = template["spec"]
    check_job_counts(spec)
    _check_name(metadata, spec.mapping)
    check_job_selector(spec, metadata.mapping)
    check_template(template)
    check_restart_policy(pod)

    # what the server accepts in a template but rejects in a Pod: such a Job creates no pod
    pods = FieldErrors()
    check_pod_only_rules(FieldValue(pod.value, pod.path, CheckScope(job.server, pods)))
    job.problems.extend(with_stage(pods, "pod"))


def check_restart_policy(pod: FieldValue) -> None:
    """Check that a Job's pods can end: restartPolicy must not be Always, which is the default."""
    policy = pod["restartPolicy"]
    if policy.value in (None, "", "Always"):
        help = "set restartPolicy: Never, or OnFailure to restart in place"
        fix = FixTemplate("set restartPolicy to Never", "set", "Never", safe=False).at(policy.path)
        pod.problems.required(policy.path, 'valid values: "OnFailure", "Never"', help, fix=fix)


def check_job_counts(spec: FieldValue) -> None:
    """Check the numbers, modes and policies of a Job's spec: everything except the template and
    the selector.
    """
    server = spec.server
    manager = spec["managedBy"]
    spec.check_not_negative(*_COUNT_FIELDS)
    spec["completionMode"].check_choice(("Indexed", "NonIndexed"))
    if spec.get("completionMode") == "Indexed":
        _check_indexed(spec)
        _check_index_limits(spec)
    else:
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if type(spec.get(name)) is int:
                spec[name].invalid(
                    "requires indexed completion mode", "set completionMode: Indexed"
                )

    has_failure_policy = spec.get("podFailurePolicy") is not None
    replacements = ("Failed",) if has_failure_policy else ("Failed", "TerminatingOrFailed")
    spec["podReplacementPolicy"].check_choice(replacements)
    if manager.is_text and server.has_gate("JobManagedBy", 32):
        if len(manager.value) > _MANAGED_BY_MAX:
            manager.too_long(_MANAGED_BY_MAX)
        else:
            manager.check_text(names.why_not_domain_prefixed_path)
    if spec.get("scheduling") is not None:
        check_job_scheduling(spec["scheduling"])
    check_failure_policy(spec)
    if server.has_gate("JobSuccessPolicy", 31):
        check_success_policy(spec)


def completions_of(spec: Json) -> int | None:
    """Return the defaulted `completions`: 1 if neither it nor `parallelism` is set, or None if
    it is not an integer.
    """
    completions = spec.get("completions")
    if completions is None and spec.get("parallelism") is None:
        return 1
    return as_field_int(completions)


def _check_indexed(spec: FieldValue) -> None:
    parallelism = spec["parallelism"]
    if spec.get("completions") is None and parallelism.value is not None:
        why = "when completion mode is Indexed"
        spec["completions"].required(why, "set it to the number of pods, like parallelism")
    if _is_above(parallelism, _PARALLELISM_MAX):
        parallelism.invalid(
            f"must be less than or equal to {_PARALLELISM_MAX} when completion mode is Indexed"
        )


def _is_above(number: FieldValue, limit: int) -> bool:
    return number.is_integer and bool(number.value > limit)


def _check_index_limits(spec: FieldValue) -> None:
    limit = spec["backoffLimitPerIndex"]
    failed = spec["maxFailedIndexes"]
    if failed.is_integer and limit.value is None:
        limit.required("when maxFailedIndexes is specified")
    completions = completions_of(spec.mapping)
    if completions is None:
        return

    if _is_above(failed, completions):
        failed.invalid("must be less than or equal to completions")
    elif _is_above(failed, _PARALLELISM_MAX):
        failed.invalid(f"must be less than or equal to {_PARALLELISM_MAX}")
    if limit.value is not None and completions > _MANY_COMPLETIONS:
        _check_many_completions(spec)


def _check_many_completions(spec: FieldValue) -> None:
    failed = spec["maxFailedIndexes"]
    when = f"when completions are above {_MANY_COMPLETIONS} and used with backoff limit per index"
    why = f"must be less than or equal to {_MANY_COMPLETIONS_LIMIT} {when}"
    if _is_above(spec["parallelism"], _MANY_COMPLETIONS_LIMIT):
        spec["parallelism"].invalid(why)
    if not failed.is_integer:
        failed.required(f"must be specified when completions is above {_MANY_COMPLETIONS}")
    elif _MANY_COMPLETIONS_LIMIT < failed.value <= _PARALLELISM_MAX:
        # a value above _PARALLELISM_MAX is rejected already
        failed.invalid(why)


def _check_name(meta: FieldValue, spec: Json) -> None:
    key = "name"
    name = meta.get("name")
    prefix = meta.get("generateName")
    if is_empty(name) and type(prefix) is str and prefix:
        key = "generateName"
        name = generated_name(prefix)
    if type(name) is not str or not names.is_dns_subdomain(name):
        # the name is reported with the metadata
        return

    completions = completions_of(spec)
    if spec.get("completionMode") == "Indexed":
        last = f"{name}-{completions - 1}" if completions else ""
        if last and (why := names.why_not_dns_label(last)):
            message = f"will not able to create pod with invalid DNS label {last}: {why}"
            meta[key].replaced(name).invalid(message, "shorten the name, and keep dots out of it")
            return
    if len(name) > names.LABEL_VALUE_MAX:
        why = (
            f"must be no more than {names.LABEL_VALUE_MAX} bytes, because it becomes a label of "
            "the pods"
        )
        meta[key].replaced(name).invalid(why, "shorten the name", "spec.template.labels")


def check_job_selector(spec: FieldValue, meta: Json) -> None:
    """Check the selector and the labels that the server generates unless `manualSelector` is
    set.
    """
    selector = spec["selector"]
    before = len(spec.problems)
    selector.check(check_selector)
    if spec.get("manualSelector") is True:
        selector.check_set()
        labels = spec["template"]["metadata"]["labels"]
        is_valid = selector.is_mapping and len(spec.problems) == before
        if is_valid and not selects(selector.value, labels.mapping):
            labels.replaced(labels.mapping).invalid("`selector` does not match template `labels`")
        return

    generated = _generated_labels(meta)
    if selector.is_mapping and not selects(selector.value, generated):
        selector.invalid(
            "`selector` not auto-generated", "remove the selector: the server makes one"
        )
    elif selector.is_mapping and meta.get("resourceVersion"):
        spec.problems.append(
            problem_at(
                "invalid-value",
                selector.path,
                "the server generated it for this Job, and refuses it in a new one",
                "to create the Job again, remove the selector and the labels with the "
                "controller's uid",
                severity="note",
            )
        )
    if nested_map(spec.value, "template", "metadata", "labels"):
        _check_labels(spec["template"]["metadata"]["labels"], meta.get("name"), generated)


def _check_labels(labels: FieldValue, name: Any, generated: Json) -> None:
    """Reject labels of the template that the server sets to another value."""
    if name:
        why_name = f"must be the Job's name, {quote_value(name)}"
    else:
        why_name = "must be the Job's name, not known yet"

    has_name = type(name) is str or name is None
    keys = (*_NAME_LABELS, *_UID_LABELS) if has_name else _UID_LABELS
    for key in keys:
        label = labels[key]
        if label.is_text and label.value != generated[key]:
            if key in _UID_LABELS:
                why = "must be the Job's uid, which the server gives"
            else:
                why = why_name
            label.invalid(why, "remove the label", key_path(label.path))


def _generated_labels(meta: Json) -> Json:
    """Return the labels that the server adds to a Job's pods; a Job that no server stored has a
    placeholder as uid.
    """
    is_stored = meta.get("resourceVersion") and meta.get("uid")
    uid = meta["uid"] if is_stored else object()
    return {**dict.fromkeys(_NAME_LABELS, meta.get("name")), **dict.fromkeys(_UID_LABELS, uid)}


_RULES_MAX = 20
_PATTERNS_MAX = 20
_CODES_MAX = 255
_INDEXES_MAX = 64 * 1024
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_is_number = Pattern(r"[+-]?[0-9]{1,18}").fullmatch


def check_failure_policy(spec: FieldValue) -> None:
    """Check `podFailurePolicy` of a Job's spec, which requires restartPolicy Never."""
    policy = spec["podFailurePolicy"]
    if not policy.is_mapping:
        return

    pod = spec["template"]["spec"]
    if pod.get("restartPolicy") == "OnFailure":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        pod["restartPolicy"].invalid(why, "set restartPolicy: Never")
    policy["rules"].check_length(_RULES_MAX)
    known_containers = container_names(pod.mapping)
    for rule in policy["rules"].objects():
        _check_rule(rule, spec.get("backoffLimitPerIndex") is not None, known_containers)


def _check_rule(rule: FieldValue, has_index_limit: bool, known_containers: set[str]) -> None:
    action = rule["action"]
    codes = rule["onExitCodes"]
    conditions = rule["onPodConditions"]
    action.check_required_choice(_ACTIONS, f"valid values: {', '.join(_ACTIONS)}")
    if action.value == "FailIndex" and not has_index_limit:
        action.invalid("requires the backoffLimitPerIndex to be set")
    if codes.is_mapping:
        _check_codes(codes, known_containers)
    conditions.check_length(_PATTERNS_MAX)
    for condition in conditions.objects():
        condition["type"].or_default("").check_text(why_not_key)
        if not condition["status"].is_empty:
            condition["status"].check_choice(("False", "True", "Unknown"))

    if codes.value is not None and conditions.value:
        rule.invalid("specifying both OnExitCodes and OnPodConditions is not supported", "split it")
    elif codes.value is None and not conditions.value:
        why = "specifying one of OnExitCodes and OnPodConditions is required"
        rule.invalid(why, "set onExitCodes or onPodConditions")


def _check_codes(codes: FieldValue, known_containers: set[str]) -> None:
    name = codes["containerName"]
    values = codes["values"]
    codes["operator"].check_required_choice(("In", "NotIn"), 'valid values: "In", "NotIn"')
    if name.is_text and name.value not in known_containers:
        name.invalid("must be one of the container or initContainer names")
    if values.value in (None, []):
        values.replaced([]).invalid("at least one value is required", "list exit codes")
    elif values.is_list:
        values.check_length(_CODES_MAX)
        numbers = [0 if value is None else value for value in values.value]
        integers = [value for value in numbers if type(value) is int]
        _check_numbers(values.replaced(integers), zero_is_wrong=codes.get("operator") == "In")


def _check_numbers(numbers: FieldValue, *, zero_is_wrong: bool) -> None:
    seen: set[int] = set()
    for number in numbers.items(numbers.value):
        if zero_is_wrong and number.value == 0:
            number.invalid("must not be 0 for the In operator", "remove it: 0 is not a failure")
        number.check_unseen(seen)
    if numbers.value != sorted(numbers.value):
        numbers.invalid("must be ordered", "sort the exit codes")


def check_success_policy(spec: FieldValue) -> None:
    """Check `successPolicy` of a Job's spec."""
    policy = spec["successPolicy"]
    if not policy.is_mapping:
        return

    if spec.get("completionMode") != "Indexed":
        policy.invalid("requires indexed completion mode", "set completionMode: Indexed")
        return

    rules = policy["rules"]
    if rules.value in (None, []):
        rules.required("at least one rules must be specified when the successPolicy is specified")
    rules.check_length(_RULES_MAX)
    for rule in rules.objects():
        _check_success_rule(rule, completions_of(spec.mapping))


def _check_success_rule(rule: FieldValue, completions: int | None) -> None:
    count = rule["succeededCount"]
    indexes = rule["succeededIndexes"]
    if count.value is None and indexes.value is None:
        rule.required("at least one of succeededCount or succeededIndexes must be specified")
    listed = None
    if indexes.is_text and len(indexes.value) > _INDEXES_MAX:
        indexes.too_long(_INDEXES_MAX)
    elif indexes.is_text:
        listed, why_not = count_indexes(indexes.value, completions)
        if why_not:
            indexes.invalid(f"error parsing succeededIndexes: {why_not}", "write it as 0,2-4")
    if not count.is_integer:
        return

    if count.value < 0:
        count.invalid("must be greater than or equal to 0")
    elif completions is not None and count.value > completions:
        count.invalid(
            f"must be less than or equal to {completions} (the number of specified completions)"
        )
    elif listed is not None and count.value > listed:
        which = "the number of indexes in the specified succeededIndexes field"
        count.invalid(f"must be less than or equal to {listed} ({which})")


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
            if position == 0:
                start = value
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

_RESOURCES_PATH = ("spec", "containers", "*", "resources")
_TEMPLATE_PATH = ("spec", "template")
_SUSPEND_HELP = (
    "suspend the Job before it starts to change where its pods run, or give each run its own name"
)


def job_update(update: Update) -> Problems:
    """Yield a problem for each forbidden change. The template may change only while the Job is
    suspended and has no pods.
    """
    for name in _IMMUTABLE_FIELDS:
        if update.under("spec", name):
            yield immutable(("spec", name), nested_value(update.new, "spec", name))
    yield from _completions_changes(update)
    yield from _lost_label(update)
    free = _mutable_template_paths(update)
    for path in _template_changes(update):
        if not any(_matches_prefix(path[2:], steps) for steps in free):
            inner = "spec" in path[2:3] and _RESOURCES_PATH in free
            yield immutable(
                (*_TEMPLATE_PATH, "spec") if inner else _TEMPLATE_PATH,
                None,
                _SUSPEND_HELP if free else RECREATE_HELP,
            )
            return


_NAME_LABEL = "batch.kubernetes.io/job-name"


def _lost_label(update: Update) -> Problems:
    """Yield a problem if the template loses the labels that the server gave it: an apply that
    drops all labels does.
    """
    path = (*_TEMPLATE_PATH, "metadata", "labels")
    before, after = update.maps(*path)
    name = before.get(_NAME_LABEL)
    if (
        nested_value(update.old, "spec", "manualSelector") is not True
        and name
        and after.get(_NAME_LABEL) != name
    ):
        text = f"Required value: must be '{name}'"
        help = "keep `labels`, and remove its entries one by one"
        yield problem_at("required-value", path, text, help, field=field_path((*path, _NAME_LABEL)))


def _template_changes(update: Update) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the template that differ; new metadata counts by its fields."""
    metadata = (*_TEMPLATE_PATH, "metadata")
    for path in update.under(*_TEMPLATE_PATH):
        if path == metadata:
            before, after = update.maps(*metadata)
            yield from (
                (*path, str(key))
                for key in {**before, **after}
                if before.get(key) != after.get(key)
            )
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

    return [
        *_SUSPENDED_MUTABLE_PATHS,
        ("metadata",),
        _RESOURCES_PATH,
        ("spec", "initContainers", "*", "resources"),
    ]


def _has_no_pods(status: Json, kubernetes: tuple[int, int]) -> bool:
    """Return whether a suspended Job has no pods: until 1.35 it must never have started, later
    it may have stopped.
    """
    if status.get("startTime") is None:
        return True

    stopped = any(
        condition.get("type") == "Suspended" and condition.get("status") == "True"
        for condition in nested_maps(status, "conditions")
    )

    return kubernetes >= (1, 36) and stopped and not status.get("active")


def _matches_prefix(path: tuple[str, ...], steps: tuple[str, ...]) -> bool:
    return len(path) >= len(steps) and all(
        step in ("*", part) for step, part in zip(steps, path, strict=False)
    )


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
        yield immutable(
            completions_path,
            completions,
            help,
            "can only be modified in tandem with spec.parallelism",
        )
