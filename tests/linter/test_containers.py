"""Command lines as rules parse them."""

from __future__ import annotations

import pytest

from ptcompile.linter.containers import idle_command, is_mutable, split_image, training_command
from ptcompile.world.templates import ManifestContainer


def _container(*argv: str, args: tuple[str, ...] = ()) -> ManifestContainer:
    return ManifestContainer((), {"command": list(argv), "args": list(args)}, init=False, main=True)


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
def test_a_command_that_idles_forever_is_recognized(argv: list[str], expected: str | None) -> None:
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
def test_an_image_is_split_into_repository_and_version(
    image: str, repository: str, version: str
) -> None:
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
def test_images_without_a_fixed_tag_are_mutable(image: str, expected: bool) -> None:
    assert is_mutable(image) is expected


def test_a_script_may_be_in_args() -> None:
    container = _container("bash", "-c", args=("run", "lost"))
    assert container.script_path == ("args", 0)


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
        ("if true; then torchrun train.py; fi", True),
        ("torchrun train.py || exit $?", True),
    ],
)
def test_a_script_that_trains_is_recognized(line: str, expected: bool) -> None:
    assert (training_command(_container("bash", "-c", line).script) is not None) is expected


def test_the_last_training_command_counts() -> None:
    training = training_command(
        _container("bash", "-c", "python prepare.py && torchrun train.py; echo done\nls").script
    )
    assert training is not None
    assert training.words == ["torchrun", "train.py"]
