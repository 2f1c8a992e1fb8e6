"""Verdicts and sentences of a recorded API server's admission plugins, compared with those of `lint`."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.diagnostics import Diagnostic
from tests import recorded

Json = dict[str, Any]
ROWS = list(recorded.rows("apiserver/admission/creates"))
OTHERS = ("no PriorityClass with name missing was found", "pod rejected: Pod Overhead")
"""A class that the files do not have may exist, so this is not reported; overhead is checked with the pod's fields."""


def findings(row: Json) -> list[Diagnostic]:
    """Return the server's findings about a row's object, without those about the objects beside it."""
    objects = [*row["beside"], row["manifest"]]
    diagnostics = ptcompile.lint(objects, webhooks=False).diagnostics
    return [
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.document == len(objects) - 1 and diagnostic.authority == "kube-apiserver"
    ]


def expected(message: str) -> list[str]:
    """Return the sentences of a rejection: `pods "p" is forbidden: [a, b]` has two."""
    _, _, reasons = message.partition(" is forbidden: ")
    return reasons[1:-1].split(", ") if reasons.startswith("[") else [reasons]


@pytest.mark.parametrize("area", ["limitrange", "podsecurity", "priority", "quota"])
def test_what_the_server_accepted_is_accepted(area: str) -> None:
    rows = [row for row in ROWS if row["area"] == area and row["accepted"]]
    wrong = [
        row["id"]
        for row in rows
        if any(
            diagnostic.stage == "apply" and diagnostic.severity == "error"
            for diagnostic in findings(row)
        )
    ]
    assert len(rows) >= 10
    assert wrong == []


@pytest.mark.parametrize("area", ["limitrange", "priority", "quota"])
def test_rejections_use_the_words_of_the_server(area: str) -> None:
    rows = [row for row in ROWS if row["area"] == area and not row["accepted"]]
    rows = [row for row in rows if not any(other in row["message"] for other in OTHERS)]
    missing = []
    for row in rows:
        messages = [diagnostic.message for diagnostic in findings(row)]
        missing += [
            (row["id"], sentence, messages)
            for sentence in expected(row["message"])
            if not any(sentence.partition("; priority")[0] in message for message in messages)
        ]
    assert len(rows) >= 25
    assert missing == []


def test_without_a_class_nothing_is_certain() -> None:
    """Files with classes have the default class too; without any class nothing is certain."""
    rows = [
        row
        for row in ROWS
        if row["area"] == "priority"
        and not row["accepted"]
        and "priorityClassName" not in row["manifest"]["spec"]
    ]
    beside = [{diagnostic.severity for diagnostic in findings(row)} for row in rows]
    alone = [
        {diagnostic.severity for diagnostic in findings({**row, "beside": []})} for row in rows
    ]
    assert len(rows) >= 5
    assert all("error" in severities for severities in beside)
    assert {"warning"} in alone
