"""FlowSchema and PriorityLevelConfiguration, as kube-apiserver 1.36 validates them."""

from __future__ import annotations

import pytest

from tests.apiserver.validation.small_kinds import Row, check_row, kind, messages
from tests.differ.applying.test_updates import changed

GROUP = "flowcontrol.apiserver.k8s.io/v1"
RULE = {
    "subjects": [{"kind": "ServiceAccount", "serviceAccount": {"name": "s", "namespace": "n"}}],
    "resourceRules": [
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["n"]}
    ],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["/healthz"]}],
}
QUEUES = {"type": "Queue", "queuing": {"queues": 64, "handSize": 6, "queueLengthLimit": 50}}
GOOD = {
    "schema": kind(
        GROUP,
        "FlowSchema",
        spec={
            "priorityLevelConfiguration": {"name": "l"},
            "matchingPrecedence": 500,
            "rules": [RULE],
        },
    ),
    "level": kind(
        GROUP,
        "PriorityLevelConfiguration",
        spec={"type": "Limited", "limited": {"limitResponse": QUEUES}},
    ),
}
SUBJECT, RESOURCE, URL = (
    "spec.rules.0.subjects.0",
    "spec.rules.0.resourceRules.0",
    "spec.rules.0.nonResourceRules.0",
)
RESPONSE = "spec.limited.limitResponse"

