"""Grammars of `python -m fuzz`: the inputs they generate, and that their harnesses can fail."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from fuzz import definitions, schemas, tree
from fuzz.engine import Make
from fuzz.harnesses import GRAMMARS, HARNESSES
from fuzz.mutate import MAX_SIZE
from fuzz.seeds import seeds
from ptcompile import cli
from ptcompile.apiserver.crds.loader import definitions_of
from ptcompile.source import documents as source


@pytest.mark.parametrize("make", GRAMMARS.values(), ids=GRAMMARS)
def test_inputs_are_varied_small_and_reproducible(make: Make) -> None:
    first, other = ([make(random.Random(i)) for i in range(200)] for _ in range(2))  # noqa: S311
    assert first == other
    assert len(set(first)) > 190
    assert max(map(len, first)) <= MAX_SIZE


def test_most_streams_define_the_kind_of_their_objects() -> None:
    streams = [schemas.stream(random.Random(i)) for i in range(200)]  # noqa: S311
    read = [[document.data for document in source.read(data).documents] for data in streams]
    crds = sum(any(one.get("kind") == "CustomResourceDefinition" for one in some) for some in read)
    both = sum(any(one.get("kind") == "Foo" for one in some) and len(some) > 1 for some in read)
    assert crds > 100
    assert both > 150
    assert any(re.search(rb"9\]\.\w+\(x, \[0,1,2", data) for data in streams), (
        "nested comprehensions"
    )
    assert any(b'[{"rule": 1}]' in data for data in streams) or any(
        b"rule: 1" in data for data in streams
    )


def test_the_seeds_are_valid() -> None:
    crd, _ = seeds("definitions", [])
    assert definitions_of(document.data for document in source.read(crd).documents)
    assert [diagnostic.name for diagnostic in ptcompile.lint(crd).diagnostics] == [
        "invalid-value",
        "invalid-value",
    ]


def test_a_document_that_hides_findings_of_another_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ptcompile.lint

    def lint(text: bytes, **options: Any) -> object:
        report = whole(text, **options)
        return report._replace(diagnostics=())

    definitions._stream(seeds("definitions", [])[0])
    monkeypatch.setattr(ptcompile, "lint", lint)
    with pytest.raises(AssertionError, match="costs another"):
        definitions._stream(seeds("definitions", [])[0])


def test_reading_a_file_outside_the_folder_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def reads(_words: list[str]) -> int:
        print(Path("../outside.yaml").read_text(encoding="ascii"))
        return 0

    monkeypatch.setattr(cli, "main", reads)
    with pytest.raises(AssertionError, match="a file outside is read"):
        tree.tree(seeds("tree", [])[0])


def _overwrites(_words: list[str]) -> int:
    Path("a.yaml").write_text("", encoding="ascii")
    return 0


@pytest.mark.parametrize("command", [_overwrites, lambda _: 3, lambda _: 1 // 0])
def test_a_command_that_breaks_a_guarantee_fails(
    command: Callable[[list[str]], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "main", command)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        tree.tree(seeds("tree", [])[0])


def test_no_file_is_written_outside_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    written = tree._written(
        b"-- ../a --\nx\n-- /tmp/../a --\nx\n-- b/c.yaml --\ny\n-- l -> b --\n-- l/d.yaml --\nz\n"
    )
    assert sorted(written) == ["b/c.yaml", "l/d.yaml"]
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", GRAMMARS)
def test_a_valid_input_passes(name: str) -> None:
    for data in seeds(name, []):
        for tail in range(8):  # the bytes of an input choose its options
            HARNESSES[name](data + f"# {tail}\n".encode())
