"""Objects that repeat another object's kind, namespace and name."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.diagnostics import Problem
from ptcompile.linter import run
from tests.linter.asking import Json, pod

CONFIG: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a"},
    "data": {"x": "1"},
}
POD = pod(containers=[])


def _problems(manifest: Json, stream: list[Json]) -> list[Problem]:
    return list(run(manifest, stream=stream, only={"repeated-object"}))


def _with(manifest: Json, **metadata: Any) -> Json:
    return {**manifest, "metadata": {**manifest["metadata"], **metadata}}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (CONFIG, {**CONFIG}, ("warning", "with the same content")),
        (CONFIG, {**CONFIG, "data": {"x": "2"}}, ("error", "this one is applied over it")),
        (POD, {**POD}, ("error", "with the same content")),  # a pod is created, not applied
        (CONFIG, _with(CONFIG, name="b"), None),
        (CONFIG, _with(CONFIG, namespace="b"), None),
        (CONFIG, _with(CONFIG, namespace="default"), ("error", "this one is applied over it")),
        (CONFIG, {**CONFIG, "kind": "Secret"}, None),
        (_with(CONFIG, name=""), _with(CONFIG, name=""), None),
        (
            _with(CONFIG, name=None, generateName="a-"),
            _with(CONFIG, name=None, generateName="a-"),
            None,
        ),
    ],
)
def test_the_second_of_two_objects_is_reported(
    first: Json, second: Json, expected: tuple[str, str] | None
) -> None:
    problems = _problems(second, [first, second])
    assert [problem.severity for problem in problems] == ([] if expected is None else [expected[0]])
    assert all(
        expected is not None and problem.message.endswith(expected[1]) for problem in problems
    )
    assert not _problems(first, [first, second])
