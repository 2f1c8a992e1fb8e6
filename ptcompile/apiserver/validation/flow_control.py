"""FlowSchema and PriorityLevelConfiguration.

Source: Kubernetes 1.36 `pkg/apis/flowcontrol/validation`, in its order and words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings, indexed_texts
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_mapping, as_strings, nested_map

_PRECEDENCE_DEFAULT = 1000
_PRECEDENCE_MAX = 10_000
_QUEUES_MAX = 10_000_000
_HASH_BITS_MAX = 60
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_QUEUING_DEFAULTS = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}

_FIXED_SCHEMAS: Mapping[str, Json] = load_table("apiserver/validation/flow_schemas.json")["schemas"]
"""Specs that the server does not let change, by the name of the FlowSchema."""


def _without_zeros(value: Any) -> Any:
    """Return a value without the fields that equal Go's zero values."""
    if type(value) is dict:
        return {k: kept for k, v in value.items() if (kept := _without_zeros(v)) not in (None, "", 0, False, [])}
    return [_without_zeros(item) for item in value] if type(value) is list else value


def check_flow_schema(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a FlowSchema, except its metadata."""
    spec = nested_map(manifest, "spec")
    path = ("spec",)
    name = nested_map(manifest, "metadata").get("name")
    _check_precedence(spec.get("matchingPrecedence") or _PRECEDENCE_DEFAULT, path, name, problems)
    method = spec.get("distinguisherMethod")
    if type(method) is dict:
        problems.check_choice(
            (*path, "distinguisherMethod", "type"), method.get("type") or "", ("ByNamespace", "ByUser")
        )
    level_path = (*path, "priorityLevelConfiguration", "name")
    level = nested_map(spec, "priorityLevelConfiguration").get("name")
    why = "must reference a priority level"
    problems.check_required_text(level_path, level, names.why_not_dns_subdomain, detail=why)
    for index, rule in indexed_mappings(spec.get("rules")):
        _check_rule(rule, (*path, "rules", index), problems)
    if type(name) is str and name in _FIXED_SCHEMAS:
        written = _without_zeros({"matchingPrecedence": _PRECEDENCE_DEFAULT, **spec})
        if written != _FIXED_SCHEMAS[name]:
            problems.invalid(path, spec, f"spec of '{name}' must equal the fixed value", "use another name")


def _check_precedence(precedence: Any, path: Path, name: Any, problems: FieldErrors) -> None:
    if type(precedence) is not int:
        return
    precedence_path = (*path, "matchingPrecedence")
    if precedence <= 0:
        problems.invalid(precedence_path, precedence, "must be a positive value")
    elif precedence > _PRECEDENCE_MAX:
        problems.invalid(precedence_path, precedence, f"must not be greater than {_PRECEDENCE_MAX}")
    elif precedence == 1 and name != "exempt":
        problems.invalid(precedence_path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")


def _check_rule(rule: Json, path: Path, problems: FieldErrors) -> None:
    if not rule.get("subjects"):
        problems.required((*path, "subjects"), "subjects must contain at least one value")
    for index, subject in indexed_mappings(rule.get("subjects")):
        _check_subject(subject, (*path, "subjects", index), problems)
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        why = "at least one of resourceRules and nonResourceRules has to be non-empty"
        problems.required(path, why, "say which requests the rule is for")
    for index, resource_rule in indexed_mappings(rule.get("resourceRules")):
        _check_resource_rule(resource_rule, (*path, "resourceRules", index), problems)
    for index, url_rule in indexed_mappings(rule.get("nonResourceRules")):
        _check_url_rule(url_rule, (*path, "nonResourceRules", index), problems)


_SUBJECT_FIELDS = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}


def _check_subject(subject: Json, path: Path, problems: FieldErrors) -> None:
    kind = subject.get("kind") or ""
    if type(kind) is not str:
        return
    if kind not in _SUBJECT_FIELDS:
        problems.unsupported((*path, "kind"), kind, _SUBJECT_FIELDS)
        return
    own_field = _SUBJECT_FIELDS[kind]
    named = subject.get(own_field)
    named_path = (*path, own_field)
    if named is None:
        problems.required(named_path, f"{own_field} is required when subject kind is '{kind}'")
    elif type(named) is dict:
        name = named.get("name")
        problems.check_required(named, named_path, "name")
        if own_field == "serviceAccount":
            if type(name) is str and name not in ("", "*") and (why := names.why_not_dns_subdomain(name)):
                problems.invalid((*named_path, "name"), name, why)
            _check_namespace(named.get("namespace"), (*named_path, "namespace"), problems)
    for other, field in _SUBJECT_FIELDS.items():
        if field != own_field and subject.get(field) is not None:
            problems.forbidden((*path, field), f"{field} is forbidden when subject kind is not '{other}'")


def _check_namespace(namespace: Any, path: Path, problems: FieldErrors) -> None:
    why = "must specify namespace for service account"
    problems.check_required_text(path, namespace, names.why_not_dns_label, detail=why)


def _check_verbs(rule: Json, path: Path, problems: FieldErrors) -> None:
    verbs = as_strings(rule.get("verbs"))
    verbs_path = (*path, "verbs")
    if not rule.get("verbs"):
        problems.required(verbs_path, "verbs must contain at least one value")
    elif "*" in verbs:
        _check_alone(verbs, verbs_path, "verbs", problems)
    elif unknown := [verb for verb in verbs if verb not in _VERBS]:
        problems.unsupported(verbs_path, unknown[0], _VERBS)


def _check_alone(values: list[str], path: Path, what: str, problems: FieldErrors) -> None:
    """Check that a list with `*` has no other items."""
    if len(values) > 1 and "*" in values:
        why = f"if '*' is present, must not specify other {what}"
        problems.invalid(path, values, why, "keep '*', or the other items")


def _check_resource_rule(rule: Json, path: Path, problems: FieldErrors) -> None:
    _check_verbs(rule, path, problems)
    for key, singular, plural in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        if not rule.get(key):
            problems.required((*path, key), f"resource rules must supply at least one {singular}")
        _check_alone(as_strings(rule.get(key)), (*path, key), plural, problems)
    namespaces = as_strings(rule.get("namespaces"))
    namespaces_path = (*path, "namespaces")
    if not rule.get("namespaces") and not rule.get("clusterScope"):
        why = "resource rules that are not cluster scoped must supply at least one namespace"
        problems.required(namespaces_path, why, "list namespaces, or set clusterScope: true")
    elif "*" in namespaces:
        _check_alone(namespaces, namespaces_path, "namespaces", problems)
    else:
        for index, namespace in indexed_texts(rule.get("namespaces")):
            if why_not := names.why_not_dns_label(namespace):
                why = f"each member of this list must be '*' or a DNS-1123 label; {why_not}"
                problems.invalid((*namespaces_path, index), namespace, why)


def _check_url_rule(rule: Json, path: Path, problems: FieldErrors) -> None:
    _check_verbs(rule, path, problems)
    urls = as_strings(rule.get("nonResourceURLs"))
    urls_path = (*path, "nonResourceURLs")
    if not rule.get("nonResourceURLs"):
        problems.required(urls_path, "nonResourceURLs must contain at least one value")
    elif "*" in urls:
        _check_alone(urls, urls_path, "non-resource URLs", problems)
    else:
        for index, url in indexed_texts(rule.get("nonResourceURLs")):
            problems.check_text((*urls_path, index), url, _why_not_url_path)


def _why_not_url_path(text: str) -> str | None:
    if not text:
        return "must not be empty"
    if text == "/":
        return None
    if not text.startswith("/"):
        return "must start with slash"
    if " " in text:
        return "must not contain white-space"
    if "//" in text:
        return "must not contain double slash"
    if text.count("*") > 1 or ("*" in text and not text.endswith("/*")):
        return "wildcard can only do suffix matching"
    return None


def check_priority_level(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a PriorityLevelConfiguration, except its metadata."""
    spec = nested_map(manifest, "spec")
    path = ("spec",)
    name = nested_map(manifest, "metadata").get("name")
    level = spec.get("type") or ""
    limited = spec.get("limited")
    exempt = spec.get("exempt")
    if type(level) is not str:
        return
    if (name == "exempt") != (level == "Exempt"):
        why = "must be 'Exempt' if and only if `name` is 'exempt'"
        problems.invalid((*path, "type"), level, why, "set type: Limited, or rename the object")
    if level == "Exempt":
        if limited is not None:
            problems.forbidden((*path, "limited"), "must be nil if the type is not Limited")
        _check_exempt(as_mapping(exempt), (*path, "exempt"), problems)
    elif level == "Limited":
        if exempt is not None:
            problems.forbidden((*path, "exempt"), "must be nil if the type is Limited")
        if limited is None:
            problems.required((*path, "limited"), "must not be empty when type is Limited")
        elif type(limited) is dict:
            _check_limited(limited, (*path, "limited"), problems)
    else:
        problems.unsupported((*path, "type"), level, ("Exempt", "Limited"))
    _check_fixed_level(spec, name, path, problems)


def _check_fixed_level(spec: Json, name: Any, path: Path, problems: FieldErrors) -> None:
    written = _without_zeros(spec)
    if name == "exempt" and {key for key in written if key != "exempt"} != {"type"}:
        why = "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value"
        problems.invalid(path, spec, why, "use another name")
    fixed = {"type": "Limited", "limited": {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"}}}
    if name == "catch-all" and written != fixed:
        problems.invalid(path, spec, "spec of 'catch-all' must equal the fixed value", "use another name")


def _check_exempt(exempt: Json, path: Path, problems: FieldErrors) -> None:
    _check_shares(exempt.get("nominalConcurrencyShares"), path, problems)
    problems.check_range((*path, "lendablePercent"), exempt.get("lendablePercent"), 0, 100)


def _check_shares(shares: Any, path: Path, problems: FieldErrors) -> None:
    if type(shares) is int and shares < 0:
        problems.invalid((*path, "nominalConcurrencyShares"), shares, "must be a non-negative integer")


def _check_limited(limited: Json, path: Path, problems: FieldErrors) -> None:
    _check_shares(limited.get("nominalConcurrencyShares"), path, problems)
    _check_response(nested_map(limited, "limitResponse"), (*path, "limitResponse"), problems)
    problems.check_range((*path, "lendablePercent"), limited.get("lendablePercent"), 0, 100)
    borrowing = limited.get("borrowingLimitPercent")
    if type(borrowing) is int and borrowing < 0:
        why = "if specified, must be a non-negative integer"
        problems.invalid((*path, "borrowingLimitPercent"), borrowing, why)


def _check_response(response: Json, path: Path, problems: FieldErrors) -> None:
    kind = response.get("type") or ""
    queuing = response.get("queuing")
    queuing_path = (*path, "queuing")
    if kind == "Reject":
        if queuing is not None:
            problems.forbidden(queuing_path, "must be nil if limited.limitResponse.type is not Limited")
    elif kind == "Queue":
        if queuing is None:
            problems.required(queuing_path, "must not be empty if limited.limitResponse.type is Limited")
        elif type(queuing) is dict:
            _check_queuing(queuing, queuing_path, problems)
    else:
        problems.check_choice((*path, "type"), kind, ("Queue", "Reject"))


def _check_queuing(queuing: Json, path: Path, problems: FieldErrors) -> None:
    sizes = {name: queuing.get(name) or default for name, default in _QUEUING_DEFAULTS.items()}
    queues = sizes["queues"]
    hand = sizes["handSize"]
    for name in ("queueLengthLimit", "queues"):
        if type(sizes[name]) is int and sizes[name] <= 0:
            problems.invalid((*path, name), sizes[name], "must be positive")
    if type(queues) is not int or type(hand) is not int:
        return
    if queues > _QUEUES_MAX:
        problems.invalid((*path, "queues"), queues, f"must not be greater than {_QUEUES_MAX}")
    hand_path = (*path, "handSize")
    if hand <= 0:
        problems.invalid(hand_path, hand, "must be positive")
    elif hand > queues:
        problems.invalid(hand_path, hand, f"should not be greater than queues ({queues})")
    elif math.ceil(math.log2(queues) * hand) > _HASH_BITS_MAX:
        why = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than "
            f"{_HASH_BITS_MAX}"
        )
        problems.invalid(hand_path, hand, why, "lower handSize or queues")
