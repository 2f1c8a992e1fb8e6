"""Pods that fail to meet and the reasons: manifests with findings, and similar manifests without."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.linter import run
from tests.linter.rules.launch.making import job, jobset, messages, names, pod, pytorchjob, role

Json = dict[str, Any]

MEETING = frozenset(
    {
        "local-endpoint", "own-host-endpoint", "unresolvable-endpoint", "roles-disagree", "too-few-pods",
        "too-many-pods", "worlds-apart", "standalone-on-many-pods", "same-node-rank", "master-without-rank-0",
        "static-range", "static-restarts", "workers-without-rendezvous", "workers-without-rank", "elastic-with-master",
    }
)  # fmt: skip
C10D = ("--rdzv-backend=c10d", "--rdzv-endpoint=train-node-0-0.train:29400")
STATIC = ("--node-rank=$(JOB_COMPLETION_INDEX)", "--master-addr=train-node-0-0.train")
SELF = "--rdzv-endpoint=$(hostname -i):29400"
INDEX: Json = {
    "name": "RANK",
    "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/x']"}},
}


def set_of(*command: str, pods: int = 2, **fields: Any) -> Json:
    return jobset(role("torchrun", *command, "train.py", pods=pods, **fields))


CASES: list[tuple[str, Json, set[str]]] = [
    ("c10d with its endpoint", set_of("--nnodes=2", *C10D), set()),
    ("static with ranks", set_of("--nnodes=2", *STATIC), set()),
    ("independent pods without settings", set_of("--nproc-per-node=1"), set()),
    ("independent pods with --standalone", set_of("--standalone"), set()),
    (
        "standalone with several nodes",
        set_of("--standalone", "--nnodes=2"),
        {"standalone-on-many-pods"},
    ),
    ("c10d without an endpoint", set_of("--nnodes=2", "--rdzv-backend=c10d"), {"local-endpoint"}),
    ("only nnodes (JobSet KEP 463)", set_of("--nnodes=2:8"), {"local-endpoint"}),
    (
        "MASTER_ADDR, which torchrun does not read",
        set_of("--nnodes=2", env=[{"name": "MASTER_ADDR", "value": "train-node-0-0.train"}]),
        {"local-endpoint"},
    ),
    (
        "PET_MASTER_ADDR, which it does",
        set_of(
            "--nnodes=2",
            STATIC[0],
            env=[{"name": "PET_MASTER_ADDR", "value": "train-node-0-0.train"}],
        ),
        set(),
    ),
    (
        "unknown contents of a ConfigMap",
        set_of("--nnodes=2", envFrom=[{"configMapRef": {"name": "x"}}]),
        set(),
    ),
    (
        "script with branches",
        jobset(role("bash", "-c", "if [ -n $X ]; then torchrun --nnodes=2 train.py; fi")),
        set(),
    ),
    (
        "script without branches",
        jobset(role("bash", "-c", "cd /w && torchrun --nnodes=2 train.py")),
        {"local-endpoint"},
    ),
    (
        "own address in a shell",
        jobset(role("bash", "-c", f"torchrun --nnodes=2 --rdzv-backend=c10d {SELF} train.py")),
        {"own-host-endpoint"},
    ),
    (
        "own host name in a shell",
        jobset(
            role(
                "bash",
                "-c",
                "torchrun --nnodes=2 --rdzv-backend=c10d --rdzv-endpoint=$HOSTNAME:29400 train.py",
            )
        ),
        {"own-host-endpoint"},
    ),
    (
        "own address, single pod",
        jobset(role("bash", "-c", f"torchrun --rdzv-backend=c10d {SELF} train.py", pods=1)),
        set(),
    ),
    (
        "the pod's name without the Service's",
        set_of("--nnodes=2", C10D[0], "--rdzv-endpoint=train-node-0-0:29400"),
        {"unresolvable-endpoint"},
    ),
    (
        "a missing pod",
        set_of("--nnodes=2", C10D[0], "--rdzv-endpoint=train-node-0-7.train:29400"),
        {"unresolvable-endpoint"},
    ),
    (
        "a Service of the cluster",
        set_of("--nnodes=2", C10D[0], "--rdzv-endpoint=meeting:29400"),
        set(),
    ),
    (
        "the full name, without a known namespace",
        set_of(
            "--nnodes=2", C10D[0], "--rdzv-endpoint=train-node-0-0.train.team.svc.cluster.local:1"
        ),
        set(),
    ),
    (
        "the full name in another namespace",
        jobset(
            role(
                "torchrun",
                "--nnodes=2",
                C10D[0],
                "--rdzv-endpoint=train-node-0-0.train.b.svc:1",
                "t.py",
            ),
            namespace="a",
        ),
        {"unresolvable-endpoint"},
    ),
    (
        "a Job, whose Service may be in the cluster",
        job("torchrun", "--nnodes=2", C10D[0], "--rdzv-endpoint=train-0.train:1", "t.py"),
        set(),
    ),
    ("more nodes than pods", set_of("--nnodes=4", *C10D), {"too-few-pods"}),
    ("the range begins within", set_of("--nnodes=2:4", *C10D), set()),
    ("a static range waits for its end", set_of("--nnodes=2:4", *STATIC), {"too-few-pods"}),
    ("a static range that the pods fill", set_of("--nnodes=1:2", *STATIC), {"static-range"}),
    ("fewer nodes than pods", set_of("--nnodes=2", *C10D, pods=4), {"too-many-pods"}),
    ("one node with a common endpoint", set_of(*C10D), {"too-many-pods"}),
    ("a Pod may be one of several", pod("torchrun", "--nnodes=2", *C10D, "t.py"), set()),
    (
        "a Job of one pod may be one of several",
        job("torchrun", "--nnodes=2", *C10D, "t.py", pods=1),
        set(),
    ),
    (
        "one node with a master's address (JobSet resnet)",
        set_of("--master-addr=train-node-0-0.train"),
        {"worlds-apart"},
    ),
    ("equal ranks by default", set_of("--nnodes=2", STATIC[1]), {"same-node-rank"}),
    (
        "the index restarts in each Job",
        jobset(role("torchrun", "--nnodes=4", *STATIC, "t.py", replicas=2)),
        {"same-node-rank"},
    ),
    ("unknown ranks", set_of("--nnodes=2", "--node-rank=$(RANK)", STATIC[1], env=[INDEX]), set()),
    (
        "the master is another pod",
        set_of("--nnodes=2", STATIC[0], "--master-addr=train-node-0-1.train"),
        {"master-without-rank-0"},
    ),
    (
        "restarts that other nodes do not notice",
        set_of("--nnodes=2", *STATIC, "--max-restarts=1"),
        {"static-restarts"},
    ),
    ("restarts of c10d", set_of("--nnodes=2", *C10D, "--max-restarts=1"), set()),
    ("restarts of one node", pod("torchrun", "--max-restarts=1", "t.py"), set()),
    (
        "an evaluator and trainers",
        jobset(
            role("torchrun", "--nnodes=2", *C10D, "t.py"),
            role("torchrun", "eval.py", name="eval", pods=1),
        ),
        set(),
    ),
    (
        "two roles that meet",
        jobset(
            role("torchrun", "--nnodes=3", *C10D, "t.py"),
            role("torchrun", "--nnodes=3", *C10D, "t.py", name="more", pods=1),
        ),
        set(),
    ),
    (
        "two roles with too few pods",
        jobset(
            role("torchrun", "--nnodes=4", *C10D, "t.py"),
            role("torchrun", "--nnodes=4", *C10D, "t.py", name="more", pods=1),
        ),
        {"too-few-pods"},
    ),
    (
        "Master and Worker with torchrun",
        pytorchjob(master=["torchrun", "t.py"], worker=["torchrun", "t.py"]),
        set(),
    ),
    (
        "Master and Worker at different ports",
        pytorchjob(master=["torchrun", "t.py"], worker=["torchrun", "--master-port=1", "t.py"]),
        {"roles-disagree"},
    ),
    (
        "Master and Worker with different nnodes",
        pytorchjob(master=["torchrun", "t.py"], worker=["torchrun", "--nnodes=2", "t.py"]),
        {"roles-disagree"},
    ),
    (
        "the operator's count overwritten",
        pytorchjob(
            master=["torchrun", "--nnodes=1", "t.py"], worker=["torchrun", "--nnodes=1", "t.py"]
        ),
        {"worlds-apart"},
    ),
    ("only Workers", pytorchjob(worker=["torchrun", "t.py"]), {"workers-without-rendezvous"}),
    (
        "Workers alone with an endpoint",
        pytorchjob(worker=["torchrun", C10D[0], "--rdzv-endpoint=train-worker-0:1", "t.py"]),
        set(),
    ),
    ("a single Worker", pytorchjob(worker=["torchrun", "t.py"], workers=1), set()),
    ("elastic Workers", pytorchjob(worker=["torchrun", "t.py"], elasticPolicy={}), set()),
    ("only Workers, with Python", pytorchjob(worker=["python", "t.py"]), {"workers-without-rank"}),
    ("only Workers, with their own script", pytorchjob(worker=["bash", "run.sh"]), set()),
    (
        "an elastic Master above the range",
        pytorchjob(
            master=["torchrun", "t.py"],
            worker=["torchrun", "t.py"],
            elasticPolicy={"maxReplicas": 2},
        ),
        {"elastic-with-master"},
    ),
    (
        "an elastic Master within the range",
        pytorchjob(
            master=["torchrun", "t.py"],
            worker=["torchrun", "t.py"],
            elasticPolicy={"minReplicas": 1, "maxReplicas": 3},
        ),
        set(),
    ),
]


@pytest.mark.parametrize(
    ("manifest", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_pods_must_be_able_to_meet(manifest: Json, expected: set[str]) -> None:
    assert names(manifest) & MEETING == expected


def test_too_few_pods_names_both_numbers() -> None:
    manifest = set_of("--nnodes=4", *C10D, pods=3)
    assert messages(manifest, "too-few-pods") == [
        "spec.replicatedJobs[0].template.spec.template.spec.containers[0].command[1]: "
        "torchrun waits for 4 nodes, but the job has 3 pods"
    ]


def test_same_node_rank_names_both_pods() -> None:
    (message,) = messages(set_of("--nnodes=2", STATIC[1]), "same-node-rank")
    assert "train-node-0-0-***** and train-node-0-1-***** both have node rank 0" in message


def test_only_the_first_and_last_pods_of_a_large_job_are_read() -> None:
    assert names(set_of("--nnodes=100000", *STATIC, pods=100_000)) & MEETING == set()


def test_ranks_that_begin_at_1_name_the_index_that_begins_at_0() -> None:
    start = f"torchrun --nnodes=2 --node-rank=$((JOB_COMPLETION_INDEX + 1)) {STATIC[1]} t.py"
    (problem,) = run(jobset(role("sh", "-c", start)), only=["master-without-rank-0"])
    assert (
        problem.help
        == "give the first pod the rank 0: write $(JOB_COMPLETION_INDEX), which begins at 0"
    )


def test_ranks_of_two_roles_are_no_index() -> None:
    start = ("torchrun", "--nnodes=2", STATIC[1])
    first, second = (
        role(*start, f"--node-rank={i}", "t.py", name=f"node{i}", pods=1) for i in (1, 2)
    )
    (problem,) = run(jobset(first, second), only=["master-without-rank-0"])
    assert problem.help == "give the first pod the rank 0"
