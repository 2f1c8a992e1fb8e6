"""The contract of passes, as plugins check it in their own tests."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.compiler.passes import PASSES
from ptcompile.extending import Context, Extensions, Job, Pass
from ptcompile.extending.testing import SPECS, check_pass


def labelled(job: Job, **labels: str) -> Job:
    return job._replace(labels={**job.labels, **labels})


def fills(job: Job, context: Context) -> Job:
    return job if "team" in job.labels else labelled(job, team="research")


def overwrites(job: Job, context: Context) -> Job:
    return labelled(job, team="research")


def overwrites_a_variable(job: Job, context: Context) -> Job:
    return job._replace(
        roles=tuple(role._replace(template=_with_variable(role.template)) for role in job.roles)
    )


def _with_variable(template: Any) -> Any:
    kept = [entry for entry in template.main.env if entry["name"] != "NCCL_DEBUG"]
    return template.with_env((*kept, {"name": "NCCL_DEBUG", "value": "WARN"}))


def grows(job: Job, context: Context) -> Job:
    return labelled(job, count=f"{len(job.labels)}")


def returns_nothing(job: Job, context: Context) -> Any:
    return None


def test_a_pass_that_fills_a_gap_passes_the_check() -> None:
    check_pass(fills)
    check_pass(lambda job, context: job)


@pytest.mark.parametrize("run", PASSES)
def test_the_built_in_passes_keep_the_contract(run: Pass) -> None:
    check_pass(run)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (overwrites, r"it overwrites what the user wrote at job\.labels\[team\]"),
        (overwrites_a_variable, "it overwrites what the user wrote at job.roles"),
        (grows, r"it is not idempotent: a second run changes job\.labels\[count\]"),
        (returns_nothing, "it returns a NoneType, not a Job"),
    ],
)
def test_a_pass_that_breaks_the_contract_fails_the_check(run: Pass, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_pass(run)


def test_a_spec_that_does_not_compile_raises() -> None:
    broken = {**SPECS[0], "spec": {}}
    with pytest.raises(ValueError, match="the spec does not compile"):
        check_pass(fills, [broken])
    with pytest.raises(ValueError, match="nodse"):
        check_pass(
            fills,
            cluster={"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "spec": {"nodse": 1}},
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"passes": {"fills": fills}}, "the passes of Extensions must be a tuple of pairs"),
        ({"passes": (fills,)}, "the passes of Extensions must be a tuple of pairs"),
        ({"rules": ["ACME101"]}, "the rules of Extensions must be a tuple of Rule, not list"),
        ({"plugins": ("acme",)}, "the plugins of Extensions must be a tuple of Loaded"),
        ({"targets": ("job",)}, "the targets of Extensions must be a mapping"),
    ],
)
def test_extensions_say_what_is_wrong_with_their_arguments(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        ptcompile.compile(dict(SPECS[0]), extensions=Extensions(**arguments))
    good = Extensions(passes=(("fills", fills),))
    assert "team: research" in ptcompile.compile(dict(SPECS[0]), extensions=good).yaml()
