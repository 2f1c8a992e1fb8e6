"""Variables that are overwritten, not expanded, or unused."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.linter import run
from tests.linter.rules.launch.making import job, jobset, names, pod, pytorchjob, role

Json = dict[str, Any]
ENV = frozenset(
    {
        "literal-variable",
        "reserved-env",
        "loopback-interface",
        "gloo-interface-pattern",
        "launcher-alone",
    }
)


def env(**values: str) -> Json:
    return {"env": [{"name": name, "value": value} for name, value in values.items()]}


def torch(**values: str) -> Json:
    return pytorchjob(master=["torchrun", "t.py"], container=env(**values))


def nodes(**values: str) -> Json:
    c10d = ("--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=train-node-0-0.train:1")
    return jobset(role("torchrun", *c10d, "t.py", **env(**values)))


CASES: list[tuple[str, Json, set[str]]] = [
    ("a variable of the operator", torch(WORLD_SIZE="8"), {"reserved-env"}),
    ("with the same value", torch(WORLD_SIZE="1"), set()),
    ("the same to Python", torch(PYTHONUNBUFFERED="true"), set()),
    ("not the same to Python", torch(PYTHONUNBUFFERED="0"), {"reserved-env"}),
    ("a variable of a Pod is the user's", pod("python", "t.py", **env(WORLD_SIZE="8")), set()),
    ("the operator's in a value", torch(MY_ADDR="$(MASTER_ADDR)"), {"literal-variable"}),
    (
        "two variables give one finding",
        torch(MY_URL="tcp://$(MASTER_ADDR):$(MASTER_PORT)"),
        {"literal-variable"},
    ),
    ("escaped", torch(MY_ADDR="$$(MASTER_ADDR)"), set()),
    ("the user's own, defined before", torch(ADDR="a", MY_ADDR="$(ADDR)"), set()),
    (
        "the index of an Indexed Job",
        job("python", "t.py", **env(MY_RANK="$(JOB_COMPLETION_INDEX)")),
        {"literal-variable"},
    ),
    ("the index in the command", job("python", "t.py", "$(JOB_COMPLETION_INDEX)"), set()),
    (
        "an unset variable, in the command",
        pod("python", "t.py", "--rank=$(RANK)"),
        {"literal-variable"},
    ),
    (
        "a command of the shell",
        pod("bash", "-c", "python t.py --host $(hostname) $(RANK_OF_ME)"),
        set(),
    ),
    (
        "a ConfigMap may set it",
        pod("python", "$(RANK)", envFrom=[{"configMapRef": {"name": "x"}}]),
        set(),
    ),
    ("NCCL over lo", nodes(NCCL_SOCKET_IFNAME="lo"), {"loopback-interface"}),
    ("NCCL over anything else", nodes(NCCL_SOCKET_IFNAME="^lo"), set()),
    ("Gloo with NCCL's pattern", nodes(GLOO_SOCKET_IFNAME="^lo"), {"gloo-interface-pattern"}),
    ("one pod may use lo", pod("torchrun", "t.py", **env(GLOO_SOCKET_IFNAME="lo")), set()),
    ("accelerate on one pod", pytorchjob(master=["accelerate", "launch", "t.py"]), set()),
    (
        "accelerate on two",
        pytorchjob(worker=["accelerate", "launch", "t.py"], elasticPolicy={}),
        {"launcher-alone"},
    ),
    (
        "accelerate with its machines",
        pytorchjob(worker=["accelerate", "launch", "--num_machines=2", "t.py"], elasticPolicy={}),
        set(),
    ),
    (
        "accelerate by variables",
        pytorchjob(
            worker=["accelerate", "launch", "t.py"],
            elasticPolicy={},
            container=env(ACCELERATE_CONFIG="x"),
        ),
        set(),
    ),
    (
        "deepspeed on two",
        pytorchjob(worker=["deepspeed", "t.py"], elasticPolicy={}),
        {"launcher-alone"},
    ),
    (
        "deepspeed with a host file, over ssh",
        pytorchjob(worker=["deepspeed", "--hostfile=/etc/hosts.txt", "t.py"], elasticPolicy={}),
        {"launcher-alone"},
    ),
    (
        "deepspeed with a host file, without ssh",
        pytorchjob(
            worker=["deepspeed", "--hostfile=/etc/hosts.txt", "--no_ssh", "t.py"], elasticPolicy={}
        ),
        set(),
    ),
    (
        "deepspeed over ssh from one pod",
        jobset(role("deepspeed", "--hostfile=/h", "t.py", pods=1)),
        set(),
    ),
]


@pytest.mark.parametrize(
    ("manifest", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_rules_about_variables_fire(manifest: Json, expected: set[str]) -> None:
    assert names(manifest) & ENV == expected


def test_one_finding_names_all_variables_of_a_value() -> None:
    (problem,) = run(torch(URL="tcp://$(MASTER_ADDR):$(MASTER_PORT)"), only={"literal-variable"})
    assert "$(MASTER_ADDR), $(MASTER_PORT)" in problem.message


@pytest.mark.parametrize(("other", "safe"), [("x", True), ("$(WORLD_SIZE)", False)])
def test_removing_an_unreferenced_variable_is_safe(other: str, *, safe: bool) -> None:
    (problem,) = run(torch(WORLD_SIZE="8", OTHER=other), only={"reserved-env"})
    assert problem.fix is not None
    assert problem.fix.safe is safe


def test_sidecars_are_overwritten_too() -> None:
    manifest = pytorchjob(master=["torchrun", "t.py"])
    spec = manifest["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    spec["containers"].append({"name": "side", "image": "i:1", **env(RANK="7")})
    (problem,) = run(manifest, only={"reserved-env"})
    assert problem.path[-4:] == ("containers", 1, "env", 0)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("deepspeed", "--hostfile=/h", "--no_ssh", "t.py"), "which DeepSpeed supports"),
        (("accelerate", "launch", "--config_file=fsdp.yaml", "t.py"), "which accelerate supports"),
        (("/opt/start.sh",), "start torchrun in the command itself"),
        ((), "write the command that the image runs"),
    ],
)
def test_an_unknown_launch_has_the_help_of_its_launcher(
    command: tuple[str, ...], expected: str
) -> None:
    manifest = jobset(role(*command, resources={"limits": {"nvidia.com/gpu": 1}}))
    (finding,) = run(manifest, only={"launch-not-understood"})
    assert expected in (finding.help or "")


def test_deepspeed_over_ssh_is_one_finding() -> None:
    manifest = jobset(
        role("deepspeed", "--hostfile=/h", "t.py", resources={"limits": {"nvidia.com/gpu": 1}})
    )
    assert list(run(manifest, only={"launch-not-understood"})) == []
