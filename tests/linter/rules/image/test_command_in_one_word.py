"""Words that no shell splits: which are command lines, and which are names with spaces."""

from __future__ import annotations

import pytest

from tests.linter.asking import container, problems_of

RULE = "command-in-one-word"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["python train.py"], "no shell splits 'python train.py'"),
        (["/opt/my app/run"], "no shell splits"),
        (
            ["torchrun", "train.py --epochs 3"],
            "torchrun starts one file named 'train.py --epochs 3'",
        ),
        (["torchrun", "train.py data"], "torchrun starts one file"),
        (["torchrun", "python train.py"], "torchrun starts one file"),
        (["torchrun", "-m", "acme.train --epochs 3"], "torchrun starts one module"),
        (["python", "train.py --epochs 3"], "python starts one file"),
        (["python", "-m", "acme.train --epochs 3"], "python starts one module"),
        (["accelerate", "launch", "train.py --epochs 3"], "accelerate starts one file"),
        (["accelerate", "launch", "-m", "acme.train x"], "accelerate starts one module"),
    ],
)
def test_a_command_line_in_one_word_is_reported(command: list[str], message: str) -> None:
    (problem,) = problems_of(RULE, container(command=command))
    assert message in problem.message


@pytest.mark.parametrize(
    "command",
    [
        ["python"],
        ["torchrun", "train.py"],
        ["torchrun", "my train.py"],  # a file whose name has a space
        ["torchrun", "train.py my.py"],
        ["torchrun", "notes about it"],
        ["torchrun", "train.py", "--name", "a b"],
        ["torchrun", "train.py", "--name", "x.py --y"],
        ["python", "python train.py"],
        ["python", "train.py data"],
        ["python", "run.sh --x"],
        ["bash", "-c", "python train.py --x"],
        ["torchrun", "--rdzv-id=a b", "train.py"],
        ["./run", "train.py --x"],
    ],
)
def test_a_word_with_spaces_that_may_be_intended_has_no_finding(command: list[str]) -> None:
    assert not problems_of(RULE, container(command=command))


def test_the_fix_splits_the_word_and_keeps_the_others() -> None:
    (problem,) = problems_of(
        RULE, container(command=["torchrun", "--nnodes=1", "train.py --x 'a b'"], args=["y"])
    )
    assert problem.fix is not None
    (edit,) = problem.fix.edits
    assert edit.path[-1] == "command"
    assert edit.value == ["torchrun", "--nnodes=1", "train.py", "--x", "a b"]


def test_a_word_that_a_shell_would_expand_has_no_fix() -> None:
    (problem,) = problems_of(RULE, container(command=["python train.py $ARGS"]))
    assert problem.fix is None
