"""Variables from which commands take their pod's rank, after a conversion."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.converter.variables import names_variable, with_new_variables
from tests.converter.jobs import Json, pytorchjob, stream

INDEX = "JOB_COMPLETION_INDEX"


def indexed_job(script: str, **env: str) -> Json:
    """Return an Indexed Job of two nodes with its hand-written Service."""
    container = {
        "name": "train",
        "image": "img:1",
        "command": ["sh", "-c", script],
        "env": [{"name": name, "value": value} for name, value in env.items()],
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}},
    }
    pod = {"subdomain": "hosts", "restartPolicy": "Never", "containers": [container]}
    spec = {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "template": {"spec": pod}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {**spec, "backoffLimit": 0}}
    service = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"job-name": "j"}}
    return stream({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hosts"}, "spec": service}, job)


def torchrun(rank: str) -> str:
    """Return a script that no field of a spec replaces."""
    options = f"--nnodes=2 --nproc-per-node=1 --node-rank={rank} --master-addr=$MASTER_ADDR --master-port=29500"
    return f"ls /data && torchrun {options} train.py"


def commands(manifests: Any) -> str:
    return str([manifest for manifest in manifests if manifest["kind"] != "Service"])


@pytest.mark.parametrize("target", ["pytorchjob", "volcano"])
@pytest.mark.parametrize("rank", [f"${INDEX}", f"${{{INDEX}}}", f"$(({INDEX} + 0))"])
def test_the_index_of_a_job_becomes_the_rank(target: str, rank: str) -> None:
    result = ptcompile.convert(indexed_job(torchrun(rank), MASTER_ADDR="j-0.hosts"), target=target)
    assert result.ok, result.diagnostics
    assert torchrun(rank.replace(INDEX, "RANK")) in commands(result.manifests)
    assert "j-0.hosts" not in commands(result.manifests), "the operator sets the address of its own pod"
    assert INDEX not in commands(result.manifests)
    (note,) = [item for item in result.diagnostics if INDEX in item.message]
    assert note.severity == "note"
    assert "becomes RANK" in note.message


@pytest.mark.parametrize("target", ["trainjob", "jobset"])
def test_the_index_stays_where_the_new_pods_have_it(target: str) -> None:
    result = ptcompile.convert(indexed_job(torchrun(f"${INDEX}"), MASTER_ADDR="j-0.hosts"), target=target)
    assert result.ok, result.diagnostics
    assert torchrun(f"${INDEX}") in commands(result.manifests)


def test_another_address_is_no_difference_between_operators() -> None:
    job = indexed_job(torchrun(f"${INDEX}"), MASTER_ADDR="store.example.com")
    result = ptcompile.convert(job, target="pytorchjob")
    assert not result.ok
    assert "MASTER_ADDR" in str(result.diagnostics)


def test_a_value_that_is_not_the_rank_is_not_renamed() -> None:
    """The pods of a Volcano Job have RANK too, but other values where a second role is counted."""
    result = ptcompile.convert(pytorchjob(), target="volcano")
    assert "becomes" not in str([item.message for item in result.diagnostics])


def test_only_commands_are_renamed() -> None:
    spec = {"env": {"X": INDEX}, "args": [f"--rank=${INDEX}", f"MY_{INDEX}"], "roles": {"a": {"command": [INDEX]}}}
    assert names_variable(spec, INDEX)
    assert not names_variable({"env": {"X": INDEX}, "args": [f"MY_{INDEX}"]}, INDEX)
    assert with_new_variables(spec, {INDEX: "RANK"}) == {
        "env": {"X": INDEX},
        "args": ["--rank=$RANK", f"MY_{INDEX}"],
        "roles": {"a": {"command": ["RANK"]}},
    }
