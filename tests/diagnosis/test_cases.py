"""Labelled logs: of real faults, captured from torchrun and from an API server, and some written in their form.

`answer` is the message that is the first cause, `cause_in` the log that has it, or that of the pod that is to blame;
`code` is the finding that proves it, `line` a piece of the line of the manifest that led to it or that it is next to.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile.diagnosis.messages import messages

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases.jsonl").read_text("utf-8").splitlines()
]


def answer(case: dict[str, Any]) -> dict[str, Any]:
    return ptcompile.diagnose(case["files"], case["manifest"]).to_dict()


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_the_first_cause_of_each_case_is_found(case: dict[str, Any]) -> None:
    first = answer(case)["first"]
    assert first["message"] == case["answer"]
    assert first["file"] == case["cause_in"] or case["cause_in"] is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_the_cause_points_at_the_line_of_the_manifest(case: dict[str, Any]) -> None:
    causes = answer(case)["causes"]
    if case["code"]:
        assert causes[0]["code"] == case["code"]
    if case["line"]:
        near = case["manifest"].split("\n")[causes[0]["line"] - 2 : causes[0]["line"] + 1]
        assert case["line"] in "\n".join(near)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_a_consequence_is_never_the_first_cause(case: dict[str, Any]) -> None:
    """Unless nothing else is known; then the pod that it accuses is named, and the answer says so."""
    first = answer(case)["first"]
    is_secondary = messages()[case["answer"]].role == "secondary"
    assert first["secondary"] == is_secondary
    assert first["silent"] == is_secondary


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_the_order_of_the_logs_decides_nothing_that_time_tells(case: dict[str, Any]) -> None:
    backwards = {**case, "files": dict(reversed(case["files"].items()))}
    assert answer(backwards)["first"]["message"] == case["answer"]


def test_one_stream_with_prefixes_has_the_same_diagnosis() -> None:
    """`kubectl logs -l ... --prefix`; torchrun's logs only, since events have no prefix."""
    streams = [
        case
        for case in CASES
        if len(case["files"]) > 1 and all(name.endswith(".log") for name in case["files"])
    ]
    assert len(streams) > 5
    for case in streams:
        lines = [
            f"[pod/{name.removesuffix('.log')}/pytorch] {line}"
            for name, text in case["files"].items()
            for line in text.splitlines()
            if line
        ]
        first = ptcompile.diagnose("\n".join(lines), case["manifest"]).to_dict()["first"]
        assert (case["id"], first["message"]) == (case["id"], case["answer"])
