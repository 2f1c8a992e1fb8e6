"""Findings about a task stand at the decorator's keyword, the parameter or the return type that they are about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ptcompile import flyte
from ptcompile.findings.diagnostics import Path as Keys
from ptcompile.flyte.places import file_of, span


@flyte.task(
    task_config=flyte.Elastic(nnodes=2, rdzv_configs={"timeout": 5}),
    secret_requests=[flyte.Secret(group="a"), flyte.Secret(group="ü", key="k")],
    environment={"ü": "1", "A": "2"},
)
def train(epochs: int, *, lr: float = 0.1) -> float:
    return lr * epochs


def bare(n: int) -> None: ...


TEXT = Path(__file__).read_text("utf-8")


@pytest.mark.parametrize(
    ("function", "path", "said"),
    [
        (train, ("task_config", "nnodes"), "2"),
        (train, ("task_config", "rdzv_configs", "timeout"), "5"),
        (train, ("task_config", "worker"), 'flyte.Elastic(nnodes=2, rdzv_configs={"timeout": 5})'),
        (train, ("secret_requests", 1, "key"), '"k"'),
        (train, ("environment", "A"), '"2"'),
        (train, ("inputs", "lr"), "lr: float"),
        (train, ("outputs",), "float"),
        (train, ("container_image",), "flyte.task("),
        (bare, ("container_image",), "def bare(n: int) -> None: ..."),
        (bare, ("outputs",), "None"),
    ],
)
def test_the_nearest_expression_is_found(function: Any, path: Keys, said: str) -> None:
    function = getattr(function, "function", function)
    assert file_of(function) == __file__
    at = span(function, TEXT, path)
    assert at is not None
    assert at.line == at.end_line
    assert TEXT.split("\n")[at.line - 1][at.column - 1 : at.end_column - 1] == said


def test_what_is_built_in_has_no_place() -> None:
    assert file_of(len) is None
    assert span(len, TEXT, ("inputs", "x")) is None
