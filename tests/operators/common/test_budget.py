"""The budget of names: what is derived from a job's name fits at the budget, and is refused one character above it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptcompile.compiling.compiler import Compiled, compile_document
from ptcompile.frontends.spec import lower, read_spec
from ptcompile.kubernetes.names import LABEL_VALUE_MAX
from ptcompile.operators.common.budget import room
from ptcompile.operators.targets import TARGETS, target_named
from ptcompile.simulation import simulate
from ptcompile.simulation.pod import Pod
from tests import making
from tests.making import DEFAULT_CLUSTER, compiled, smallest
from tests.strategies import specs

GANG = making.profile({"gangScheduler": "scheduler-plugins"})


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_derives_names_and_says_from_where(target: str) -> None:
    assert target_named(target).derived
    for derived in target_named(target).derived:
        assert derived.source
        assert "{job}" in derived.pattern
        assert derived.limit in {63, 253}


def _named(spec: dict[str, Any], name: str, target: str) -> Compiled:
    return compile_document({**spec, "metadata": {**spec["metadata"], "name": name}}, DEFAULT_CLUSTER, target)


@given(specs(), st.sampled_from(list(TARGETS)))
def test_generated_specs_at_the_budget_and_above_it(spec: dict[str, Any], target: str) -> None:
    spec = copy.deepcopy(spec)
    if not _named(spec, "a", target).manifests:
        return
    read, _ = read_spec(spec)
    assert read is not None
    longest = room(lower(read, DEFAULT_CLUSTER), target_named(target)).longest
    fits = _named(spec, "a" * longest, target)
    assert fits.manifests
    assert {one.name for one in fits.problems} == {one.name for one in _named(spec, "a", target).problems}
    above = [one for one in _named(spec, "a" * (longest + 1), target).problems if one.severity == "error"]
    assert [one.path for one in above] == [("metadata", "name")]
    assert above[0].name == "name-too-long"
    _check_world(fits.manifests)


def _check_world(manifests: tuple[dict[str, Any], ...]) -> None:
    """No name that the operators make is too long for what it is."""
    world = simulate(manifests)
    for job in world.jobs:
        assert not job.expansion.refused
        assert all(len(one["metadata"]["name"]) <= 63 for one in job.expansion.services)
        assert all(len(str(one["name"])) <= 63 for one in job.expansion.jobs)
        assert all(len(one["metadata"]["name"]) <= 253 for one in job.expansion.configmaps)
        for pod in job.pods():
            _check_pod(pod)


def _check_pod(pod: Pod) -> None:
    # The Job controller cuts a pod's name to make room for the random part (Kubernetes 1.36).
    assert len(pod.name) <= 63
    assert pod.hostname is None or len(pod.hostname) <= 63
    assert all(len(value) <= LABEL_VALUE_MAX for value in pod.view.labels.values())
    assert all(len(str(volume["name"])) <= 63 for volume in pod.view.volumes)


BESIDE = "roles: {data-loader: {replicas: 10, command: [serve]}}"
ROWS = [
    ("pod", "", 63, "the pod's host name <name>"),  # docs/facts/kubernetes.md#indexed-jobs
    ("job", "nodes: 8", 61, "the last pod's host name <name>-7"),  # docs/facts/api-server.md#jobs
    ("job", "nodes: 101", 59, "the last pod's host name <name>-100"),
    # docs/facts/training-operator.md#pods-and-services
    ("pytorchjob", "nodes: 8", 54, "the last pod and its Service <name>-master-0"),
    ("pytorchjob", "elastic: {nnodes: '2:20'}", 53, "the last pod and its Service <name>-worker-19"),
    ("volcano", "nodes: 2", 54, "the last pod's host name <name>-master-0"),  # docs/facts/volcano.md#names
    ("volcano", "nodes: 2\nvolcano: {masterTask: m, workerTask: w}", 59, "the last pod's host name <name>-m-0"),
    ("trainjob", "nodes: 8", 48, "the last pod <name>-node-0-7-xxxxx"),  # docs/facts/trainer.md#what-is-built
    ("jobset", "nodes: 100", 47, "the last pod <name>-node-0-99-xxxxx"),  # docs/facts/jobset.md#admission
    ("volcano", BESIDE, 49, "the last pod's host name <name>-data-loader-9"),
    ("trainjob", BESIDE, 41, "the last pod <name>-data-loader-0-9-xxxxx"),
    ("jobset", BESIDE, 41, "the last pod <name>-data-loader-0-9-xxxxx"),
    ("jobset", "nodes: 101\n" + BESIDE.replace("data-", ""), 46, "the last pod <name>-node-0-100-xxxxx"),
    ("jobset", "master: {}\nworker: {replicas: 101}", 44, "the last pod <name>-worker-100-0-xxxxx"),
]


@pytest.mark.parametrize(("target", "body", "longest", "what"), ROWS)
def test_the_message_names_the_tightest_name_and_a_safe_one(target: str, body: str, longest: int, what: str) -> None:
    assert compiled(smallest(body, "a" * longest), target).manifests
    if longest == 63:
        return
    (problem,) = compiled(smallest(body, "a" * (longest + 1)), target).problems
    assert f"leaves no room for {what}, which has a limit of 63" in problem.message
    assert problem.help == f"at most {longest} characters, such as {'a' * longest!r}"


@pytest.mark.parametrize("target", ["job", "jobset"])
def test_the_pod_group_s_label_fits_too(target: str) -> None:
    longest = {"job": 61, "jobset": 48}[target]
    done = compiled(smallest("nodes: 2", "a" * longest), target, GANG)
    assert "PodGroup" in [one["kind"] for one in done.manifests]
    _check_world(done.manifests)
