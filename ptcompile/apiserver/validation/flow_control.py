"""FlowSchema and PriorityLevelConfiguration.

Source: Kubernetes 1.36 `pkg/apis/flowcontrol/validation`, in its order and words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import Json

_PRECEDENCE_DEFAULT = 1000
_PRECEDENCE_MAX = 10_000
_QUEUES_MAX = 10_000_000
_HASH_BITS_MAX = 60
_VERBS = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
)
_QUEUING_DEFAULTS = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}

_FIXED_SCHEMAS: Mapping[str, Json] = load_table("apiserver/validation/flow_schemas.json")["schemas"]
"""Specs that the server does not let change, by the name of the FlowSchema."""


def _without_zeros(value: Any) -> Any:
    """Return a value without the fields that equal Go's zero values."""
    if type(value) is dict:
        return {
            k: kept
            for k, v in value.items()
            if (kept := _without_zeros(v)) not in (None, "", 0, False, [])
        }
    if type(value) is list:
        return [_without_zeros(item) for item in value]
    return value


def check_flow_schema(schema: FieldValue) -> None:
    """Check a FlowSchema, except its metadata."""
    spec = schema["spec"]
    name = schema["metadata"].get("name")
    method = spec["distinguisherMethod"]
    _check_precedence(spec["matchingPrecedence"].or_default(_PRECEDENCE_DEFAULT), name)
    if method.is_mapping:
        method["type"].or_default("").check_choice(("ByNamespace", "ByUser"))
    level = spec["priorityLevelConfiguration"]["name"]
    level.check_required_text(names.why_not_dns_subdomain, detail="must reference a priority level")
    for rule in spec["rules"].objects():
        _check_rule(rule)
    if type(name) is str and name in _FIXED_SCHEMAS:
        written = _without_zeros({"matchingPrecedence": _PRECEDENCE_DEFAULT, **spec.mapping})
        if written != _FIXED_SCHEMAS[name]:
            why = f"spec of '{name}' must equal the fixed value"
            spec.replaced(spec.mapping).invalid(why, "use another name")


def _check_precedence(precedence: FieldValue, name: Any) -> None:
    number = precedence.value
    if type(number) is not int:
        return
    if number <= 0:
        precedence.invalid("must be a positive value")
    elif number > _PRECEDENCE_MAX:
        precedence.invalid(f"must not be greater than {_PRECEDENCE_MAX}")
    elif number == 1 and name != "exempt":
        precedence.invalid("only the schema named 'exempt' may have matchingPrecedence 1")


def _check_rule(rule: FieldValue) -> None:
    if not rule.get("subjects"):
        rule["subjects"].required("subjects must contain at least one value")
    for subject in rule["subjects"].objects():
        _check_subject(subject)
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        why = "at least one of resourceRules and nonResourceRules has to be non-empty"
        rule.required(why, "say which requests the rule is for")
    for resource_rule in rule["resourceRules"].objects():
        _check_resource_rule(resource_rule)
    for url_rule in rule["nonResourceRules"].objects():
        _check_url_rule(url_rule)


_SUBJECT_FIELDS = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}


def _check_subject(subject: FieldValue) -> None:
    kind = subject["kind"].or_default("")
    if not kind.is_text:
        return
    if kind.value not in _SUBJECT_FIELDS:
        kind.unsupported(_SUBJECT_FIELDS)
        return

    own_field = _SUBJECT_FIELDS[kind.value]
    named = subject[own_field]
    named.check_set(f"{own_field} is required when subject kind is '{kind.value}'")
    if named.is_mapping:
        named.require("name")
        if own_field == "serviceAccount":
            if named.get("name") != "*":
                named["name"].check_optional_text(names.why_not_dns_subdomain)
            why = "must specify namespace for service account"
            named["namespace"].check_required_text(names.why_not_dns_label, detail=why)

    for other, field in _SUBJECT_FIELDS.items():
        if field != own_field:
            subject[field].check_unset(f"{field} is forbidden when subject kind is not '{other}'")


def _check_verbs(verbs: FieldValue) -> None:
    texts = verbs.strings
    if not verbs.value:
        verbs.required("verbs must contain at least one value")
    elif "*" in texts:
        _check_alone(verbs, "verbs")
    elif unknown := [verb for verb in texts if verb not in _VERBS]:
        verbs.replaced(unknown[0]).unsupported(_VERBS)


def _check_alone(items: FieldValue, what: str) -> None:
    """Check that a list with `*` has no other items."""
    texts = items.strings
    if len(texts) > 1 and "*" in texts:
        why = f"if '*' is present, must not specify other {what}"
        items.replaced(texts).invalid(why, "keep '*', or the other items")


