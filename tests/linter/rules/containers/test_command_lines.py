"""Rules for command lines, in the different forms that command and args can have."""

from __future__ import annotations

import textwrap

import pytest

import ptcompile
from tests.linter.asking import container, fires, problems_of

A = {"name": "A_B", "value": "1"}


@pytest.mark.parametrize(
    ("rule", "fields", "expected"),
    [
        ("command-in-one-word", {"command": ["python train.py"]}, True),
        ("command-in-one-word", {"command": ["bash -c 'run it'"]}, True),
        ("command-in-one-word", {"command": ["python", "train.py x"]}, False),
        ("command-in-one-word", {"command": ["python", "train.py --lr 3"]}, True),
        ("command-in-one-word", {"command": ["python", "-u"], "args": ["train.py --lr 3"]}, True),
        ("command-in-one-word", {"command": ["python", "-m", "pkg.train --lr 3"]}, True),
        ("command-in-one-word", {"command": ["python", "-c", "import train; train.run()"]}, False),
        ("command-in-one-word", {"command": ["torchrun", "train.py --lr 3"]}, True),
        ("command-in-one-word", {"command": ["torchrun", "--nnodes=1"], "args": ["train.py conf.yaml"]}, True),
        ("command-in-one-word", {"command": ["torchrun", "python train.py"]}, True),
        ("command-in-one-word", {"command": ["torchrun", "-m", "pkg.train x"]}, True),
        ("command-in-one-word", {"command": ["python", "-m", "torch.distributed.run", "train.py --lr 3"]}, True),
        ("command-in-one-word", {"command": ["accelerate", "launch", "train.py --lr 3"]}, True),
        ("command-in-one-word", {"command": ["accelerate", "launch", "--module", "pkg.train 3"]}, True),
        ("command-in-one-word", {"command": ["env", "A=1", "deepspeed", "--num_gpus=8", "train.py --lr 3"]}, True),
        ("command-in-one-word", {"command": ["torchrun", "my train.py"]}, False),  # a file may have that name
        ("command-in-one-word", {"command": ["torchrun", "train.py", "--prompt", "a b.py --c"]}, False),
        ("command-in-one-word", {"command": ["torchrun", "--log-dir", "/a b", "train.py"]}, False),
        ("command-in-one-word", {"command": ["bash", "-c", "torchrun 'train.py --lr 3'"]}, False),
        ("command-in-one-word", {"command": ["mpirun", "-np", "8", "train.py --lr 3"]}, False),
        ("command-in-one-word", {"args": ["torchrun", "train.py --lr 3"]}, False),
        ("command-in-one-word", {"args": ["python train.py"]}, False),  # the entry point may be a shell
        ("command-in-one-word", {"command": ["bash", "-c", "python train.py"]}, False),
        ("option-in-one-word", {"command": ["python"], "args": ["train.py", "--lr 0.1"]}, True),
        ("option-in-one-word", {"command": ["python"], "args": ["train.py", "--lr -1"]}, True),
        ("option-in-one-word", {"command": ["python"], "args": ["train.py", "--lr=0.1 0.2"]}, False),
        ("option-in-one-word", {"command": ["python"], "args": ["train.py", "--prompt", "a b --c d"]}, False),
        ("option-in-one-word", {"args": ["--lr 0.1"]}, False),
        ("option-in-one-word", {"command": ["bash", "-c", "x"], "args": ["--lr 0.1"]}, False),
        ("shell-syntax-without-shell", {"command": ["a", "&&", "b"]}, True),
        ("shell-syntax-without-shell", {"command": ["a"], "args": ["x", ">", "/log"]}, True),
        ("shell-syntax-without-shell", {"command": ["bash", "-c", "a && b"]}, False),
        ("shell-syntax-without-shell", {"command": ["find", ".", "-exec", "cat", "{}", ";"]}, False),
        ("shell-syntax-without-shell", {"args": ["a", "&&", "b"]}, False),
        ("shell-variable-without-shell", {"command": ["python", "t.py", "--data=${DATA_DIR}"]}, True),
        ("shell-variable-without-shell", {"command": ["python", "t.py", "$HOSTNAME"]}, True),
        ("shell-variable-without-shell", {"command": ["python", "t.py", "$(DATA_DIR)"]}, False),
        ("shell-variable-without-shell", {"command": ["python", "t.py", "$$DATA_DIR"]}, False),
        ("shell-variable-without-shell", {"command": ["python", "t.py", "run=${now:%Y}"]}, False),  # hydra's
        ("shell-variable-without-shell", {"command": ["sh", "-c", "python $DATA_DIR"]}, False),
        ("shell-variable-in-env", {"env": [A, {"name": "B", "value": "${A_B}/x"}]}, True),
        ("shell-variable-in-env", {"env": [A, {"name": "B", "value": "$(A_B)/x"}]}, False),
        ("shell-variable-in-env", {"env": [A, {"name": "B", "value": "costs 5$"}]}, False),
        ("shell-variable-in-env", {"env": [A, {"name": "B", "value": "$$A_B"}]}, False),
        ("script-without-c", {"command": ["bash", "python train.py"]}, True),
        ("script-without-c", {"command": ["sh"], "args": ["-x", "torchrun train.py"]}, True),
        ("script-without-c", {"command": ["bash", "run.sh"], "args": ["a b"]}, False),
        ("script-without-c", {"command": ["bash", "-c", "python train.py"]}, False),
        ("script-without-c", {"args": ["bash", "python train.py"]}, False),
        ("lost-arguments", {"command": ["bash", "-c", "torchrun", "--nnodes=2"]}, True),
        ("lost-arguments", {"command": ["sh", "-c"], "args": ["a", "b"]}, True),
        ("lost-arguments", {"command": ["bash", "-c", "a", "bash", "b"]}, True),
        ("lost-arguments", {"command": ["bash", "-c", "exec \"$@\"", "--", "torchrun"]}, False),
        ("lost-arguments", {"command": ["bash", "-c", "run $1", "_", "x"]}, False),
        ("lost-arguments", {"command": ["bash", "-c", "run", "bash"]}, False),
        ("lost-arguments", {"command": ["bash", "run.sh", "a", "b"]}, False),
        ("background-training", {"command": ["bash", "-c", "torchrun train.py &"]}, True),
        ("background-training", {"command": ["bash", "-c", "torchrun train.py & wait"]}, False),
        ("background-training", {"command": ["bash", "-c", "python a.py & python b.py"]}, False),
        ("background-training", {"command": ["bash", "-c", "torchrun train.py &> log"]}, False),
    ],
)  # fmt: skip
def test_each_spelling_of_a_command_is_judged(
    rule: str, fields: dict[str, object], expected: bool
) -> None:
    assert fires(rule, container(**fields)) is expected


