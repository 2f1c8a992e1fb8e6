"""A launcher in `command` on several pods: said where each would train for itself, and nowhere else."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.operators.targets import TARGETS
from tests.making import compiled, text

SEVERAL = [name for name in TARGETS if name != "pod"]
TELLING = {"pytorchjob", "trainjob"}
"""These operators hand PET_* variables over, which torchrun reads.

Source: docs/facts/training-operator.md#environment; docs/facts/trainer.md#environment.
"""

COMMANDS = [
    ("command: [torchrun, train.py]", "worlds-apart", "command"),
    ("args: [torchrun, train.py]", "worlds-apart", "args"),  # the image has no entry point
    ("command: [python, -m, torch.distributed.run, train.py]", "worlds-apart", "command"),
    ("command: [bash, -c, 'exec torchrun --nproc-per-node=8 train.py']", "worlds-apart", "command"),
    ("command: [torchrun, --nnodes=1, train.py]", "worlds-apart", "command"),
    ("command: [torchrun, --standalone, train.py]", "standalone-on-many-pods", "command"),
]


def said(body: str, target: str) -> list[tuple[str, str]]:
    problems = compiled(text(f"image: img:1\n{body}\nnodes: 4"), target).problems
    assert all(p.severity == "warning" and p.stage == "run" and "script" in f"{p.help}" for p in problems)
    return [(p.name, str(p.path[1])) for p in problems]


@pytest.mark.parametrize(("body", "name", "where"), COMMANDS)
@pytest.mark.parametrize("target", [name for name in SEVERAL if name not in TELLING])
def test_each_pod_would_train_for_itself(body: str, name: str, where: str, target: str) -> None:
    assert said(body, target) == [(name, where)]


@pytest.mark.parametrize("target", sorted(TELLING))
def test_an_operator_that_tells_torchrun_of_its_nodes(target: str) -> None:
    assert said("command: [torchrun, train.py]", target) == []
    assert said("command: [torchrun, --standalone, train.py]", target) == [("standalone-on-many-pods", "command")]


@pytest.mark.parametrize("target", SEVERAL)
def test_accelerate_reads_the_variables_of_no_operator(target: str) -> None:
    assert said("command: [accelerate, launch, train.py]", target) == [("launcher-alone", "command")]


@pytest.mark.parametrize(
    "body",
    [
        "command: [python, train.py]",
        "command: [python, launch.py, --launcher, torchrun]",  # torchrun is a word of the script
        "command: [torchrun, --nnodes=4, --node-rank=$(RANK), --master-addr=$(MASTER_ADDR), train.py]",
        "command: [torchrun, train.py]\nenv: {PET_NNODES: '4', PET_NODE_RANK: $(RANK), PET_MASTER_ADDR: a.b}",
        "command: [bash, -c, 'if [ $A ]; then torchrun train.py; fi']",  # nobody knows
        "script: train.py",
    ],
)
def test_what_meets_and_what_nobody_knows_is_left_alone(body: str) -> None:
    assert said(body, "jobset") == []


def test_one_node_meets_nobody() -> None:
    assert compiled(text("image: img:1\ncommand: [torchrun, train.py]")).problems == ()


def test_a_role_s_own_command_is_where_it_is_said() -> None:
    body = "image: img:1\nmaster: {command: [torchrun, a.py]}\nworker: {replicas: 2, command: [torchrun, b.py]}"
    (problem,) = compiled(text(body), "volcano").problems
    assert (problem.name, problem.path) == ("worlds-apart", ("spec", "master", "command"))


def test_lint_says_it_once_and_as_compile_does() -> None:
    source = text("image: img:1\ncommand: [torchrun, train.py]\nnodes: 4\ntarget: volcano")
    told = [d for d in ptcompile.lint(source).diagnostics if d.name == "worlds-apart"]
    assert told == list(ptcompile.compile(source).diagnostics)
    assert len(told) == 1


def test_lint_asks_nobody_to_remove_what_a_pass_wrote() -> None:
    """WORLD_SIZE of a script without torchrun is the pass's; what stands in `env` is the user's."""
    source = text("image: img:1\ncommand: [torchrun, train.py]\nnodes: 4\ntarget: volcano")
    assert [one for one in ptcompile.lint(source).diagnostics if one.name == "env-that-torchrun-sets"] == []
    own = f'{source}  env: {{LOCAL_RANK: "0"}}\n'
    (told,) = [one for one in ptcompile.lint(own).diagnostics if one.name == "env-that-torchrun-sets"]
    assert told.path == ("spec", "env", "LOCAL_RANK")
