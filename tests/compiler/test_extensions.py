"""Failures in a plugin's pass or target: each is one finding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ptcompile.compiler.pipeline import compile_document
from ptcompile.diagnostics import Problem
from ptcompile.extending import Extensions, Job, Target, target_named
from tests.making import DEFAULT_CLUSTER, documents, smallest

(DATA,) = documents(smallest("nodes: 2"))


def _fails(*_: object) -> Any:
    raise RuntimeError("no")


def _fails_when_read(*_: object) -> Iterator[Problem]:
    yield from ()
    raise RuntimeError("no")


@pytest.mark.parametrize(
    "own",
    [
        {"emit": _fails},
        {"emit": lambda *_: 5},
        {"emit": lambda *_: [None]},
        {"emit": lambda *_: [{}]},
        {"unsupported": _fails},
        {"unsupported": _fails_when_read},
        {"wiring": _fails},
        {"groups": _fails},
    ],
)
def test_a_target_that_fails_is_one_finding(own: dict[str, Any]) -> None:
    target: Target = target_named("jobset")._replace(name="mine", **own)
    done = compile_document(DATA, DEFAULT_CLUSTER, "mine", Extensions(targets={"mine": target}))
    (problem,) = done.problems
    assert (problem.name, done.manifests, done.built) == ("extension-failed", (), None)
    assert problem.message.startswith("target mine failed: ")


@pytest.mark.parametrize("run", [_fails, lambda *_: None])
def test_a_pass_that_fails_is_one_finding(run: Any) -> None:
    done = compile_document(DATA, DEFAULT_CLUSTER, "job", Extensions(passes=(("mine", run),)))
    (problem,) = done.problems
    assert (problem.name, done.manifests, done.built) == ("extension-failed", (), None)
    assert problem.message.startswith("pass mine failed: ")


def test_a_plugin_failure_after_a_mistake_is_not_reported() -> None:
    """The mistake may be the cause of the failure."""
    wrong = {**DATA, "spec": {**DATA["spec"], "nods": 1}}
    done = compile_document(wrong, DEFAULT_CLUSTER, "job", Extensions(passes=(("mine", _fails),)))
    assert [problem.name for problem in done.problems] == ["spec-unknown-field"]


def test_a_pass_of_a_plugin_runs_last() -> None:
    def label(job: Job, _: object) -> Job:
        return job._replace(
            labels={**job.labels, "seen": str(bool(job.roles[0].template.main.command))}
        )

    done = compile_document(DATA, DEFAULT_CLUSTER, "job", Extensions(passes=(("mine", label),)))
    assert done.problems == ()
    assert {manifest["metadata"]["labels"]["seen"] for manifest in done.manifests} == {"True"}


@pytest.mark.parametrize("own", [{"derived": ()}, {"groups": lambda _: ()}])
def test_a_target_without_derived_names_or_groups_compiles(own: dict[str, Any]) -> None:
    target: Target = target_named("job")._replace(name="mine", **own)
    done = compile_document(DATA, DEFAULT_CLUSTER, "mine", Extensions(targets={"mine": target}))
    assert (done.problems, len(done.manifests)) == ((), 2)
