"""Rules for names, labels, annotations and finalizers (numbers 1 to 11). Each row has the number of its rule."""

from __future__ import annotations

from typing import Any

import pytest

INV, R, TL = "invalid-value", "required-value", "too-long-value"

ROWS: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("1", "pod", {"metadata": {}}, [f"metadata.name {R}"]),
    ("1", "pod", {"metadata": ...}, [f"metadata.name {R}"]),
    ("1 ok", "pod", {"metadata": {"generateName": "x-"}}, []),
    ("2", "pod", {"metadata.name": "A_b"}, [f"metadata.name {INV}"]),
    ("2", "pod", {"metadata.name": "a" * 254}, [f"metadata.name {INV}"]),
    ("3 warning only", "pod", {"metadata.name": "a.b"}, []),
    ("3 warning only", "pod", {"metadata.name": "a" * 64}, []),
    ("4", "pod", {"metadata": {"generateName": "A-"}}, [f"metadata.generateName {INV}"]),
    ("5", "pod", {"metadata.labels": {"bad key": "x"}}, [f"metadata.labels {INV}"]),
    ("5", "pod", {"metadata.labels": {"Up.io/x": "x"}}, [f"metadata.labels {INV}"]),
    ("5", "pod", {"metadata.labels": {"a.io/" + "x" * 64: "x"}}, [f"metadata.labels {INV}"]),
    ("5", "pod", {"metadata.labels": {"a/b/c": "x"}}, [f"metadata.labels {INV}"]),
    ("6", "pod", {"metadata.labels": {"a": "-x"}}, [f"metadata.labels {INV}"]),
    ("6", "pod", {"metadata.labels": {"a": "x" * 64}}, [f"metadata.labels {INV}"]),
    ("6 ok", "pod", {"metadata.labels": {"a": "", "b": None, "c": "X_y.z-1"}}, []),
    ("7", "pod", {"metadata.annotations": {"bad key": "x"}}, [f"metadata.annotations {INV}"]),
    ("7 ok", "pod", {"metadata.annotations": {"Up.io/x": "any text\n"}}, []),
    ("8", "pod", {"metadata.annotations": {"a": "x" * 262144}}, [f"metadata.annotations {TL}"]),
    ("8 ok", "pod", {"metadata.annotations": {"a": "x" * 262143}}, []),
    (
        "8 bytes",
        "pod",
        {"metadata.annotations": {"a": "é" * 131072}},
        [f"metadata.annotations {TL}"],
    ),
    ("9", "pod", {"metadata.finalizers": ["mine"]}, [f"metadata.finalizers[0] {INV}"]),
    ("9 ok", "pod", {"metadata.finalizers": ["a.io/mine", "orphan"]}, []),
    ("10", "job", {"T.metadata": {"labels": {"a": "-x"}}}, [f"spec.template.labels {INV}"]),
    (
        "11 one cause",
        "job",
        {"metadata.labels": {}, "T.metadata": {"labels": {"a": "-"}}},
        [f"spec.template.labels {INV}"],
    ),
    (
        "owners",
        "pod",
        {"metadata.ownerReferences": [{"kind": "K", "name": "n", "uid": "u"}]},
        [f"metadata.ownerReferences.apiVersion {INV}"],
    ),
    (
        "owners",
        "pod",
        {"metadata.ownerReferences": [{"apiVersion": "v1", "kind": "K"}]},
        [
            f"metadata.ownerReferences.name {INV}",
            f"metadata.ownerReferences.uid {INV}",
        ],
    ),
    ("a wrong type is another's finding", "pod", {"metadata": 5, "spec.containers.0.name": 5}, []),
    ("namespace", "namespace", {"metadata.name": "a.b"}, [f"metadata.name {INV}"]),
]


@pytest.mark.parametrize(("rule", "base", "changes", "expected"), ROWS)
def test_the_rule_rejects_exactly_these_fields(
    rule: str, base: str, changes: dict[str, Any], expected: list[str], verdict: Any
) -> None:
    assert verdict(base, changes) == expected, rule
