"""Where the rules about TrainJobs begin and end."""

from __future__ import annotations

import pytest

from tests.linter.asking import problems_of
from tests.linter.manifests import runtime, trainjob


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("torch-distributed", None),
        ("torch-distribued", "torch-distributed"),
        ("torch-distributted", "torch-distributed"),
        ("torch-distribtued", "torch-distributed"),
        ("otrch-distributed", "torch-distributed"),
        ("torch-distributde", "torch-distributed"),
        ("torch_distributed", "torch-distributed"),
        ("Torch-Distributed", "torch-distributed"),
        ("torch-distributex", "torch-distributed"),
        ("torch-distribxxed", None),
        ("torch-distributed-mine", None),
        ("x" * 64, None),
        ("mine", None),
    ],
)
def test_a_name_much_like_an_installed_runtime_is_reported(
    name: str, suggestion: str | None
) -> None:
    problems = problems_of("misspelt-runtime", trainjob({}, runtime=name))
    assert [suggestion is not None and suggestion in str(problem.help) for problem in problems] == (
        [] if suggestion is None else [True]
    )


@pytest.mark.parametrize(("length", "ending"), [(59, "x"), (60, "x"), (61, "x...")])
def test_the_runtimes_arguments_are_shortened(length: int, ending: str) -> None:
    own = runtime(
        pod={"spec": {"containers": [{"name": "node", "image": "i", "args": ["x" * length]}]}}
    )
    (problem,) = problems_of("inherited-args", trainjob({"command": ["run"]}, runtime="acme"), own)
    assert problem.message.endswith(f"still appended: {'x' * min(length, 60)}{ending[1:]}")


@pytest.mark.parametrize(
    ("kind", "namespace", "expected"),
    [
        (None, "default", True),
        ("ClusterTrainingRuntime", "default", True),
        ("TrainingRuntime", "default", False),
        ("TrainingRuntime", "other", True),
    ],
)
def test_a_runtime_of_another_kind_or_namespace_is_reported(
    kind: str | None, namespace: str, expected: bool
) -> None:
    own = {
        **runtime(),
        "kind": "TrainingRuntime",
        "metadata": {"name": "acme", "namespace": namespace},
    }
    job = trainjob({}, runtime="acme")
    if kind is not None:
        job["spec"]["runtimeRef"]["kind"] = kind
    problems = problems_of("runtime-of-other-kind", job, own)
    assert bool(problems) is expected
    assert all(
        ("of the namespace other" in problem.message) is (namespace == "other")
        for problem in problems
    )


@pytest.mark.parametrize(("nodes", "others"), [(1, False), (2, True)])
def test_only_several_nodes_do_not_know_one_another(nodes: int, others: bool) -> None:
    own = runtime(mlPolicy={"torch": {}, "numNodes": nodes})
    (problem,) = problems_of("trainjob-without-trainer", trainjob(None, runtime="acme"), own)
    assert ("none knows the others" in problem.message) is others
