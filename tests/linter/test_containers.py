"""Command lines as rules parse them."""

from __future__ import annotations

import pytest

from ptcompile.linter.containers import (
    TrainingStep,
    idle_command,
    is_mutable,
    shell_script,
    split_image,
    training_step,
)
from ptcompile.world.templates import ManifestContainer


def _container(*argv: str, args: tuple[str, ...] = ()) -> ManifestContainer:
    return ManifestContainer((), {"command": list(argv), "args": list(args)}, init=False, main=True)


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["bash", "-c", "run"], "run"),
        (["/bin/sh", "-ec", "run"], "run"),
        (["bash", "-l", "-c", "run", "x"], "run"),
        (["bash", "-o", "pipefail", "-c", "run"], "run"),
        (["bash", "-euo", "pipefail", "-c", "run"], "run"),
        (["bash", "-c", "-x", "run"], "run"),  # options may follow -c
        (["tini", "--", "bash", "-c", "run"], "run"),
        (["bash", "--login", "-c", "run"], "run"),
        (["bash", "run.sh"], None),
        (["bash", "run.sh", "-c", "config"], None),
        (["bash", "-c"], None),
        (["python", "-c", "print()"], None),
        ([], None),
    ],
)
def test_script(argv: list[str], expected: str | None) -> None:
    found = shell_script(_container(*argv))
    assert (found and found.word.text) == expected


def test_a_script_may_be_in_args() -> None:
    found = shell_script(_container("bash", "-c", args=("run", "lost")))
    assert found is not None
    assert (found.word.path, [word.text for word in found.rest]) == (("args", 0), ["lost"])


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["sleep", "infinity"], "sleep infinity"),
        (["/bin/sleep", "inf"], "sleep inf"),
        (["tail", "-f", "/dev/null"], "tail -f /dev/null"),
        (["bash", "-c", "exec sleep infinity;"], "sleep infinity"),
        (["bash", "-c", "python train.py; sleep infinity"], None),
        (["sleep", "100"], None),
        (["python", "train.py"], None),
    ],
)
def test_endless(argv: list[str], expected: str | None) -> None:
    assert idle_command(_container(*argv)) == expected


@pytest.mark.parametrize(
    ("image", "repository", "version"),
    [
        ("acme/train", "acme/train", ""),
        ("acme/train:1.0", "acme/train", "1.0"),
        ("reg:5000/train", "reg:5000/train", ""),
        ("reg:5000/train:1", "reg:5000/train", "1"),
        ("train:1@sha256:abc", "train", "sha256:abc"),
    ],
)
def test_the_parts_of_an_image(image: str, repository: str, version: str) -> None:
    assert split_image(image) == (repository, version)


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("train", True),
        ("train:latest", True),
        ("train:1", False),
        ("${IMAGE}", False),
        ("<image>", False),
        ("Train", False),
    ],
)
def test_images_that_change_with_the_next_push(image: str, expected: bool) -> None:
    assert is_mutable(image) is expected


def _step(script: str, flag: str = "-c") -> TrainingStep | None:
    parsed = shell_script(_container("bash", *flag.split(), script))
    assert parsed is not None
    return training_step(parsed)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torchrun train.py", True),
        ("/usr/bin/torchrun train.py", True),
        ("A=1 B=2 torchrun train.py", True),
        ("exec env A=1 torchrun train.py", True),
        ("export A=1", False),
        ("python train.py", True),
        ("python3.12 -u -m app", True),
        ("python", False),
        ("python -c 1", False),
        ("pythonic train.py", False),
        ("./train.py", False),
        ("echo train.py", False),
        ("", False),
        ("if true; then torchrun train.py; fi", False),
        ("torchrun train.py || exit $?", False),
        ("torchrun train.py # " + "x" * (1 << 14), False),
    ],
)
def test_a_script_that_trains(line: str, expected: bool) -> None:
    assert (_step(line) is not None) is expected


def test_the_last_training_command_counts_with_what_follows() -> None:
    step = _step("python prepare.py && torchrun train.py; echo done\nls")
    assert step is not None
    assert step.separator == ";"
    assert [words for words, _ in step.after] == [["echo", "done"], ["ls"]]


@pytest.mark.parametrize(
    ("script", "flag", "errexit", "pipefail"),
    [
        ("torchrun t.py", "-c", False, False),
        ("torchrun t.py", "-ec", True, False),
        ("torchrun t.py", "-euo pipefail -c", True, True),
        ("torchrun t.py", "--login -c", False, False),
        ("set -e\ntorchrun t.py", "-c", True, False),
        ("set -ux\ntorchrun t.py", "-c", False, False),
        ("set -o errexit\ntorchrun t.py", "-c", True, False),
        ("set -o pipefail\ntorchrun t.py", "-c", False, True),
        ("set -xeuo pipefail; torchrun t.py", "-c", True, True),
    ],
)
def test_options_of_the_shell(script: str, flag: str, errexit: bool, pipefail: bool) -> None:
    step = _step(script, flag)
    assert step is not None
    assert (step.errexit, step.pipefail) == (errexit, pipefail)
