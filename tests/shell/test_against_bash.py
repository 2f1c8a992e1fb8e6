"""What the reader says of a script is what bash did with it: launches, arguments, and whether a failure is seen."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from ptcompile.kubernetes.commands import basename, unwrap
from ptcompile.shell.parser import parse
from ptcompile.shell.script import Script, ShellCommand, read_script
from ptcompile.shell.values import Argument, is_known
from tests.shell.record import ENV, LAUNCHERS, RECORDED, SCRIPTS
from tests.small_cases import check_each

RESULTS: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text())
NAMES = sorted(RESULTS)
ENDED_WELL = [name for name in NAMES if RESULTS[name]["status"] == 0]


def _text(name: str) -> str:
    return (SCRIPTS / f"{name}.sh").read_text()


@cache
def _script(name: str) -> Script:
    script = read_script(["bash", "-c", _text(name)], ENV)
    assert script is not None
    return script


def _launches(name: str) -> list[ShellCommand]:
    return [command for command in _script(name).commands if _program(command) in LAUNCHERS]


def _program(command: ShellCommand) -> str:
    return basename(command.words[unwrap(command.words).start])


def _pattern(argument: Argument) -> str:
    """Return what an argument with unknown parts may be, with a NUL after each word."""
    parts = [re.escape(piece.text) if is_known((piece,)) else ".*" for piece in argument.value]
    text = "".join(parts)
    return f"(?:{text}\0)?" if argument.may_split else f"{text}\0"


def _is_of(command: ShellCommand, argv: Sequence[str]) -> bool:
    """Return whether a command may have had these arguments."""
    pattern = "".join(map(_pattern, command.argv[unwrap(command.words).start :]))
    return re.fullmatch(pattern, "".join(f"{word}\0" for word in argv), re.DOTALL) is not None


def test_the_recording_is_of_these_scripts() -> None:
    assert sorted(path.stem for path in SCRIPTS.glob("*.sh")) == NAMES
    assert len(NAMES) > 200


def check_syntax(name: str) -> None:
    assert (parse(_text(name)).error is None) == RESULTS[name]["is_valid"]


def test_the_syntax_is_valid_for_bash_if_it_is_here() -> None:
    check_each(NAMES, check_syntax)


def check_launches_of_bash(name: str) -> None:
    commands = _launches(name)
    for argv in RESULTS[name]["launches"]:
        assert any(_is_of(command, argv) for command in commands), (
            argv,
            [command.words for command in commands],
        )


def test_each_launch_of_bash_is_here_with_its_arguments() -> None:
    """So nothing runs of which the reader says that it does not."""
    check_each(NAMES, check_launches_of_bash)


def check_certain_launches(name: str) -> None:
    ran = RESULTS[name]["launches"]
    for command in _launches(name):
        assert command.doubt is not None or any(_is_of(command, argv) for argv in ran), (
            command.words
        )


def test_each_launch_that_is_certain_here_ran_in_bash() -> None:
    check_each(ENDED_WELL, check_certain_launches)


def check_failure(name: str) -> None:
    launches = _launches(name)
    if not RESULTS[name]["launches"] or _script(name).unread is not None:
        return
    is_failure = RESULTS[name]["status_if_launches_fail"] not in (0, None)
    assert any(command.fails_script for command in launches) == is_failure


def test_bash_fails_with_the_launch_if_the_reader_says_so() -> None:
    check_each(ENDED_WELL, check_failure)


def test_most_arguments_are_known() -> None:
    """The share of launches of which the reader knows each argument; others have parts that are marked unknown."""
    launches = [(name, argv) for name in NAMES for argv in RESULTS[name]["launches"]]
    exact = [
        argv for name, argv in launches if any(command.words == argv for command in _launches(name))
    ]
    assert len(exact) / len(launches) > 0.85
