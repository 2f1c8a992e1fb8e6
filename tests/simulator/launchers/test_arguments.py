"""Options as argparse reads them, compared with what torchrun 2.15 says."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import given, strategies as st

from ptcompile.simulator.launchers.arguments import OptionTable, read_arguments
from ptcompile.simulator.launchers.torchrun import TORCHRUN, option_name


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ("--nnode=2", "nnodes"),
        ("--nproc_per=2", "nproc-per-node"),
        ("--nproc-per=2", "nproc-per-node"),
        ("--nproc_per-node=2", "nproc-per-node"),
        ("--rdzv_e=a:1", "rdzv-endpoint"),
        ("-t3", "tee"),
        ("-m", "module"),
        ("--epochs", "epochs"),
    ],
)
def test_an_option_is_known_by_its_name(argument: str, name: str) -> None:
    assert option_name(argument) == name


@pytest.mark.parametrize("argument", ["--nproc=1", "--no=1", "--rdzv=x", "--log=1", "--rdzv_=x"])
def test_ambiguous_prefixes_match_several_options(argument: str) -> None:
    options, _ = read_arguments(TORCHRUN, [argument, "t.py"])
    assert len(options[0].matches) > 1


_PARSER = argparse.ArgumentParser(add_help=False)
_PARSER.add_argument("--max-restarts", "--max_restarts")
_PARSER.add_argument("--master-addr", "--master_addr")
_PARSER.add_argument("--standalone", action="store_true")
_PARSER.add_argument("-t", "--tee")
_PARSER.add_argument("script", nargs="?")
_PARSER.add_argument("rest", nargs=argparse.REMAINDER)
_TABLE = OptionTable(
    frozenset({"max-restarts", "master-addr", "standalone", "tee"}),
    frozenset({"standalone"}),
    {"-t": "tee"},
)


@given(
    st.lists(
        st.sampled_from(
            ["--max-r", "--master_a", "--master-addr", "--stand", "--tee", "-t", "-t5"]
        ),
        max_size=4,
    ).map(
        lambda names: [
            word
            for name in names
            for word in ([name] if name in ("--stand", "-t5") else [name, "1"])
        ]
    )
)
def test_argparse_agrees(arguments: list[str]) -> None:
    parsed = _PARSER.parse_args([*arguments, "t.py", "--tee", "x"])
    options, entry = read_arguments(_TABLE, [*arguments, "t.py", "--tee", "x"])
    values = {option.name: option.value for option in options}
    assert (parsed.max_restarts, parsed.master_addr, parsed.tee) == (
        values.get("max-restarts"), values.get("master-addr"), values.get("tee")
    )  # fmt: skip
    assert parsed.standalone == ("standalone" in values)
    assert entry == ("t.py", "--tee", "x") == (parsed.script, *parsed.rest)
