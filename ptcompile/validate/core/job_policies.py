"""A Job's podFailurePolicy and successPolicy.

Source: docs/facts/api-server.md#jobs 179 to 193, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.validate.core import found as f
from ptcompile.validate.core.metadata import why_not_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_RULES_MAX: Final = 20
_PATTERNS_MAX: Final = 20
_CODES_MAX: Final = 255
_INDEXES_MAX: Final = 64 * 1024
_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_is_number = Pattern(r"[+-]?[0-9]{1,18}").fullmatch


def check_failure_policy(spec: dict[str, Any], path: Path, found: f.Found) -> None:
    """`podFailurePolicy` of a Job's spec. It wants restartPolicy Never (rule 166)."""
    policy = spec.get("podFailurePolicy")
    if type(policy) is not dict:
        return
    here = (*path, "podFailurePolicy", "rules")
    pod = f.mapping(f.mapping(spec.get("template")).get("spec"))
    if pod.get("restartPolicy") == "OnFailure":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        f.invalid(found, (*path, "template", "spec", "restartPolicy"), "OnFailure", why, "set restartPolicy: Never")
    rules = policy.get("rules")
    if type(rules) is list and len(rules) > _RULES_MAX:
        f.too_many(found, here, len(rules), _RULES_MAX)
    known = f.container_names(pod)
    for index, rule in f.objects(rules):
        _check_rule(rule, (*here, index), spec, known, found)


def _check_rule(rule: dict[str, Any], path: Path, spec: dict[str, Any], known: set[str], found: f.Found) -> None:
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
    for index, condition in f.objects(conditions):
        _check_condition(condition, (*path, "onPodConditions", index), found)
    if codes is not None and conditions:
        f.invalid(found, path, rule, "specifying both OnExitCodes and OnPodConditions is not supported", "split it")
    elif codes is None and not conditions:
        why = "specifying one of OnExitCodes and OnPodConditions is required"
        f.invalid(found, path, rule, why, "say which failures the rule is for")


def _check_codes(codes: dict[str, Any], path: Path, known: set[str], found: f.Found) -> None:
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


def _check_numbers(values: list[int], path: Path, zero_is_wrong: bool, found: f.Found) -> None:
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


def _check_condition(condition: dict[str, Any], path: Path, found: f.Found) -> None:
    kind, status = condition.get("type") or "", condition.get("status")
    if type(kind) is str and (why := why_not_key(kind)):
        f.invalid(found, (*path, "type"), kind, why)
    if not f.is_empty(status):
        f.check_choice(found, (*path, "status"), status, ("False", "True", "Unknown"))


def check_success_policy(spec: dict[str, Any], path: Path, found: f.Found) -> None:
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
    completions = 1 if total is None and spec.get("parallelism") is None else f.integer(total)
    for index, rule in f.objects(rules):
        _check_success_rule(rule, (*here, "rules", index), completions, found)


def _check_success_rule(rule: dict[str, Any], path: Path, completions: int | None, found: f.Found) -> None:
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
