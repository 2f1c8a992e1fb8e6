"""Options that torchrun's parsers reject, ignore or use twice."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.rules.launch.making import jobset, names, pod, pytorchjob, role

Json = dict[str, Any]


def torchrun(*words: str, **fields: Any) -> Json:
    return pod("torchrun", *words, **fields)


def env(name: str, value: str) -> Json:
    return {"env": [{"name": name, "value": value}]}


CASES: list[tuple[str, Json, set[str]]] = [
    ("a plain launch", torchrun("train.py"), set()),
    (
        "words after the script are its arguments",
        torchrun("train.py", "--steps=0", "--epochs", "3"),
        set(),
    ),
    ("no words at all", torchrun(), {"missing-script"}),
    (
        "an option that takes the script as its value",
        torchrun("--rdzv-id", "train.py"),
        {"missing-script"},
    ),
    ("a module", torchrun("-m", "train"), set()),
    ("help needs no script", torchrun("--help"), set()),
    (
        "an unknown option may take the script as its value",
        torchrun("--new-option", "train.py"),
        {"unknown-launch-option"},
    ),
    ("a shortened option", torchrun("--nnode=1", "train.py"), set()),
    ("words expanded by a shell", pod("bash", "-c", "torchrun $OPTIONS train.py"), set()),
    ("Python as a script", torchrun("python3", "train.py"), {"python-as-script"}),
    ("Python without a script", torchrun("python3"), {"python-as-script"}),
    ("a shell as a script", torchrun("bash", "run.sh"), {"python-as-script"}),
    ("a shell script as a script", torchrun("./scripts/run.sh", "--lr", "1"), {"python-as-script"}),
    ("a shell script as a program", torchrun("--no-python", "./run.sh"), set()),
    ("a launcher as a script", torchrun("torchrun", "train.py"), {"python-as-script"}),
    (
        "another launcher as a script",
        torchrun("accelerate", "launch", "train.py"),
        {"python-as-script"},
    ),
    ("a script called bash.py", torchrun("bash.py"), set()),
    ("Python as a program", torchrun("--no-python", "python3", "train.py"), set()),
    (
        "Python as a program, by variable",
        torchrun("python3", "t.py", **env("PET_NO_PYTHON", "1")),
        set(),
    ),
    ("a script called python.py", torchrun("python.py"), set()),
    (
        "one option in two spellings",
        torchrun("--nproc-per-node=1", "--nproc_per_node", "1", "t.py"),
        {"repeated-launch-option"},
    ),
    ("a switch twice does no harm", torchrun("--standalone", "--standalone", "t.py"), set()),
    ("nodes as text", torchrun("--nnodes=two", "t.py"), {"bad-nnodes"}),
    ("no nodes", torchrun("--nnodes=0", "t.py"), {"bad-nnodes"}),
    ("nodes from a shell variable", pod("sh", "-c", "torchrun --nnodes=$N t.py"), set()),
    ("nodes by variable", torchrun("t.py", **env("PET_NNODES", "2:1")), {"bad-nnodes"}),
    (
        "the flag wins over a broken variable",
        torchrun("--nnodes=1", "t.py", **env("PET_NNODES", "2:1")),
        {"contradicting-launch-option"},
    ),
    ("processes with spaces, which int() accepts", torchrun("--nproc-per-node= 1 ", "t.py"), set()),
    ("no processes", torchrun("--nproc-per-node=0", "t.py"), {"bad-nproc"}),
    ("a custom device of the image", torchrun("--nproc-per-node=npu", "t.py"), set()),
    ("half a process", torchrun("--nproc-per-node=1.5", "t.py"), {"bad-nproc"}),
    ("a bad port", torchrun("--master-port=70000", "t.py"), {"bad-launch-number"}),
    ("an interval with a fraction", torchrun("--monitor-interval=.5", "t.py"), set()),
    ("an interval in words", torchrun("--monitor-interval=5s", "t.py"), {"bad-launch-number"}),
    (
        "an endpoint without a port",
        torchrun("--rdzv-backend=c10d", "--rdzv-endpoint=localhost", "t.py"),
        set(),
    ),
    (
        "a static endpoint without a port",
        torchrun("--rdzv-endpoint=localhost", "t.py"),
        {"bad-endpoint"},
    ),
    (
        "an IPv6 endpoint",
        torchrun("--rdzv-backend=c10d", "--rdzv-endpoint=[::1]:29400", "t.py"),
        set(),
    ),
    (
        "an endpoint of an unknown backend",
        torchrun("--rdzv-backend=zeus", "--rdzv-endpoint=x://y", "t.py"),
        set(),
    ),
    ("conf without a value", torchrun("--rdzv-conf=a=1,b=", "t.py"), {"bad-rdzv-conf"}),
    ("conf that is empty", torchrun("--rdzv-conf=", "t.py"), set()),
    (
        "a misspelled backend",
        torchrun("--rdzv-backend=c10", "--rdzv-endpoint=localhost:1", "t.py"),
        {"unknown-rdzv-backend"},
    ),
    ("a custom backend of the image", torchrun("--rdzv-backend=mytube", "t.py"), set()),
    (
        "etcd without an id",
        torchrun("--rdzv-backend=etcd", "--rdzv-endpoint=etcd:2379", "t.py"),
        {"etcd-without-id"},
    ),
    (
        "static options with c10d",
        torchrun("--rdzv-backend=c10d", "--rdzv-endpoint=localhost:1", "--node-rank=0", "t.py"),
        {"ignored-rendezvous-option"},
    ),
    (
        "an endpoint with --standalone",
        torchrun("--standalone", "--rdzv-endpoint=localhost:1", "t.py"),
        {"ignored-rendezvous-option"},
    ),
    ("a switch in words", torchrun("t.py", **env("PET_STANDALONE", "yes")), {"bad-pet-switch"}),
    ("a switch with a number", torchrun("t.py", **env("PET_STANDALONE", "1")), set()),
    ("a switch without torchrun", pod("python", "t.py", **env("PET_STANDALONE", "yes")), set()),
    (
        "a misspelled variable",
        torchrun("t.py", **env("PET_N_PROC_PER_NODE", "1")),
        {"unknown-pet-variable"},
    ),
    (
        "a variable of the process",
        torchrun("t.py", **env("LOCAL_RANK", "0")),
        {"env-that-torchrun-sets"},
    ),
    (
        "a variable that the command uses",
        torchrun("--node-rank=$(RANK)", "t.py", **env("RANK", "0")),
        set(),
    ),
    (
        "flag and variable agree",
        torchrun("--max-restarts=3", "t.py", **env("PET_MAX_RESTARTS", "3")),
        set(),
    ),
    (
        "flag and variable differ",
        torchrun("--max-restarts=3", "t.py", **env("PET_MAX_RESTARTS", "4")),
        {"contradicting-launch-option"},
    ),
    (
        "flag and field differ",
        pytorchjob(master=["torchrun", "--nproc-per-node=1", "t.py"], nprocPerNode="2"),
        {"contradicting-launch-option"},
    ),
    (
        "flag and the operator's own default",
        pytorchjob(master=["torchrun", "--nproc-per-node=1", "t.py"], nprocPerNode=None),
        set(),
    ),
    (
        "one number is a range of one",
        pytorchjob(worker=["torchrun", "--nnodes=2", "t.py"], elasticPolicy={"minReplicas": 2}),
        set(),
    ),
    (
        "standalone of the operator",
        pytorchjob(worker=["torchrun", "t.py"], elasticPolicy={"standalone": True}),
        {"bad-pet-switch"},
    ),
    (
        "many restarts",
        jobset(
            role("torchrun", "--max-restarts=9", "t.py", pods=1), failurePolicy={"maxRestarts": 9}
        ),
        {"restarts-multiply"},
    ),
    (
        "a range above the pods",
        jobset(
            role(
                "torchrun",
                "--nnodes=1:3",
                "--rdzv-backend=c10d",
                "--rdzv-endpoint=train-node-0-0.train:1",
                "t.py",
            )
        ),
        {"range-above-pods", "shared-rendezvous-store", "range-without-restarts"},
    ),
]


@pytest.mark.parametrize(
    ("manifest", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_rules_about_options_fire(manifest: Json, expected: set[str]) -> None:
    assert names(manifest) == expected
