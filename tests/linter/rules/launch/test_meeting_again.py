"""Settings that keep nodes from meeting by c10d, or from meeting again."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import run
from tests.linter.rules.launch.making import Json, job, jobset, pytorchjob, role

C10D = (
    "torchrun",
    "--nnodes=4",
    "--rdzv-backend=c10d",
    "--rdzv-endpoint=train-node-0-0.train:29400",
)
RANGE = ("torchrun", "--nnodes=2:4", *C10D[2:])
OWN = {"name": "TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "value": "1"}
SHARED = {**OWN, "value": "0"}


def paths_of(manifest: Json, rule: str, **versions: Any) -> list[str]:
    """Return the paths of a rule's findings."""
    return [
        ".".join(map(str, problem.path))
        for problem in run(manifest, only={rule}, versions=Versions()._replace(**versions))
    ]


def jobset_of(*command: str, **fields: Any) -> Json:
    return jobset(role(*command, "train.py", pods=4, **fields))


IMAGE = "pytorch/pytorch:%s-cuda12.1-cudnn8-runtime"
WORDS = "spec.replicatedJobs.0.template.spec.template.spec.containers.0.command"


@pytest.mark.parametrize(
    ("manifest", "versions", "where"),
    [
        (jobset_of(*C10D, "--max-restarts=3"), {}, [f"{WORDS}.4"]),
        (jobset_of(*RANGE), {}, [f"{WORDS}.1"]),
        (jobset_of(*RANGE, env=[SHARED]), {}, [f"{WORDS}.1"]),
        (jobset_of(*RANGE, env=[OWN]), {}, []),
        (jobset_of(*C10D), {}, []),
        (jobset_of(*RANGE), {"torch": (2, 3)}, []),
        (jobset_of(*RANGE), {"torch": (2, 4)}, [f"{WORDS}.1"]),
        (jobset_of(*RANGE, image=IMAGE % "2.2.2"), {}, []),
        (jobset_of(*RANGE, image=IMAGE % "2.6.0"), {"torch": (2, 2)}, [f"{WORDS}.1"]),
        (
            jobset_of(
                "torchrun", "--nnodes=4", "--node-rank=0", "--master-addr=x", "--max-restarts=3"
            ),
            {},
            [],
        ),
        (jobset_of(*RANGE[:2], "--rdzv-backend=etcd-v2", "--rdzv-endpoint=etcd:2379"), {}, []),
        (jobset(role(*RANGE, "train.py", pods=1)), {}, []),
        (
            pytorchjob(
                worker=["torchrun", "t.py"],
                elasticPolicy={"minReplicas": 1, "maxReplicas": 2, "maxRestarts": 3},
            ),
            {},
            ["spec.elasticPolicy.maxRestarts"],
        ),
    ],
)
def test_each_rendezvous_needs_a_store(manifest: Json, versions: Json, where: list[str]) -> None:
    assert paths_of(manifest, "shared-rendezvous-store", **versions) == where


TAGGED = WORDS.replace("command", "image")


@pytest.mark.parametrize(
    ("manifest", "versions", "where"),
    [
        (jobset_of(*C10D, "--max-restarts=3"), {"torch": (2, 5)}, [TAGGED]),
        (jobset_of(*RANGE, env=[OWN]), {"torch": (2, 7)}, [TAGGED]),
        (jobset_of(*RANGE, image=IMAGE % "2.3.0"), {}, [TAGGED]),
        (jobset_of(*RANGE, image=IMAGE % "2.8.0"), {"torch": (2, 5)}, []),
        (jobset_of(*RANGE), {}, []),
        (jobset_of(*RANGE), {"torch": (2, 2)}, []),
        (jobset_of(*C10D), {"torch": (2, 5)}, []),
        (jobset(role(*RANGE, "train.py", pods=1)), {"torch": (2, 5)}, []),
        (
            jobset_of(
                "torchrun", "--nnodes=4", "--node-rank=0", "--master-addr=x", "--max-restarts=3"
            ),
            {"torch": (2, 5)},
            [],
        ),
    ],
)
def test_a_drain_closes_the_rendezvous_of_2_3_to_2_7(
    manifest: Json, versions: Json, where: list[str]
) -> None:
    assert paths_of(manifest, "drain-closes-rendezvous", **versions) == where


def test_the_variable_is_added_to_existing_ones() -> None:
    (problem,) = run(
        jobset_of(*RANGE, env=[{"name": "A", "value": "1"}]), only={"shared-rendezvous-store"}
    )
    assert problem.fix is not None
    assert [(edit.op, edit.value) for edit in problem.fix.edits] == [("append", OWN)]


