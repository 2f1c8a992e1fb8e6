"""Torchrun's options and rendezvous settings (PyTorch 2.13: torch/distributed/run.py, _parse_rendezvous_config)."""

from __future__ import annotations

import pytest

from ptcompile.simulator.launchers.torchrun import conf_of, option_name


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("--nproc_per_node=8", "nproc-per-node"),
        ("--rdzv-id", "rdzv-id"),
        ("-m", "module"),
        ("-r=3", "redirects"),
    ],
)
def test_option_names(word: str, name: str) -> None:
    assert option_name(word) == name


@pytest.mark.parametrize(
    ("text", "conf"),
    [
        ("", {}),
        ("timeout=900,join_timeout=60", {"timeout": "900", "join_timeout": "60"}),
        (" timeout = 900 , is_host=true", {"timeout": "900", "is_host": "true"}),
        ("a=b=c", {"a": "b=c"}),
        ("timeout=1,timeout=2", {"timeout": "2"}),
        ("timeout,,", {"timeout": ""}),
    ],
)
def test_torchrun_reads_the_same_settings(text: str, conf: dict[str, str]) -> None:
    assert conf_of(text) == conf
