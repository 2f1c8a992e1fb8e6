"""Packages with entry points, laid out in a folder as pip would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.conftest import ROOT

EXAMPLE = ROOT / "examples" / "plugin"


def install(
    folder: Path, name: str, points: dict[str, dict[str, str]], files: dict[str, str], version: str
) -> Path:
    """Write a package's metadata and modules to a folder."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
    )
    lines = [
        line
        for group, of in points.items()
        for line in (f"[{group}]", *(f"{k} = {v}" for k, v in of.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def install_example(folder: Path) -> Path:
    """Install the example plugin according to its pyproject.toml."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    install(folder, project["name"], project["entry-points"], {}, project["version"])
    shutil.copytree(
        EXAMPLE / "acme_ptcompile",
        folder / "acme_ptcompile",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return folder


def ran(
    packages: Path | None,
    where: Path,
    *words: str,
    module: bool = False,
    env: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command in `where` with the packages of `packages` installed."""
    path = os.pathsep.join([str(ROOT), *([str(packages)] if packages is not None else [])])
    start = ["-m", "ptcompile"] if module else ["-c", "from ptcompile.cli import run; run()"]
    code = [sys.executable, *([] if module else ["-P"]), *start, *words]
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **(env or {})}
    return subprocess.run(
        code, cwd=where, env=environment, capture_output=True, text=True, check=False
    )