@pytest.mark.parametrize(
    ("conf", "there"),
    [
        ("timeout=900", True),
        ("timeout=900,join_timeout=900", True),
        ("timeout=900,read_timeout=900", False),
        ("timeout=60", False),  # the default
        ("join_timeout=900", False),
        ("timeout=soon", False),
    ],
)
def test_c10d_does_not_read_timeout(conf: str, there: bool) -> None:
    assert bool(paths_of(jobset_of(*C10D, f"--rdzv-conf={conf}"), "unread-timeout")) is there
    static = jobset_of(
        "torchrun", "--nnodes=4", "--node-rank=0", "--master-addr=x", f"--rdzv-conf={conf}"
    )
    assert paths_of(static, "unread-timeout") == []


def test_the_fix_of_an_unread_timeout_keeps_the_rest() -> None:
    (problem,) = run(jobset_of(*C10D, "--rdzv-conf=timeout=900,x=y"), only={"unread-timeout"})
    assert problem.fix is not None
    assert problem.fix.edits[0].value == "--rdzv-conf=timeout=900,x=y,read_timeout=900"


def _on_host(manifest: Json) -> Json:
    spec = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    spec |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
    return manifest


ADDRESS = {"name": "PET_LOCAL_ADDR", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}


@pytest.mark.parametrize(
    ("manifest", "where"),
    [
        (_on_host(jobset_of(*C10D)), [WORDS.replace("containers.0.command", "hostNetwork")]),
        (_on_host(jobset_of(*C10D, env=[ADDRESS])), []),
        (_on_host(jobset_of(*C10D, "--local-addr=10.0.0.1")), []),
        (_on_host(jobset_of("torchrun", "--nnodes=4", "--node-rank=0", "--master-addr=x")), []),
        (jobset_of(*C10D), []),
    ],
)
def test_host_names_of_nodes_are_reported(manifest: Json, where: list[str]) -> None:
    assert paths_of(manifest, "node-names-handed-out") == where


def _limited(manifest: Json, **fields: Any) -> Json:
    manifest["spec"]["replicatedJobs"][0]["template"]["spec"].update(fields)
    return manifest


@pytest.mark.parametrize(
    ("seconds", "conf", "there"),
    [(600, "join_timeout=900", True), (900, "join_timeout=900", True), (901, "join_timeout=900", False),
     (600, "join_timeout=300", False), (600, "read_timeout=60", True), (601, "read_timeout=60", False),
     (30, "join_timeout=900", False)],
)  # fmt: skip
def test_a_deadline_and_the_wait_for_others(seconds: int, conf: str, there: bool) -> None:
    manifest = _limited(jobset_of(*C10D, f"--rdzv-conf={conf}"), activeDeadlineSeconds=seconds)
    assert bool(paths_of(manifest, "deadline-before-join")) is there


def test_the_deadline_of_a_pytorchjob_is_its_run_policy_s() -> None:
    elastic = {"minReplicas": 1, "maxReplicas": 2}
    manifest = pytorchjob(
        worker=["torchrun", "t.py"], runPolicy={"activeDeadlineSeconds": 300}, elasticPolicy=elastic
    )
    assert paths_of(manifest, "deadline-before-join") == ["spec.runPolicy.activeDeadlineSeconds"]


@pytest.mark.parametrize(
    ("limit", "there"), [(0, False), (1, True), (2, True), (3, False), (None, False)]
)
def test_retries_after_the_loss_of_node_0(limit: int | None, there: bool) -> None:
    restarts = (*C10D, "--max-restarts=3")
    assert (
        bool(paths_of(_limited(jobset_of(*restarts), backoffLimit=limit), "few-retries-for-node-0"))
        is there
    )
    assert paths_of(_limited(jobset_of(*C10D), backoffLimit=limit), "few-retries-for-node-0") == []
    plain = job(
        *restarts[:2],
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=train-0.train:1",
        "--max-restarts=3",
        "t.py",
        pods=4,
    )
    plain["spec"]["backoffLimit"] = limit
    assert bool(paths_of(plain, "few-retries-for-node-0")) is there


THIRD = [word.replace("train-node-0-0", "train-node-0-2") for word in C10D]


@pytest.mark.parametrize(
    ("manifest", "there"),
    [
        (jobset_of(*THIRD), True),
        (jobset_of(*C10D), False),
        (_on_host(jobset_of(*THIRD)), False),
        (jobset_of(*THIRD, env=[ADDRESS]), False),
        (jobset_of(*THIRD, "--local-addr=10.0.0.1"), False),
        (jobset_of(*[word.replace("0-0.", "0-9.") for word in C10D]), False),
        (jobset_of(*[word.replace("c10d", "static") for word in THIRD]), False),
    ],
)
def test_the_host_of_the_store_is_rank_0(manifest: Json, there: bool) -> None:
    assert bool(paths_of(manifest, "store-not-on-rank-0")) is there
