"""Readings of scripts: doubts, bounds, places, files, and what pods share."""

from __future__ import annotations

import random
import time

import pytest

from ptcompile.shell import interpreter
from ptcompile.shell.nodes import Simple, walk
from ptcompile.shell.parser import parse
from ptcompile.shell.script import Script, read_script
from ptcompile.simulator.launchers.command import read_command_line
from tests.shell.record import SCRIPTS

TEXTS = [path.read_text() for path in sorted(SCRIPTS.glob("*.sh"))]


def _read(text: str, **env: str) -> Script:
    script = read_script(["bash", "-c", text], env)
    assert script is not None
    return script


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (
            '\nif [ -n "$X" ]; then\n  torchrun t.py\nfi',
            'line 2: `if [ -n "$X" ]` decides whether torchrun starts',
        ),
        ("[ -f /a ] && torchrun t.py", "line 1: `[ -f /a ] &&` decides whether torchrun starts"),
        (
            "[ -f /a ] || exit 0\ntorchrun t.py",
            "line 1: `[ -f /a ] ||` decides whether torchrun starts",
        ),
        (
            "case $X in\n  a) torchrun t.py ;;\nesac",
            "line 1: `case $X in` decides whether torchrun starts",
        ),
        (
            "for h in $HOSTS; do torchrun t.py; done",
            "line 1: `for h in $HOSTS` decides whether torchrun starts",
        ),
        (
            "f() {\n  [ -f x ] && return\n  torchrun t.py\n}\nf",
            "line 2: `[ -f x ] &&` decides whether torchrun starts",
        ),
        ("torchrun t.py\nif [", "line 2: `if [` cannot be read"),
        ("[ -f /a ] || exit 1\ntorchrun t.py", None),
        ("if [ -f /a ]; then A=1; fi\ntorchrun t.py", None),
        ("until nc -z a 1; do sleep 1; done\ntorchrun t.py", None),
        ("if [ $RANK = 0 ]; then torchrun t.py; fi", None),
    ],
)
def test_a_doubt_names_what_decides_about_the_launch(script: str, sentence: str | None) -> None:
    doubt = read_command_line(["bash", "-c", script], {"RANK": "0"}).doubt
    assert (doubt and doubt.sentence("torchrun")) == sentence


def test_an_unknown_file_leaves_literal_options_certain() -> None:
    script = ". /opt/env.sh\ntorchrun --nnodes=2 --node_rank=$RANK --master_addr $HOST t.py"
    launch = read_command_line(["bash", "-c", script], {"RANK": "0", "HOST": "a"})
    assert launch.doubt is None
    assert launch.changed == ("node-rank", "master-addr")
    assert launch.changed_by is not None
    assert (
        launch.changed_by.sentence("torchrun")
        == "line 1: `. /opt/env.sh` may change how torchrun starts"
    )


def test_files_are_read_from_the_working_folder() -> None:
    files = {
        "/scripts/run.sh": "#!/bin/bash -e\n. ./env.sh\ntorchrun --nnodes=$N $1; true",
        "/scripts/env.sh": "N=4",
    }
    for argv in (
        ["/scripts/run.sh", "t.py"],
        ["bash", "./run.sh", "t.py"],
        ["sh", "-c", "cd /scripts; ./run.sh t.py"],
    ):
        script = read_script(argv, {}, files.get, "/scripts") or _read("")
        launch = script.commands[-2] if script.commands else None
        assert launch is not None, argv
        assert launch.words == ["torchrun", "--nnodes=4", "t.py"]
        assert launch.fails_script is (argv[0] != "bash"), argv
    assert (
        read_script(["/scripts/run.py"], {}, {"/scripts/run.py": "#!/usr/bin/env python"}.get)
        is None
    )


def test_words_have_their_places() -> None:
    for text in TEXTS:
        for node in walk(parse(text).body):
            for word in (
                node.words
                if isinstance(node, Simple) and "`" not in text and "<<" not in text
                else ()
            ):
                assert text[word.start : word.end] == word.source


def test_pods_that_read_the_same_values_share_a_reading() -> None:
    text = "torchrun --node_rank=$RANK t.py"
    first = _read(text, RANK="1", OTHER="a")
    assert _read(text, RANK="1", OTHER="b") is first
    assert _read(text, RANK="2", OTHER="a") is not first


def test_a_full_cache_makes_room_only_for_another_script() -> None:
    for number in range(40):
        first = _read(f"torchrun t{number}.py")
        assert _read(f"torchrun t{number}.py") is first


def test_mutated_scripts_are_read_in_time() -> None:
    generator = random.Random(4)  # noqa: S311
    signs = [
        "'",
        '"',
        "$(",
        "${",
        "`",
        "((",
        "fi",
        "done",
        "<<E\n",
        "&&",
        "|",
        ";",
        "\\",
        "}",
        ")",
        "{ ",
        "=(",
    ]
    for _ in range(3_000):
        text = generator.choice(TEXTS)
        for _ in range(generator.randint(1, 4)):
            at = generator.randrange(len(text))
            text = text[:at] + generator.choice(signs) + text[at + generator.randint(0, 3) :]
        started = time.process_time()
        _read(text, HOSTNAME="job-0", RANK="0")
        assert time.process_time() - started < 2, text


@pytest.mark.parametrize(
    "text",
    [
        "f() { f; f; }; f",
        "f() { f | f & }; f",
        "eval 'eval $X' $X",
        "A='eval $A'; eval $A",
        "a=xxxxxxxxxx\n" + "a=$a$a\n" * 60,
        "A=(a b)\n" + 'A+=("${A[@]}")\n' * 40,
        "for a in 1 2 3 4 5 6 7 8 9; do\n" * 7 + "x\n" + "done\n" * 7,
        "x;" * 50_000,
        "x" * 100_000,
        "cat > r <<'EOF'\nbash r\nEOF\nbash r",
        *(
            piece * 10_000
            for piece in (
                "(",
                "$(",
                "${",
                "{ ",
                "if ",
                "&& x ",
                "$((",
                "<<E ",
                '"$(',
                "`",
                "a=(",
                "! ",
            )
        ),
    ],
)
def test_hostile_scripts_end_within_the_bounds(text: str) -> None:
    started = time.process_time()
    script = _read(f"{text}\ntorchrun t.py")
    assert time.process_time() - started < 3
    assert len(script.commands) <= interpreter._MAX_COMMANDS


@pytest.mark.parametrize("number", ["\u00b2", "9" * 5000], ids=["a superscript", "5000 digits"])
@pytest.mark.parametrize(
    "script",
    [
        "(exit {})",
        "shift {}",
        "x=$(printf %d {})",
        "x=${{{}}}",
        "[ {} -eq 1 ]",
    ],
)
def test_digits_that_are_no_number_stop_no_script(script: str, number: str) -> None:
    read = _read(f"{script.format(number)}\ntorchrun t.py")
    assert [argument.text for argument in read.commands[-1].argv] == ["torchrun", "t.py"]
