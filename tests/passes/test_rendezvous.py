"""Rendezvous: what torchrun is told on each target, and only what the operator does not hand over by itself."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.job.model import Job, Launch
from ptcompile.passes.rendezvous import rendezvous
from tests import making

WAITS = {"timeout": "900", "join_timeout": "900"}
STATIC = making.LAUNCH._replace(rdzv_conf=WAITS)
C10D = STATIC._replace(rdzv_backend="c10d", max_restarts=3)
ETCD = STATIC._replace(rdzv_backend="etcd-v2", rdzv_endpoint="etcd.infra:2379")
CONF, WATCH = "--rdzv-conf=timeout=900,join_timeout=900", "--monitor-interval=5"


def run(target: str, job: Job) -> Job:
    where = making.context(target=target)
    after = rendezvous(job, where)
    assert rendezvous(after, where) == after
    return after


def command(target: str, launch: Launch, replicas: int, least: int | None = None) -> list[str]:
    after = run(target, making.job(replicas=replicas, launch=launch, min_nodes=least or replicas))
    return list(after.roles[0].template.main.command or ())


TABLE: dict[str, tuple[str, Launch, tuple[int, int], list[str]]] = {
    "one node meets nobody": (
        "pod", making.LAUNCH, (1, 1), ["--standalone", "--nproc-per-node=2", WATCH],
    ),
    "one node that restarts its processes": (
        "pod", making.LAUNCH._replace(max_restarts=3), (1, 1),
        ["--standalone", "--nproc-per-node=2", "--max-restarts=3", WATCH],
    ),
    "one node as an Indexed Job": ("job", making.LAUNCH, (1, 1), ["--standalone", "--nproc-per-node=2", WATCH]),
    "Indexed Job, static: rank by completion index (volcano.md 5.13)": (
        "job", STATIC, (4, 4),
        ["--nnodes=4", "--nproc-per-node=2", "--node-rank=$(JOB_COMPLETION_INDEX)", "--master-addr=train-0.train",
         "--master-port=23456", CONF, WATCH],
    ),
    "Indexed Job, a range": (
        "job", C10D, (4, 2),
        ["--nnodes=2:4", "--nproc-per-node=2", "--rdzv-backend=c10d", "--rdzv-endpoint=train-0.train:23456",
         "--rdzv-id=train", CONF, "--max-restarts=3", WATCH],
    ),
    "Indexed Job, a fixed number that meets again": (
        "job", C10D, (4, 4),
        ["--nnodes=4", "--nproc-per-node=2", "--rdzv-backend=c10d", "--rdzv-endpoint=train-0.train:23456",
         "--rdzv-id=train", CONF, "--max-restarts=3", WATCH],
    ),
    "etcd keeps its own endpoint": (
        "job", ETCD, (2, 2),
        ["--nnodes=2", "--nproc-per-node=2", "--rdzv-backend=etcd-v2", "--rdzv-endpoint=etcd.infra:2379",
         "--rdzv-id=train", CONF, WATCH],
    ),
    "PyTorchJob, static: all but the waits and the watch are PET_ variables (kubeflow.md 1.5)": (
        "pytorchjob", STATIC, (4, 4), [CONF, WATCH],
    ),
    "PyTorchJob, a fixed number over c10d: the operator gives no rdzv without elasticPolicy (kubeflow.md 1.5)": (
        "pytorchjob", C10D, (4, 4),
        ["--rdzv-backend=c10d", "--rdzv-endpoint=train-master-0:23456", "--rdzv-id=train", CONF, "--max-restarts=3",
         WATCH],
    ),
    "PyTorchJob, a range: all of the meeting is in elasticPolicy (kubeflow.md 1.5, 10b to 16b)": (
        "pytorchjob", C10D, (4, 2), [WATCH],
    ),
    "PyTorchJob, one node": ("pytorchjob", making.LAUNCH, (1, 1), [WATCH]),
    "Volcano, static: the plugin's variables are not torchrun's (volcano.md 2.2)": (
        "volcano", STATIC, (4, 4),
        ["--nnodes=4", "--nproc-per-node=2", "--node-rank=$(RANK)", "--master-addr=$(MASTER_ADDR)",
         "--master-port=23456", CONF, WATCH],
    ),
    "Volcano, a range": (
        "volcano", C10D, (4, 2),
        ["--nnodes=2:4", "--nproc-per-node=2", "--rdzv-backend=c10d", "--rdzv-endpoint=$(MASTER_ADDR):23456",
         "--rdzv-id=train", CONF, "--max-restarts=3", WATCH],
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_torchrun_is_told(row: tuple[str, Launch, tuple[int, int], list[str]]) -> None:
    target, launch, (replicas, least), wanted = row
    assert command(target, launch, replicas, least) == ["torchrun", *wanted, "train.py"]


def test_a_module_and_another_start_method() -> None:
    launch = making.LAUNCH._replace(entry=("-m", "pkg.train"), start_method="forkserver", nproc_per_node="auto")
    wanted = ["torchrun", "--standalone", "--nproc-per-node=auto", WATCH, "--start-method=forkserver"]
    assert command("pod", launch, 1) == [*wanted, "-m", "pkg.train"]


def test_a_port_of_one_s_own() -> None:
    after = run("job", making.job(replicas=2, launch=STATIC, master_port=29500))
    assert "--master-port=29500" in (after.roles[0].template.main.command or ())


@pytest.mark.parametrize("script", ["my-train.py", "my train.py", "a;b.py", "$(X).py"])
def test_a_script_s_name_is_an_argument_and_never_seen_by_a_shell(script: str) -> None:
    """torchx_and_peers.md 1.8 case 1: a hyphen broke every job of several nodes."""
    words = command("volcano", STATIC._replace(entry=(script,)), 2)
    assert words[-1] == script
    assert not {"sh", "bash", "-c"} & set(words)


def test_a_command_of_the_user_stands() -> None:
    job = making.job(making.template(main={"command": ("python", "x.py")}))
    assert run("pod", job) == job


NAMES = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")


@pytest.mark.parametrize(
    ("target", "replicas", "values"),
    [
        ("pod", 1, {"MASTER_ADDR": "localhost", "MASTER_PORT": "23456", "WORLD_SIZE": "1", "RANK": "0"}),
        ("job", 4, {"MASTER_ADDR": "train-0.train", "MASTER_PORT": "23456", "WORLD_SIZE": "4", "RANK": None}),
        ("pytorchjob", 4, {}),  # kubeflow.md 1.5: the operator appends them
        ("volcano", 4, {}),  # volcano.md 2.2: the plugin appends them
    ],
)
def test_a_plain_command_finds_the_others_through_its_environment(
    target: str, replicas: int, values: dict[str, str | None]
) -> None:
    own = {"name": "X", "value": "1"}
    one = making.template(main={"command": ("python", "x.py"), "env": (own,)})
    after = run(target, making.job(one, replicas=replicas, launch=None)).roles[0].template.main
    assert after.command == ("python", "x.py"), "no torchrun"
    assert after.env[0] == own
    assert {entry["name"]: entry.get("value") for entry in after.env[1:]} == values


@pytest.mark.parametrize("name", NAMES)
def test_a_variable_of_the_user_stands(name: str) -> None:
    own: dict[str, Any] = {"name": name, "value": "mine"}
    one = making.template(main={"command": ("python",), "env": (own,)})
    after = run("job", making.job(one, replicas=2, launch=None)).roles[0].template.main
    assert [entry for entry in after.env if entry["name"] == name] == [own]
    assert {entry["name"] for entry in after.env} == set(NAMES)
