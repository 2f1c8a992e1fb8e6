"""Values that a script takes from here-documents, and items of arrays by arithmetic."""

from __future__ import annotations

import pytest

from ptcompile.shell.script import read_script


def last_words(script: str, **env: str) -> list[str]:
    read = read_script(["bash", "-c", script], env)
    assert read is not None
    return read.commands[-1].words


@pytest.mark.parametrize(
    "script",
    [
        "read -r -d '' options <<EOF\n--nnodes=$N\nEOF\ntorchrun $options",
        "options=$(cat <<EOF\n--nnodes=$N\nEOF\n)\ntorchrun $options",
    ],
)
def test_a_here_document_is_a_value(script: str) -> None:
    assert last_words(script, N="2") == ["torchrun", "--nnodes=2"]


def test_read_without_a_delimiter_is_unknown() -> None:
    assert last_words("read options <<EOF\n--nnodes=2\nEOF\ntorchrun $options") == [
        "torchrun",
        "$options",
    ]


@pytest.mark.parametrize("index", ["$I", "${I}", "I", "$((I))", "$((I / 1))", "I - 0"])
def test_an_item_is_chosen_by_arithmetic(index: str) -> None:
    assert last_words(f"a=(x y z)\ntorchrun ${{a[{index}]}}", I="1") == ["torchrun", "y"]


@pytest.mark.parametrize("index", ["$(date)", "$UNKNOWN", "`date`"])
def test_an_item_by_something_unknown_stays_as_written(index: str) -> None:
    assert last_words(f"a=(x y z)\ntorchrun ${{a[{index}]}}", I="1")[1] == f"${{a[{index}]}}"


def test_a_command_that_computes_a_value_is_marked() -> None:
    read = read_script(["bash", "-c", "a=$(hostname)\ntorchrun $a"], {"HOSTNAME": "h"})
    assert read is not None
    assert [command.in_substitution for command in read.commands] == [True, False]
