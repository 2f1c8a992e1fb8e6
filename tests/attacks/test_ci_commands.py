"""No line of a report is a command for the CI runner that prints it, whatever the input contains."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from ptcompile.report.layout import format_json, safe_lines, safe_text
from tests.attacks.places import PLACES, REPORTS, WRITERS, folder, run, spec

COMMANDS = (
    "##vso[task.prependpath]/tmp/evil",
    "##VSO[task.setvariable variable=a]b",
    "##[error]x",
    "###[group]x",
    "##teamcity[buildStop comment='x']",
    "::error::x",
    "::set-output name=a::b",
    "::add-mask::a",
    "::stop-commands::t",
    "\x1b[0Ksection_start:1:a\r\x1b[0Kx",
)
BEFORE = ("", "a", "#", " ", "\n", "a\n  ", "\r", "a\r\n", "\t", "a\n\t", "\x85", "a\u2028", "a: ")
hostile = st.builds(
    "{}{}{}".format,
    st.sampled_from(BEFORE),
    st.sampled_from(COMMANDS),
    st.sampled_from(("", "\n", "]")),
)

_hash_command = re.compile(r"##[A-Za-z]*\[")
_colon_command = re.compile(r"\s*::[A-Za-z]")
_own = re.compile(r"::(?:error|warning|notice) (?:file|title)=")
"""What the format `github` prints: ptcompile's own commands."""


def commands_in(text: str) -> list[str]:
    """Return the lines that a runner of GitHub, Azure Pipelines, GitLab or TeamCity would take for a command."""
    lines = text.splitlines()
    return [
        line
        for line in lines
        if _hash_command.search(line)
        or (_colon_command.match(line) and not _own.match(line))
        or not line.replace("\t", "").isprintable()
    ]


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=4)
@example(value="::error::x")
@given(value=hostile)
def test_no_report_gives_a_command(place: str, value: str) -> None:
    with folder():
        Path("a.yaml").write_text(json.dumps(PLACES[place](value), indent=1))
        for words in REPORTS:
            out, err = run(*words, "a.yaml")
            assert not commands_in(out), words
            assert not commands_in(err), words
        for words in WRITERS:
            assert not commands_in(run(*words, "a.yaml")[1]), words


@settings(max_examples=5)
@example(value="::error::x")
@given(value=hostile.filter(lambda value: "/" not in value))
def test_names_of_files_and_options_give_no_command(value: str) -> None:
    with folder():
        name = f"{value}.yaml"
        Path(name).write_text(json.dumps({**spec("a"), "nods": 1}))
        for words in (*REPORTS, *WRITERS):
            out, err = run(*words, name)
            assert not commands_in(err), words
            assert words in WRITERS or not commands_in(out), words
        Path(name).unlink()
        Path(name).symlink_to("/etc/passwd")
        Path("ptcompile.toml").write_text(f"{json.dumps(value)} = 1\n")
        for words in (
            ["lint", "."],
            ["lint", "--isolated", "."],
            ["compile", "--set", f"{value}=1", "other.yaml"],
            ["compile", "--set", f"spec..a={value}", "other.yaml"],
            ["lint", f"--{value}"],
            ["lint", value],
            ["explain", value],
            ["simulate", "other.yaml", "--pod", value],
        ):
            out, err = run(*words)
            assert not commands_in(out), words
            assert not commands_in(err), words


def test_the_law_can_fail() -> None:
    for command in COMMANDS:
        assert commands_in(f"a\n  {command}::b")
    with folder():
        Path("a.yaml").write_text(json.dumps(spec("##[error]x")))
        assert commands_in(run("compile", "a.yaml")[0]), "manifests are for use"
        assert "::error::committed" in run("compile", "-o", "out.yaml", "--check", "a.yaml")[0]


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a ##vso[b]c", r"a #\x23vso[b]c"),
        ("###[b]", r"##\x23[b]"),
        ("## b [c]", "## b [c]"),
        ("::error::b", r"\x3a:error::b"),
        ("  ::b", r"  \x3a:b"),
        ("a::b", "a::b"),
        ("::1", "::1"),
        ("a\n::b", r"a\n::b"),
    ],
)
def test_safe_text_escapes_commands_of_ci_runners(text: str, safe: str) -> None:
    assert safe_text(text) == safe


@given(st.text() | hostile)
def test_json_is_read_as_the_same_data(text: str) -> None:
    shown = format_json({text: [text]})
    assert json.loads(shown) == {text: [text]}
    assert not commands_in(shown)


def test_lines_keep_tabs_and_ends() -> None:
    text = "a\tb\r\n ::c\n\t::d\n+\x1b[0m\r::e\n##[f]\n"
    assert safe_lines(text) == "a\tb\r\n \\x3a:c\n\t\\x3a:d\n+\\x1b[0m\\r::e\n#\\x23[f]\n"
