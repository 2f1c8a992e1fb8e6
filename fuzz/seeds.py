"""What mutations begin with: golden cases, examples, and the real manifests that the tests have."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from ptcompile.documents.emit import emit_all

ROOT = Path(__file__).parents[1]
REAL = ROOT / "tests" / "recorded" / "apiserver" / "real.jsonl.gz"


def seeds(harness: str, folders: list[Path]) -> list[bytes]:
    """The seeds of a harness, each once, and every file of the folders that were named."""
    found = {data: None for folder in folders for data in _files(folder)}
    found.update(dict.fromkeys(_specs() if harness == "compile" else (*_specs(), *_manifests())))
    return list(found)


def _files(folder: Path) -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def _specs() -> Iterator[bytes]:
    """Specs, each with its profile behind it where it has one."""
    for path in (*sorted(ROOT.glob("golden/*/spec.yaml")), *sorted(ROOT.glob("examples/*/spec.yaml"))):
        profile = path.with_name("cluster.yaml")
        yield path.read_bytes() + (b"---\n" + profile.read_bytes() if profile.exists() else b"")


def _manifests() -> Iterator[bytes]:
    for path in sorted(ROOT.glob("golden/*/*.yaml")):
        if path.name not in ("spec.yaml", "cluster.yaml"):
            yield path.read_bytes()
    with gzip.open(REAL, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield emit_all([json.loads(line)["manifest"]]).encode()
