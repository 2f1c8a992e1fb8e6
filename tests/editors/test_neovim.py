"""Debian's Neovim with its own client: diagnostics, a fix and completions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.making import SPEC

pytestmark = pytest.mark.skipif(shutil.which("nvim") is None, reason="no nvim here")


def test_neovim_shows_findings_hovers_and_symbols(tmp_path: Path) -> None:
    spec, out = tmp_path / "spec.yaml", tmp_path / "found.json"
    spec.write_text(
        SPEC.replace("  nodes:", "  noodes:").replace("  elastic: {nprocPerNode: 8}\n", ""),
        encoding="utf-8",
    )
    script = Path(__file__).with_name("neovim.lua")
    env = {**os.environ, "PTCOMPILE": sys.executable, "SPEC": str(spec), "OUT": str(out)}
    home = {
        name: str(tmp_path / "home")
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    }
    command = ["nvim", "--headless", "--clean", "-u", str(script)]
    subprocess.run(
        command, cwd=tmp_path, env={**env, **home}, check=True, timeout=300, capture_output=True
    )
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written.get("failure") is None, written
    (diagnostic,) = written["diagnostics"]
    assert (diagnostic["code"], diagnostic["lnum"], diagnostic["source"]) == (
        "PTC021",
        6,
        "ptcompile",
    )
    assert written["actions"][0].startswith("PTC021: ")
    assert not [title for title in written["actions"] if "ignore" in title], "it does not compile"
    assert "\n  nodes: 4\n" in written["text"]
    assert {"maxRestarts", "monitorInterval"} <= set(written["completion"])
    assert "torchrun" in written["hover"]
    assert written["symbols"] == "TrainingJob/train"
