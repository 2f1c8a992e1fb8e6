"""Command lines as rules parse them."""

from __future__ import annotations

import pytest

from ptcompile.linter.containers import idle_command, shell_script
from ptcompile.linter.templates import ManifestContainer


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
