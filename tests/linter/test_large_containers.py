"""Containers whose variables, command lines or scripts grow beyond 128 KiB when their references are replaced."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.linter.oversized import oversized_parts

Json = dict[str, Any]
KIB = 1024


def _pod(metadata: Json | None = None, *, init: bool = False, **fields: Any) -> Json:
    container = {"name": "c", "image": "i", **fields}
    spec = {"initContainers": [container]} if init else {"containers": [container]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", **(metadata or {})},
        "spec": spec,
    }


def _env(*entries: tuple[str, str]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in entries]


A = ("A", "x" * 32 * KIB)


@pytest.mark.parametrize(
    ("manifest", "path", "part"),
    [
        (_pod(env=_env(A, ("B", "$(A)" * 3))), None, None),
        (_pod(env=_env(A, ("B", "$(A)" * 5))), ("env", 1, "value"), "variables"),
        (_pod(env=_env(A, ("B", "$(A)" * 5)), init=True), ("env", 1, "value"), "variables"),
        (_pod(env=_env(A), command=["run", "$(A)" * 5]), ("command", 1), "command line"),
        (_pod(env=_env(A), command=["run"], args=["a", "$(A)" * 5]), ("args", 1), "command line"),
        (_pod(env=_env(A), command=["run", "$(A)"]), None, None),
        (
            _pod(command=["run", "x" * 200 * KIB]),
            None,
            None,
        ),  # no reference, so Kubernetes' own limits count
        (_pod(), None, None),
    ],
)
def test_the_part_that_grows_too_large_is_named(
    manifest: Json, path: tuple[Any, ...] | None, part: str | None
) -> None:
    problems = list(oversized_parts(manifest))
    assert [problem.path[-len(path or ()) :] for problem in problems] == (
        [] if path is None else [path]
    )
    assert all(f"the container's {part} exceeds 128 KiB" in problem.message for problem in problems)


def test_a_label_may_be_copied_into_a_variable() -> None:
    annotations = {"big": "x" * 40 * KIB}
    source = {"fieldRef": {"fieldPath": "metadata.annotations['big']"}}
    entries = [{"name": f"V{i}", "valueFrom": source} for i in range(4)]
    assert list(oversized_parts(_pod({"annotations": annotations}, env=entries)))
    assert not list(oversized_parts(_pod({"annotations": {"big": "x"}}, env=entries)))
