"""Findings as values: paths, JSON form, stages and codes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ptcompile.diagnostics import Diagnostic, Problem, Span, code_of, field_path, shorten
from ptcompile.diagnostics.codes import CODES

PATHS: list[tuple[tuple[str | int, ...], str]] = [
    ((), ""),
    (("spec",), "spec"),
    (("spec", "containers", 0, "env", 1, "name"), "spec.containers[0].env[1].name"),
    (("metadata", "labels", "app.kubernetes.io/x"), "metadata.labels[app.kubernetes.io/x]"),
    (("spec", "env", "NCCL_DEBUG"), "spec.env.NCCL_DEBUG"),
    (("spec", "limits", "ephemeral-storage"), "spec.limits.ephemeral-storage"),
    (("spec", "x", ""), "spec.x[]"),
    ((0,), "[0]"),
    (("items", 2, "spec"), "items[2].spec"),
]


@pytest.mark.parametrize(("path", "expected"), PATHS)
def test_paths_have_the_api_server_s_notation(path: tuple[str | int, ...], expected: str) -> None:
    assert field_path(path) == expected


def test_the_json_form_has_the_contract_s_names() -> None:
    span = Span(1, 2, 1, 5)
    diagnostic = Diagnostic(
        "PTC301", "shm-above-memory-limit", "warning", "m", None, ("a", 0), span, "run", "kubelet"
    )
    as_json: dict[str, Any] = json.loads(json.dumps(diagnostic.to_dict()))
    contract = {"code", "name", "severity", "message", "help", "path", "span", "stage", "authority"}
    assert contract <= as_json.keys()
    assert as_json["path"] == ["a", 0]
    assert as_json["span"] == {"line": 1, "column": 2, "end_line": 1, "end_column": 5}
    assert as_json["help"] is None


def test_a_problem_defaults_to_an_error_of_the_api_server() -> None:
    problem = Problem("invalid-value", (), "m")
    assert problem.severity == "error"
    assert problem.stage == "apply"
    assert problem.authority == "kube-apiserver"
    assert not problem.on_key
    assert problem.span is None


def test_every_name_has_a_code() -> None:
    assert {code_of(name) for name in CODES} == set(CODES.values())


@pytest.mark.parametrize(("length", "text"), [(6, "abcdef"), (5, "ab..."), (4, "a...")])
def test_a_long_text_is_shortened(length: int, text: str) -> None:
    assert shorten("abcdef", length) == text