def test_one_word_is_split_as_a_shell_would() -> None:
    (problem,) = problems_of(
        "command-in-one-word", container(command=["python train.py --name 'a b'", "--lr=1"])
    )
    assert problem.fix is not None
    assert problem.fix.edits[0].value == ["python", "train.py", "--name", "a b", "--lr=1"]


def test_the_script_of_a_launcher_is_split_in_its_own_list() -> None:
    (problem,) = problems_of(
        "command-in-one-word", container(command=["torchrun"], args=["train.py --lr '3'", "x"])
    )
    assert "torchrun starts one file named \"train.py --lr '3'\"" in problem.message
    assert problem.fix is not None
    (edit,) = problem.fix.edits
    assert (edit.path[-1], edit.value) == ("args", ["train.py", "--lr", "3", "x"])


def test_the_trainer_of_a_train_job_is_a_command_line_too() -> None:
    job = """
      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      metadata: {name: a}
      spec:
        runtimeRef: {name: torch-distributed}
        trainer: {image: "i:1", command: [torchrun, train.py --lr 3]}
    """
    (finding,) = ptcompile.lint(textwrap.dedent(job), select=["PTC804"]).diagnostics
    assert finding.path == ("spec", "trainer", "command", 1)


def test_words_that_need_a_shell_are_not_split() -> None:
    (problem,) = problems_of("command-in-one-word", container(command=["cd /x && python train.py"]))
    assert problem.fix is None


@pytest.mark.parametrize(
    ("command", "is_error"),
    [
        (["bash", "-c", "torchrun", "--nnodes=2", "train.py"], True),
        (["bash", "-c", "pip install x", "python train.py"], True),
        (["bash", "-c", "set -e", "cd /app && accelerate launch train.py"], True),
        (["bash", "-c", "torchrun train.py", "echo done"], False),
        (["bash", "-c", "python train.py", "python eval.py"], False),
    ],
)
def test_a_lost_launcher_is_an_error(command: list[str], is_error: bool) -> None:
    (problem,) = problems_of("lost-arguments", container(command=command))
    assert (problem.severity == "error") == is_error