def _check_resource_rule(rule: FieldValue) -> None:
    _check_verbs(rule["verbs"])
    for key, singular, plural in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        if not rule.get(key):
            rule[key].required(f"resource rules must supply at least one {singular}")
        _check_alone(rule[key], plural)

    namespaces = rule["namespaces"]
    if not namespaces.value and not rule.get("clusterScope"):
        why = "resource rules that are not cluster scoped must supply at least one namespace"
        namespaces.required(why, "list namespaces, or set clusterScope: true")
    elif "*" in namespaces.strings:
        _check_alone(namespaces, "namespaces")
    else:
        for namespace in namespaces.texts():
            if why_not := names.why_not_dns_label(namespace.value):
                namespace.invalid(
                    f"each member of this list must be '*' or a DNS-1123 label; {why_not}"
                )


def _check_url_rule(rule: FieldValue) -> None:
    urls = rule["nonResourceURLs"]
    _check_verbs(rule["verbs"])
    if not urls.value:
        urls.required("nonResourceURLs must contain at least one value")
    elif "*" in urls.strings:
        _check_alone(urls, "non-resource URLs")
    else:
        for url in urls.texts():
            url.check_text(_why_not_url_path)


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


def check_priority_level(configuration: FieldValue) -> None:
    """Check a PriorityLevelConfiguration, except its metadata."""
    spec = configuration["spec"]
    name = configuration["metadata"].get("name")
    level = spec["type"].or_default("")
    limited = spec["limited"]
    exempt = spec["exempt"]
    if not level.is_text:
        return

    if (name == "exempt") != (level.value == "Exempt"):
        why = "must be 'Exempt' if and only if `name` is 'exempt'"
        level.invalid(why, "set type: Limited, or rename the object")
    if level.value == "Exempt":
        limited.check_unset("must be nil if the type is not Limited")
        exempt["nominalConcurrencyShares"].check_at_least(0, _NEGATIVE_SHARES)
        exempt["lendablePercent"].check_range(0, 100)
    elif level.value == "Limited":
        exempt.check_unset("must be nil if the type is Limited")
        limited.check_set("must not be empty when type is Limited")
        if limited.is_mapping:
            _check_limited(limited)
    else:
        level.unsupported(("Exempt", "Limited"))

    _check_fixed_level(spec.replaced(spec.mapping), name)


def _check_fixed_level(spec: FieldValue, name: Any) -> None:
    written = _without_zeros(spec.value)
    if name == "exempt" and {key for key in written if key != "exempt"} != {"type"}:
        spec.invalid(
            "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value",
            "use another name",
        )

    fixed = {
        "type": "Limited",
        "limited": {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"}},
    }
    if name == "catch-all" and written != fixed:
        spec.invalid("spec of 'catch-all' must equal the fixed value", "use another name")


_NEGATIVE_SHARES = "must be a non-negative integer"


def _check_limited(limited: FieldValue) -> None:
    limited["nominalConcurrencyShares"].check_at_least(0, _NEGATIVE_SHARES)
    _check_response(limited["limitResponse"])
    limited["lendablePercent"].check_range(0, 100)
    limited["borrowingLimitPercent"].check_at_least(
        0, "if specified, must be a non-negative integer"
    )


def _check_response(response: FieldValue) -> None:
    kind = response["type"].or_default("")
    queuing = response["queuing"]
    if kind.value == "Reject":
        queuing.check_unset("must be nil if limited.limitResponse.type is not Limited")
    elif kind.value == "Queue":
        queuing.check_set("must not be empty if limited.limitResponse.type is Limited")
        if queuing.is_mapping:
            _check_queuing(queuing)
    else:
        kind.check_choice(("Queue", "Reject"))


def _check_queuing(queuing: FieldValue) -> None:
    sizes = {name: queuing[name].or_default(default) for name, default in _QUEUING_DEFAULTS.items()}
    for name in ("queueLengthLimit", "queues"):
        sizes[name].check_at_least(1, "must be positive")
    hand = sizes["handSize"]
    size = hand.value
    queues = sizes["queues"].value
    if type(queues) is not int or type(size) is not int:
        return

    if queues > _QUEUES_MAX:
        sizes["queues"].invalid(f"must not be greater than {_QUEUES_MAX}")
    if size <= 0:
        hand.invalid("must be positive")
    elif size > queues:
        hand.invalid(f"should not be greater than queues ({queues})")
    elif math.ceil(math.log2(queues) * size) > _HASH_BITS_MAX:
        sizes_text = f"deckSize {queues} and handSize {size}"
        why = f"required entropy bits of {sizes_text} should not be greater than {_HASH_BITS_MAX}"
        hand.invalid(why, "lower handSize or queues")
