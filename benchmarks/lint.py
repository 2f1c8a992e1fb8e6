"""Linting from text, against PyYAML's C loader reading alone and other validators judging; and as a whole process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import yaml

import ptcompile
from benchmarks.jobs import dirty, documents
from benchmarks.kubeconform import command
from benchmarks.timing import PTCOMPILE, interleaved, line, processes, ratio
from ptcompile.documents.schema_files import load
from ptcompile.validate.schemas import CORE

DOCUMENTS, LONG_DOCUMENTS, FILES = 100, 5, 1000
ROUNDS, PROCESS_ROUNDS = 9, 7
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
READ = """
import os, sys, yaml
for name in sorted(os.listdir(sys.argv[1])):
    with open(os.path.join(sys.argv[1], name), "rb") as file:
        yaml.load(file, yaml.CSafeLoader)
"""


def run() -> None:
    """Print documents a second and the ratios, in process and for many files."""
    clean, long = documents(DOCUMENTS), documents(LONG_DOCUMENTS, env=660)
    data = [_read(text) for text in clean]
    contestants: dict[str, Callable[[], object]] = {
        "lint": partial(_lint, clean),
        "lint, dirty": partial(_lint, [dirty(text) for text in clean]),
        "PyYAML": lambda: [_read(text) for text in clean],
        "jsonschema": partial(_jsonschema(), data),
        "lint, long": partial(_lint, long),
        "lint, long and dirty": partial(_lint, [dirty(text) for text in long]),
        "PyYAML, long": lambda: [_read(text) for text in long],
    }
    if find_spec("kubernetes_validate") is not None:
        contestants["kubernetes-validate"] = partial(_kubernetes_validate, data[:10])
    times = interleaved(contestants, ROUNDS)
    for name, seconds in times.items():
        count = LONG_DOCUMENTS if "long" in name else 10 if name == "kubernetes-validate" else DOCUMENTS
        lines = (long if "long" in name else clean)[0].count("\n")
        line(f"{name}, Jobs of {lines} lines", f"{count / median(seconds):.0f} docs/s")
    line("lint, against PyYAML's C loader reading alone", f"{ratio(times, 'lint', 'PyYAML'):.2f}")
    line("lint, dirty, against the same", f"{ratio(times, 'lint, dirty', 'PyYAML'):.2f}")
    line("lint of long documents, against the same", f"{ratio(times, 'lint, long', 'PyYAML, long'):.2f}")
    line("lint, against jsonschema judging alone", f"{ratio(times, 'lint', 'jsonschema'):.2f}")
    if "kubernetes-validate" in times:
        each = ratio(times, "lint", "kubernetes-validate") * 10 / DOCUMENTS
        line("lint, against kubernetes-validate judging alone", f"{each:.3f}")
    many_files()


def many_files(kubeconform: str | None = None) -> None:
    """One process over a folder of a thousand files, and over the same as one stream."""
    with TemporaryDirectory() as folder:
        texts = documents(FILES)
        many = Path(folder) / "many"
        many.mkdir()
        for n, text in enumerate(texts):
            (many / f"{n:04}.yaml").write_text(text, encoding="utf-8")
        stream = Path(folder) / "stream.yaml"
        stream.write_text("---\n".join(texts), encoding="utf-8")
        commands = {
            "lint, files": [sys.executable, *PTCOMPILE, "lint", str(many)],
            "lint, stream": [sys.executable, *PTCOMPILE, "lint", str(stream)],
            "PyYAML": [sys.executable, "-c", READ, str(many)],
        }
        if kubeconform is not None:
            commands["kubeconform"] = command(kubeconform, Path(folder) / "schemas", many)
        spent = processes(commands, folder, PROCESS_ROUNDS)
    goals = {"PyYAML": "<= 1.9", "kubeconform": "<= 0.5"}
    for other in [name for name in commands if name in goals]:
        for what, times in zip(("wall", "CPU"), spent, strict=True):
            shown = f"{ratio(times, 'lint, files', other):.2f}"
            line(f"lint of {FILES} files, a process, against {other}, {what}", shown, goals[other])
    shown = f"{ratio(spent.wall, 'lint, stream', 'PyYAML'):.2f}"
    line(f"lint of {FILES} documents in one stream, against PyYAML", shown)


def _read(text: str) -> Any:
    return yaml.load(text, LOADER)  # noqa: S506, TID251 - who is measured


def _lint(texts: list[str]) -> None:
    for text in texts:
        ptcompile.lint(text)


def _jsonschema() -> Callable[[list[Any]], object]:
    dialect = "https://json-schema.org/draft/2020-12/schema"
    schema = {"$schema": dialect, "$ref": "#/$defs/Job", "$defs": load(CORE)["$defs"]}
    validator = jsonschema.Draft202012Validator(schema)
    return lambda data: [list(validator.iter_errors(one)) for one in data]


def _kubernetes_validate(data: list[Any]) -> None:
    import kubernetes_validate

    for one in data:
        kubernetes_validate.validate(one, "1.34", strict=True)
