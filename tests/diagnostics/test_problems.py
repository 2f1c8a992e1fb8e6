"""A problem's message: its field, then its text. No code moves a problem by editing a sentence."""

from __future__ import annotations

import re

import pytest

from ptcompile.compiler.frontend.parts import with_path
from ptcompile.diagnostics import Path, Problem, message_at, problem_at
from ptcompile.extending.calls import led_by_field
from ptcompile.linter.rule import Finding, found_at
from ptcompile.source.streams import read, to_diagnostic
from tests import sources

NODES: Path = ("spec", "nodes")


@pytest.mark.parametrize(
    ("path", "field", "message"),
    [
        (NODES, None, "spec.nodes: too many"),
        (NODES, "job[worker]", "job[worker]: too many"),
        (NODES, "", "too many"),
        ((), None, "too many"),  # the document itself has no name
    ],
)
def test_a_message_is_the_field_and_the_text(path: Path, field: str | None, message: str) -> None:
    assert message_at(path, "too many", field) == message
    assert problem_at("x", path, "too many", field=field).message == message
    assert found_at(path, "too many", None, field=field).message == message


def test_a_problem_made_of_a_whole_sentence_says_only_that() -> None:
    assert Problem("x", NODES, "spec.nodes: too many").message == "spec.nodes: too many"
    assert Finding(NODES, "spec.nodes: too many").message == "spec.nodes: too many"


def test_a_problem_is_moved_by_its_path() -> None:
    problem = problem_at("x", NODES, "too many for spec.nodes")
    moved = problem._replace(path=("items", 0, *NODES))
    assert moved.message == "items[0].spec.nodes: too many for spec.nodes"
    assert with_path(problem, ("spec", "worker")).message == "spec.worker: too many for spec.nodes"


def test_a_moved_problem_may_keep_its_name() -> None:
    problem = problem_at("x", NODES, "too many")
    assert problem._replace(path=("spec",), field=problem.start).message == "spec.nodes: too many"


@pytest.mark.parametrize(
    ("problem", "field", "text"),
    [
        (problem_at("wrong-type", NODES, "too many"), "spec.nodes", "too many"),
        (problem_at("wrong-type", NODES, "too many", field="job[a]"), "", "job[a]: too many"),
        (Problem("wrong-type", NODES, "it has: too many"), "", "it has: too many"),
    ],
)
def test_a_diagnostic_knows_its_text(problem: Problem, field: str, text: str) -> None:
    (document,) = read("spec: {nodes: 1}\n", None).documents
    diagnostic = to_diagnostic(problem, document, None)
    assert (diagnostic.message, diagnostic.field, diagnostic.text) == (problem.message, field, text)
    assert "field" not in diagnostic.to_dict()


@pytest.mark.parametrize(
    ("problem", "text", "field"),
    [
        (Problem("x", NODES, "spec.nodes: too many"), "too many", None),
        (Problem("x", NODES, "too many"), "too many", ""),
        (
            problem_at("x", NODES, "spec.nodes: too many"),
            "spec.nodes: too many",
            None,
        ),  # it is about that text
    ],
)
def test_a_sentence_of_a_plugin_is_led_by_its_field(
    problem: Problem, text: str, field: str | None
) -> None:
    led = led_by_field(problem)
    assert (led.text, led.field, led.message) == (text, field, problem.message)


EDITED = re.compile(
    r"""_replace\([^()]*\bmessage=[^()]*\bfield_path   # a message with another path
    | \b(?:problem|finding|diagnostic)\.(?:message|text)
      \.(?:replace|removeprefix|partition|split|startswith)\((?!_INVALID\))
    | f"\{field_path\([^{}]*\)\}:\                   # a sentence that is given its path by hand
    """,
    re.VERBOSE,
)
ALLOWED = {"extending/calls.py": 3}
"""Reads what plugins say in whole sentences, once, on the way in."""


def edits_of_messages() -> dict[str, int]:
    """Return the number of places that put a path into a message, or take it out, by file."""
    counts = {name: len(EDITED.findall(module.text)) for name, module in sources.package().items()}
    return {name: count for name, count in counts.items() if count}


def test_no_message_is_edited_to_move_a_problem() -> None:
    assert edits_of_messages() == ALLOWED


@pytest.mark.parametrize(
    "line",
    [
        "message = problem.message.replace(field_path(problem.path), field_path(path), 1)",
        "text = diagnostic.message.removeprefix(place)",
        'yield Problem("x", path, f"{field_path(path)}: too many")',
    ],
)
def test_an_edited_message_is_detected(line: str) -> None:
    assert EDITED.search(line)
