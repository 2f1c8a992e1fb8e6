"""Values per document: the fast reader, the exact reader and the position reader count alike."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.source import documents as source, exact_reader, fast_reader, nodes

MOST = 20


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limit to a size that tests reach."""
    for module in (nodes, exact_reader, fast_reader, exact_reader):
        monkeypatch.setattr(module, "MAX_VALUES", MOST)


def mapping(values: int) -> str:
    return "a:\n" + "".join(f"  k{i}: v{i}\n" for i in range(values - 1))


def nested(values: int) -> str:
    return "a:\n" + "".join(f"- {{k{i}: v}}\n" for i in range((values - 1) // 2))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("text", "taken"), [
    (mapping(MOST), True), (mapping(MOST + 1), False), (nested(MOST - 1), True), (nested(MOST + 1), False),
])  # fmt: skip
def test_all_readers_count_values_but_not_keys(text: str, taken: bool) -> None:
    assert bool(source.read(text).documents) is taken
    assert (exact_reader.parse(text).root is not None) is taken
    assert (exact_reader.positions(text) is not None) is taken


@pytest.mark.usefixtures("few")
def test_findings_have_lines_in_a_document_near_the_limit() -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n" + "".join(
        f"  bad{i}: 1\n" for i in range(12)
    )
    diagnostics = [
        diagnostic
        for diagnostic in ptcompile.lint(text).diagnostics
        if diagnostic.name == "unknown-field"
    ]
    assert [diagnostic.span and diagnostic.span.line for diagnostic in diagnostics] == list(
        range(5, 17)
    )


def test_unreadable_positions_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(exact_reader, "positions", lambda text: asked.append(len(text)))
    document = source.read("a: 1\nb: 2\n").documents[0]
    assert [document.span((key,)) is not None for key in "abab"] == [True] * 4
    assert len(asked) == 1
