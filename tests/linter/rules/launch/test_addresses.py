"""Endpoints written in different words: the same place for simulate and for lint, or different places for both."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import run
from ptcompile.simulator.rendezvous import can_rendezvous, job_rendezvous
from ptcompile.simulator.world import simulate
from tests.linter.rules.launch.making import (
    Json,
    container,
    job,
    jobset,
    names,
    pod,
    pytorchjob,
    role,
)
from tests.linter.rules.launch.test_meeting import MEETING

C10D, STATIC = "--rdzv-backend=c10d", "--master-addr=%s"
POD_IP = [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]
MASTER, WORKER = "train-leader-0-0.train", "train-worker-0-0.train"


def c10d(host: str, port: str = ":29400", **options: str) -> list[str]:
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    return ["torchrun", "--nnodes=2", C10D, f"--rdzv-endpoint={host}{port}", *given, "t.py"]


def static(host: str, rank: int) -> list[str]:
    return ["torchrun", "--nnodes=2", f"--node-rank={rank}", STATIC % host, "t.py"]


def leader_and_worker(leader: list[str], worker: list[str], **fields: Any) -> Json:
    return jobset(
        role(*leader, name="leader", pods=1, **fields),
        role(*worker, name="worker", pods=1, **fields),
    )


def volcano(leader: list[str], worker: list[str]) -> Json:
    tasks = [
        {"name": name, "replicas": 1, "template": {"spec": {"containers": [container(command)]}}}
        for name, command in (("lead", leader), ("work", worker))
    ]
    spec = {"minAvailable": 2, "plugins": {"svc": []}, "tasks": tasks}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": spec,
    }


def leaderworkerset(leader: list[str], worker: list[str]) -> Json:
    templates = [{"spec": {"containers": [container(command)]}} for command in (leader, worker)]
    group = {"size": 2, "leaderTemplate": templates[0], "workerTemplate": templates[1]}
    spec = {"replicas": 1, "leaderWorkerTemplate": group}
    metadata = {"name": "train"}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": metadata,
        "spec": spec,
    }


def env(address: str, rank: int) -> Json:
    values = {"MASTER_ADDR": address, "MASTER_PORT": "29500", "WORLD_SIZE": "2", "RANK": str(rank)}
    return {"env": [{"name": name, "value": value} for name, value in values.items()]}


# docs/facts/torchrun.md#rendezvous: the node whose own address the endpoint names hosts the store
MEET: dict[str, Json] = {
    "JobSet, leader by localhost": leader_and_worker(c10d("localhost"), c10d(MASTER)),
    "JobSet, leader without an endpoint": leader_and_worker(
        ["torchrun", "--nnodes=2", C10D, "t.py"], c10d(MASTER, port="")
    ),
    "JobSet, leader by its host name": leader_and_worker(c10d("train-leader-0-0"), c10d(MASTER)),
    "JobSet, leader by $(hostname)": leader_and_worker(
        ["bash", "-c", " ".join(c10d("$(hostname)"))], ["bash", "-c", " ".join(c10d(MASTER))]
    ),
    "JobSet, leader by its address": leader_and_worker(c10d("$(POD_IP)"), c10d(MASTER), env=POD_IP),
    "JobSet, short and full name": leader_and_worker(
        c10d(MASTER), c10d(f"{MASTER}.default.svc.cluster.local.")
    ),
    "JobSet, upper case": leader_and_worker(c10d(MASTER), c10d(MASTER.upper())),
    "JobSet, static": leader_and_worker(static("localhost", 0), static(MASTER, 1)),
    "PyTorchJob, Master by localhost": pytorchjob(
        master=static("localhost", 0), worker=static("train-master-0", 1), workers=1
    ),
    "LeaderWorkerSet, leader by localhost": leaderworkerset(
        c10d("localhost"), c10d("train-0.train.default")
    ),
    "Volcano, leader by localhost": volcano(c10d("localhost"), c10d("train-lead-0.train")),
    "variables, leader by localhost": jobset(
        role("python", "t.py", name="leader", pods=1, **env("localhost", 0)),
        role("python", "t.py", name="worker", pods=1, **env(MASTER, 1)),
    ),
}
APART: dict[str, tuple[Json, set[str]]] = {
    "each by localhost": (
        leader_and_worker(c10d("localhost"), c10d("localhost")),
        {"local-endpoint"},
    ),
    "the worker by localhost": (
        leader_and_worker(c10d(MASTER), c10d("localhost")),
        {"roles-disagree"},
    ),
    "each by its own name": (leader_and_worker(c10d(MASTER), c10d(WORKER)), {"roles-disagree"}),
    "another port": (
        leader_and_worker(c10d("localhost"), c10d(MASTER, port=":29401")),
        {"roles-disagree"},
    ),
    "each of several pods by its own address": (
        jobset(role(*c10d("$(POD_IP)"), env=POD_IP)),
        {"own-host-endpoint"},
    ),
    "each of several pods by localhost": (jobset(role(*c10d("localhost"))), {"local-endpoint"}),
    "PyTorchJob, Workers by localhost": (
        pytorchjob(master=static("train-master-0", 0), worker=static("localhost", 1), workers=1),
        {"roles-disagree"},
    ),
}


def can_meet(*manifests: Json) -> list[bool | None]:
    jobs = simulate(manifests).jobs
    return [
        can_rendezvous(job, rendezvous)
        for job in jobs
        if (rendezvous := job_rendezvous(job)) is not None
    ]


@pytest.mark.parametrize("manifest", MEET.values(), ids=MEET)
def test_roles_that_meet_have_no_finding(manifest: Json) -> None:
    assert can_meet(manifest) == [True]
    assert names(manifest) & MEETING == set()


@pytest.mark.parametrize(("manifest", "expected"), APART.values(), ids=APART)
def test_roles_of_different_rendezvous_do_not_meet(manifest: Json, expected: set[str]) -> None:
    assert can_meet(manifest) == [False]
    assert names(manifest) & MEETING == expected


def test_another_id_is_another_rendezvous() -> None:
    manifest = leader_and_worker(c10d("localhost", rdzv_id="a"), c10d(MASTER, rdzv_id="b"))
    assert names(manifest) & MEETING == {"roles-disagree"}


def test_static_agents_handed_out_localhost_before_they_shared_their_store() -> None:
    manifest = leader_and_worker(static("localhost", 0), static(MASTER, 1))
    reported = {one.name for one in run(manifest, versions=Versions(torch=(2, 3)))}
    assert reported & MEETING == {"roles-disagree"}


def test_no_fix_makes_one_training_two() -> None:
    for manifest in (MEET["JobSet, leader by localhost"], APART["another port"][0]):
        assert all(
            problem.fix is None for problem in run(manifest, only={"too-few-pods", "too-many-pods"})
        )
    alone = jobset(role(*c10d("train-node-0-0.train"), pods=1))
    assert [problem.fix is not None for problem in run(alone, only={"too-few-pods"})] == [True]


def named(manifest: Json, name: str, **spec: Any) -> Json:
    labels = {"app": name, "set": "duo"}
    pod_spec = {**manifest["spec"], **spec}
    return {**manifest, "metadata": {"name": name, "labels": labels}, "spec": pod_spec}


def service(name: str, selector: Json, **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": selector, **spec},
    }


TWO_PODS: dict[str, list[Json]] = {
    "by host name and subdomain": [
        named(pod(*c10d("a.duo")), "a", hostname="a", subdomain="duo"),
        named(pod(*c10d("a.duo")), "b", hostname="b", subdomain="duo"),
        service("duo", {"set": "duo"}, clusterIP="None", publishNotReadyAddresses=True),
    ],
    "by a Service of the first": [
        named(pod(*c10d("lead")), "a"),
        named(pod(*c10d("lead")), "b"),
        service("lead", {"app": "a"}),
    ],
    "by localhost and a Service": [
        named(pod(*c10d("localhost")), "a"),
        named(pod(*c10d("lead.default.svc")), "b"),
        service("lead", {"app": "a"}),
    ],
}


@pytest.mark.parametrize("manifests", TWO_PODS.values(), ids=TWO_PODS)
def test_pods_of_two_objects_may_meet(manifests: list[Json]) -> None:
    assert can_meet(*manifests) == [None, None]
    notes = [
        note
        for rendezvous in map(job_rendezvous, simulate(manifests).jobs)
        if rendezvous is not None
        for note in rendezvous.notes
    ]
    assert [note.rpartition(" in ")[2] for note in notes if "outside" in note] == ["Pod/b", "Pod/a"]
    assert (
        set().union(*(names(manifest, others=manifests) for manifest in manifests)) & MEETING
        == set()
    )


def test_pods_of_two_objects_that_name_themselves_do_not_meet() -> None:
    manifests = [named(pod(*c10d("localhost")), name) for name in ("a", "b")]
    assert can_meet(*manifests) == [False, False]


def test_two_jobs_may_share_one_rendezvous() -> None:
    jobs = [named(job(*c10d("lead"), pods=1), name) for name in ("a", "b")]
    lead = service("lead", {"batch.kubernetes.io/job-name": "a"})
    assert can_meet(*jobs, lead) == [None, None]


def test_a_job_without_a_subdomain_meets_at_a_service_of_one_pod() -> None:
    ranked = job(
        "torchrun", "--nnodes=2", "--node-rank=$(JOB_COMPLETION_INDEX)", STATIC % "lead", "t.py"
    )
    del ranked["spec"]["template"]["spec"]["subdomain"]
    lead = service(
        "lead",
        {"job-name": "train", "batch.kubernetes.io/job-completion-index": "0"},
        clusterIP="None",
    )
    (simulated,) = simulate([ranked, lead]).jobs
    rendezvous = job_rendezvous(simulated)
    assert rendezvous is not None
    assert can_rendezvous(simulated, rendezvous)
    assert rendezvous.host == "Service lead"
    assert rendezvous.notes == ()
    assert names(ranked, others=[lead]) & MEETING == set()
    wrong = service(
        "lead", {**lead["spec"]["selector"], "batch.kubernetes.io/job-completion-index": "1"}
    )
    assert names(ranked, others=[wrong]) & MEETING == {"master-without-rank-0"}
