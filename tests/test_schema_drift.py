"""The generated schemas match their recorded sources."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parents[1] / "schemas"
RECORDED = tomllib.loads((SCHEMAS / "SOURCES.toml").read_text(encoding="utf-8"))["kubernetes"]["core.json"]


def test_the_file_matches_its_record() -> None:
    text = (SCHEMAS / "kubernetes" / "core.json").read_bytes()
    assert hashlib.sha256(text).hexdigest() == RECORDED["sha256"]


def test_the_source_still_generates_it() -> None:
    assert importlib.metadata.version("kubernetes-validate") == RECORDED["version"]
    done = subprocess.run(
        [sys.executable, str(SCHEMAS / "update.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