ROWS: list[Row] = [
    ("schema", "spec.matchingPrecedence", 0, ""),  # the default
    (
        "schema",
        "spec.matchingPrecedence",
        -1,
        "spec.matchingPrecedence: Invalid value: -1: must be a positive value",
    ),
    (
        "schema",
        "spec.matchingPrecedence",
        10001,
        "spec.matchingPrecedence: Invalid value: 10001: must not be greater",
    ),
    (
        "schema",
        "spec.matchingPrecedence",
        1,
        "spec.matchingPrecedence: Invalid value: 1: only the schema named",
    ),
    ("schema", "spec.distinguisherMethod", {"type": "ByUser"}, ""),
    (
        "schema",
        "spec.distinguisherMethod",
        {"type": "x"},
        "spec.distinguisherMethod.type: Unsupported value",
    ),
    (
        "schema",
        "spec.priorityLevelConfiguration.name",
        "",
        "spec.priorityLevelConfiguration.name: Required value: must",
    ),
    (
        "schema",
        "spec.priorityLevelConfiguration.name",
        "A",
        "spec.priorityLevelConfiguration.name: Invalid value",
    ),
    (
        "schema",
        "spec.rules.0.subjects",
        [],
        "spec.rules[0].subjects: Required value: subjects must contain at least",
    ),
    (
        "schema",
        SUBJECT,
        {"kind": "Group"},
        "spec.rules[0].subjects[0].group: Required value: group is required when",
    ),
    ("schema", SUBJECT, {"kind": "x"}, "spec.rules[0].subjects[0].kind: Unsupported value"),
    (
        "schema",
        SUBJECT,
        {"kind": "User", "user": {"name": ""}},
        "spec.rules[0].subjects[0].user.name: Required value",
    ),
    (
        "schema",
        f"{SUBJECT}.user",
        {"name": "u"},
        "spec.rules[0].subjects[0].user: Forbidden: user is forbidden when",
    ),
    ("schema", f"{SUBJECT}.serviceAccount.name", "*", ""),
    (
        "schema",
        f"{SUBJECT}.serviceAccount.name",
        "A",
        "spec.rules[0].subjects[0].serviceAccount.name: Invalid value",
    ),
    (
        "schema",
        f"{SUBJECT}.serviceAccount.namespace",
        "",
        "spec.rules[0].subjects[0].serviceAccount.namespace: Required",
    ),
    (
        "schema",
        f"{SUBJECT}.serviceAccount.namespace",
        "A",
        "spec.rules[0].subjects[0].serviceAccount.namespace: Invalid value",
    ),
    (
        "schema",
        "spec.rules.0",
        {"subjects": RULE["subjects"]},
        "spec.rules[0]: Required value: at least one of",
    ),
    (
        "schema",
        f"{RESOURCE}.verbs",
        ["x"],
        "spec.rules[0].resourceRules[0].verbs: Unsupported value",
    ),
    (
        "schema",
        f"{RESOURCE}.verbs",
        ["*", "get"],
        "spec.rules[0].resourceRules[0].verbs: Invalid value",
    ),
    (
        "schema",
        f"{RESOURCE}.verbs",
        [],
        "spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain",
    ),
    (
        "schema",
        f"{RESOURCE}.apiGroups",
        [],
        "spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules",
    ),
    (
        "schema",
        f"{RESOURCE}.resources",
        ["*", "a"],
        "spec.rules[0].resourceRules[0].resources: Invalid value",
    ),
    ("schema", f"{RESOURCE}.namespaces", ["*"], ""),
    (
        "schema",
        f"{RESOURCE}.namespaces",
        ["*", "a"],
        "spec.rules[0].resourceRules[0].namespaces: Invalid value",
    ),
    (
        "schema",
        f"{RESOURCE}.namespaces",
        [],
        "spec.rules[0].resourceRules[0].namespaces: Required value: resource",
    ),
    (
        "schema",
        f"{RESOURCE}.namespaces",
        ["A"],
        "spec.rules[0].resourceRules[0].namespaces[0]: Invalid value",
    ),
    (
        "schema",
        RESOURCE,
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True},
        "",
    ),
    ("schema", f"{URL}.nonResourceURLs", ["*"], ""),
    ("schema", f"{URL}.nonResourceURLs", ["/", "/a/*"], ""),
    (
        "schema",
        f"{URL}.nonResourceURLs",
        ["*", "/a"],
        "spec.rules[0].nonResourceRules[0].nonResourceURLs: Invalid",
    ),
    (
        "schema",
        f"{URL}.nonResourceURLs",
        [],
        "spec.rules[0].nonResourceRules[0].nonResourceURLs: Required value",
    ),
    (
        "schema",
        f"{URL}.nonResourceURLs",
        [None],
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid",
    ),
    (
        "schema",
        f"{URL}.nonResourceURLs",
        ["a"],
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid",
    ),
    (
        "schema",
        f"{URL}.nonResourceURLs",
        ["/a b"],
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid",
    ),
    (
        "schema",
        f"{URL}.nonResourceURLs",
        ["//a"],
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid",
    ),
    (
        "schema",
        f"{URL}.nonResourceURLs",
        ["/a*"],
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid",
    ),
    (
        "level",
        "spec.type",
        "Exempt",
        "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name`",
    ),
    ("level", "spec.type", "x", "spec.type: Unsupported value"),
    ("level", "spec.exempt", {}, "spec.exempt: Forbidden: must be nil if the type is Limited"),
    (
        "level",
        "spec.limited",
        None,
        "spec.limited: Required value: must not be empty when type is Limited",
    ),
    ("level", "spec.limited.nominalConcurrencyShares", 0, ""),
    (
        "level",
        "spec.limited.nominalConcurrencyShares",
        -1,
        "spec.limited.nominalConcurrencyShares: Invalid value: -1",
    ),
    (
        "level",
        "spec.limited.lendablePercent",
        101,
        "spec.limited.lendablePercent: Invalid value: 101: must be between",
    ),
    ("level", "spec.limited.borrowingLimitPercent", 200, ""),
    (
        "level",
        "spec.limited.borrowingLimitPercent",
        -1,
        "spec.limited.borrowingLimitPercent: Invalid value: -1: if",
    ),
    ("level", RESPONSE, {"type": "Reject"}, ""),
    (
        "level",
        f"{RESPONSE}.type",
        "Reject",
        "spec.limited.limitResponse.queuing: Forbidden: must be nil if",
    ),
    ("level", f"{RESPONSE}.type", "x", "spec.limited.limitResponse.type: Unsupported value"),
    (
        "level",
        f"{RESPONSE}.queuing",
        None,
        "spec.limited.limitResponse.queuing: Required value: must not be empty",
    ),
    ("level", f"{RESPONSE}.queuing", {}, ""),
    (
        "level",
        f"{RESPONSE}.queuing",
        {"handSize": 65},  # 64 queues by default
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 65: should not be greater than queues (64)",
    ),
    (
        "level",
        f"{RESPONSE}.queuing",
        {"queues": 7},  # a hand of 8 by default
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (7)",
    ),
    (
        "level",
        f"{RESPONSE}.queuing.queues",
        -1,
        "spec.limited.limitResponse.queuing.queues: Invalid value: -1",
    ),
    (
        "level",
        f"{RESPONSE}.queuing.queues",
        10**7 + 1,
        "spec.limited.limitResponse.queuing.queues: Invalid value",
    ),
    (
        "level",
        f"{RESPONSE}.queuing.handSize",
        -1,
        "spec.limited.limitResponse.queuing.handSize: Invalid value: -1: mu",
    ),
    (
        "level",
        f"{RESPONSE}.queuing.handSize",
        65,
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 65: sh",
    ),
    ("level", f"{RESPONSE}.queuing.handSize", 10, ""),
    (
        "level",
        f"{RESPONSE}.queuing.handSize",
        11,
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 11: re",
    ),
    (
        "level",
        f"{RESPONSE}.queuing.queueLengthLimit",
        -2,
        "spec.limited.limitResponse.queuing.queueLengthLimit: Inva",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]}-{row[2]}")
def test_the_rule_rejects_exactly_these_fields(row: Row) -> None:
    check_row(GOOD, row)


def test_the_specs_of_mandatory_objects_are_fixed() -> None:
    fixed = "must equal the fixed value"
    assert fixed in messages(changed(GOOD["schema"], "metadata.name", "catch-all"))[0]
    assert fixed in messages(changed(GOOD["level"], "metadata.name", "catch-all"))[0]
    exempt = kind(
        GROUP, "PriorityLevelConfiguration", metadata={"name": "exempt"}, spec={"type": "Exempt"}
    )
    assert messages(changed(exempt, "spec.exempt", {"lendablePercent": 5})) == []
    limited = messages(changed(GOOD["level"], "metadata.name", "exempt"))
    assert "except the 'spec.exempt' field must equal the fixed value" in limited[-1]
    level = {
        "type": "Limited",
        "limited": {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"}},
    }
    assert (
        messages(
            kind(GROUP, "PriorityLevelConfiguration", metadata={"name": "catch-all"}, spec=level)
        )
        == []
    )
