"""The sequence of passes: purity, idempotence, documented order and recorded steps."""

from __future__ import annotations

import copy
from itertools import pairwise
from pathlib import Path

import pytest

from ptcompile.compiler import passes
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.ir.job import Job
from ptcompile.operators.targets import TARGETS
from ptcompile.spec.cluster_profile import ClusterProfile
from tests import making
from tests.making import DEFAULT_CLUSTER

FOLDER = Path(passes.__file__).parent
RICH = {
    "apiVersion": "ptcompile/v1",
    "kind": "TrainingJob",
    "metadata": {"name": "train", "labels": {"team": "mine"}},
    "spec": {
        "image": "img:1", "script": "train.py", "accelerator": "a100", "spot": True, "queue": "own",
        "sharedMemory": "8Gi", "env": {"REGION": "us", "Z": "1"}, "podLabels": {"tier": "own"},
        "resources": {"memory": "64Gi", "gpu": 8}, "tolerations": [{"key": "mine", "operator": "Exists"}],
        "master": {"resources": {"cpu": 4}}, "worker": {"replicas": 3, "nodeSelector": {"zone": "b"}},
    },
}  # fmt: skip
CLUSTER = making.profile(
    {
        "accelerators": {
            "a100": {"nodeLabels": {"gpu": "a100"}, "tolerations": [{"key": "a100", "operator": "Exists"}]},
        },
        "spot": {"nodeLabels": {"spot": "yes"}, "tolerations": [{"key": "spot", "operator": "Exists"}]},
        "defaults": {
            "env": {"REGION": "eu", "SITE": "x"}, "labels": {"team": "ml", "tier": "gold"}, "requests": {"cpu": "2"},
            "nodeSelector": {"zone": "a", "pool": "ml"}, "queue": "batch",
        },
    }
)  # fmt: skip


def lowered(cluster: ClusterProfile) -> Job:
    spec, problems = decode_spec(copy.deepcopy(RICH))
    assert spec is not None, problems
    return lower(spec, cluster)


@pytest.mark.parametrize("cluster", [CLUSTER, DEFAULT_CLUSTER], ids=["rich", "default"])
@pytest.mark.parametrize("target", TARGETS)
def test_running_twice_changes_nothing(target: str, cluster: ClusterProfile) -> None:
    """CONTRIBUTING.md#laws 3: running a pass again changes nothing."""
    where = making.context(cluster, target)
    for compiler_pass, step in zip(
        passes.PASSES, passes.pass_runs(lowered(cluster), where), strict=True
    ):
        assert compiler_pass(step.after, where) == step.after, compiler_pass.__name__
    job = passes.run(lowered(cluster), where)
    assert passes.run(job, where) == job


@pytest.mark.parametrize("target", TARGETS)
def test_passes_do_not_change_their_input(target: str) -> None:
    job, where = lowered(CLUSTER), making.context(CLUSTER, target)
    before, profile = copy.deepcopy(job), CLUSTER.model_dump_json()
    passes.run(job, where)
    assert job == before
    assert CLUSTER.model_dump_json() == profile


def test_each_step_starts_from_the_previous_one() -> None:
    start = lowered(CLUSTER)
    steps = passes.pass_runs(start, making.context(CLUSTER))
    assert [step.name for step in steps] == [one.__name__ for one in passes.PASSES]
    assert steps[0].before is start
    assert steps[-1].after == passes.run(start, making.context(CLUSTER))
    assert all(left.after is right.before for left, right in pairwise(steps))


def test_run_takes_another_tuple_of_passes() -> None:
    (step,) = passes.pass_runs(lowered(CLUSTER), making.context(CLUSTER), passes.PASSES[:1])
    assert passes.run(lowered(CLUSTER), making.context(CLUSTER), passes.PASSES[:1]) == step.after


def test_one_pass_per_file_in_the_documented_order() -> None:
    """CONTRIBUTING.md#house-rules: one pass per file, named like the function it exports, in an ordered tuple."""
    files = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    assert files == {one.__name__ for one in passes.PASSES}
    assert all(
        compiler_pass.__module__ == f"ptcompile.compiler.passes.{compiler_pass.__name__}"
        and compiler_pass.__doc__
        for compiler_pass in passes.PASSES
    )


def test_passes_keep_what_the_user_wrote() -> None:
    """CONTRIBUTING.md#laws 3: a pass never changes what the user wrote."""
    job = passes.run(lowered(CLUSTER), making.context(CLUSTER))
    master, worker = (role.template for role in job.roles)
    assert job.labels == {"team": "mine", "tier": "gold"}
    assert job.queue == "own"
    assert (master.labels["tier"], worker.labels["tier"]) == ("own", "own")
    assert {entry["name"]: entry["value"] for entry in worker.main.env}.items() >= {
        "REGION": "us",
        "Z": "1",
    }.items()
    assert worker.node_selector == {"zone": "b", "pool": "ml"}
    assert worker.tolerations[0] == {"key": "mine", "operator": "Exists"}
    assert (master.main.resources.requests["cpu"], worker.main.resources.requests["cpu"]) == (
        "4",
        "2",
    )


def test_a_pass_without_work_returns_the_same_job() -> None:
    """Tested with a plain job and the built-in profile: returning the same object avoids rebuilding it."""
    job, where = making.job(replicas=2), making.context()
    idle = {one.__name__ for one in passes.PASSES if one(job, where) is job}
    assert idle >= {
        "processes",
        "fabric",
        "placement",
        "scheduling",
        "tolerations",
        "hosts",
        "metadata",
    }
    after = passes.run(job, where)
    assert {one.__name__ for one in passes.PASSES if one(after, where) is after} >= {
        *idle,
        "shm",
        "rendezvous",
        "env",
    }


def test_few_passes_run_on_a_job_that_takes_the_rest_from_its_runtime() -> None:
    runtime = {"name": "torch-distributed"}
    steps = passes.pass_runs(
        lowered(CLUSTER)._replace(runtime=runtime), making.context(CLUSTER, "trainjob")
    )
    assert [step.name for step in steps] == ["resources", "processes", "rendezvous"]
