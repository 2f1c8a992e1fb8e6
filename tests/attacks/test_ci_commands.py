"""No line of a report is a command for the CI runner that prints it, whatever the input contains."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from ptcompile import cli
from ptcompile.cli import files
from ptcompile.report import FORMATS
from ptcompile.report.layout import format_json, safe_lines, safe_text

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
    "{}{}{}".format, st.sampled_from(BEFORE), st.sampled_from(COMMANDS), st.sampled_from(("", "\n", "]"))
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


def pod(value: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": value, "labels": {value: value}, "annotations": {"a": value}},
        "spec": {
            "restartPolicy": "Never",
            value: value,
            "containers": [{"name": "c", "imagee": value, "image": value, "args": [value], "env": [{"name": value}]}],
        },
    }


def job(value: str) -> dict[str, Any]:
    template = {
        "spec": {"restartPolicy": "Never", "containers": [{"name": value, "image": "i", "command": ["a", value]}]}
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": value}, "spec": {"template": template}}


def spec(value: str) -> dict[str, Any]:
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "train"},
        "spec": {
            "image": "i:1",
            "command": ["python", value],
            "env": {"A": value},
            "podAnnotations": {"a/b": value},
            "resources": {"cpu": 1, "memory": "1Gi"},
        },
    }


PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "values and keys of a Pod": pod,
    "name of a Job and its container": job,
    "kind": lambda value: {"apiVersion": "x/v1", "kind": value, "metadata": {"name": "a"}},
    "apiVersion": lambda value: {"apiVersion": value, "kind": "Pod", "metadata": {"name": "a"}},
    "values of a spec that compiles": spec,
    "key of a spec": lambda value: {**spec("a"), "spec": {**spec("a")["spec"], value: value}},
    "name of a spec": lambda value: {**spec("a"), "metadata": {"name": value}},
}
OTHER = json.dumps({**spec("a"), "metadata": {"name": "b"}})
REPORTS = (
    *(["lint", "--output-format", name] for name in FORMATS),
    ["lint", "--statistics"],
    ["simulate"],
    ["simulate", "--format", "json"],
    ["simulate", "--pod", "x"],
    ["simulate", "--graph", "mermaid"],
    ["simulate", "--graph", "svg"],
    ["explain"],
    ["explain", "--format", "json"],
    ["explain", "--no-lint", "spec"],
    *(["diff", "other.yaml", "--format", name] for name in ("text", "json", "markdown")),
    ["requires"],
    ["platform", "--list", "cluster.yaml"],
    ["compile", "-o", "out.yaml", "--check"],
    ["compile", "--prune", "-o", "out/"],
)
"""Commands whose standard output is a report."""
WRITERS = (
    *(["compile", "--output-format", name] for name in FORMATS),
    ["import"],
    ["convert", "--target", "job"],
    ["lint", "--diff"],
    ["simulate", "--env-file", "x"],
    ["platform", "cluster.yaml"],
)
"""Commands whose standard output is for use, and not escaped."""


@contextmanager
def folder() -> Iterator[Path]:
    before = Path.cwd()
    with TemporaryDirectory() as name:
        os.chdir(name)
        try:
            Path("cluster.yaml").write_text(
                "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: c}\nspec: {}\n"
            )
            Path("other.yaml").write_text(OTHER)
            Path("out.yaml").write_text(
                "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    ::error::committed ##[error]x\n"
            )
            yield Path(name)
        finally:
            os.chdir(before)


def run(*words: str) -> tuple[str, str]:
    """Run a command in this process; return what it prints to standard output and to standard error."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    real = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = streams
    try:
        cli.main([*words])
    except SystemExit:
        pass
    except files.UsageError as error:
        files.report_error(error)
    finally:
        sys.stdout, sys.stderr = real
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    return out, err


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=6)
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


@settings(max_examples=10)
@example(value="::error::x")
@given(value=hostile.filter(lambda value: "/" not in value))
def test_names_of_files_and_options(value: str) -> None:
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
def test_safe_text(text: str, safe: str) -> None:
    assert safe_text(text) == safe


@given(st.text() | hostile)
def test_json_is_read_as_the_same_data(text: str) -> None:
    shown = format_json({text: [text]})
    assert json.loads(shown) == {text: [text]}
    assert not commands_in(shown)


def test_lines_keep_tabs_and_ends() -> None:
    text = "a\tb\r\n ::c\n\t::d\n+\x1b[0m\r::e\n##[f]\n"
    assert safe_lines(text) == "a\tb\r\n \\x3a:c\n\t\\x3a:d\n+\\x1b[0m\\r::e\n#\\x23[f]\n"
