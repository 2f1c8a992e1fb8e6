"""Linting from text, against PyYAML's C loader reading alone and other validators judging."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from statistics import median
from typing import Any

import jsonschema
import yaml

import ptcompile
from benchmarks.jobs import dirty, documents
from benchmarks.many import many_files
from benchmarks.timing import interleaved, line, ratio
from ptcompile._internal.schema_files import load
from ptcompile.apiserver.kinds import CORE

DOCUMENTS, LONG_DOCUMENTS = 100, 5
ROUNDS = 9
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
        count = (
            LONG_DOCUMENTS if "long" in name else 10 if name == "kubernetes-validate" else DOCUMENTS
        )
        lines = (long if "long" in name else clean)[0].count("\n")
        line(f"{name}, Jobs of {lines} lines", f"{count / median(seconds):.0f} docs/s")

    line("lint, against PyYAML's C loader reading alone", f"{ratio(times, 'lint', 'PyYAML'):.2f}")
    line("lint, dirty, against the same", f"{ratio(times, 'lint, dirty', 'PyYAML'):.2f}")
    line(
        "lint of long documents, against the same",
        f"{ratio(times, 'lint, long', 'PyYAML, long'):.2f}",
    )
    line("lint, against jsonschema judging alone", f"{ratio(times, 'lint', 'jsonschema'):.2f}")
    if "kubernetes-validate" in times:
        each = ratio(times, "lint", "kubernetes-validate") * 10 / DOCUMENTS
        line("lint, against kubernetes-validate judging alone", f"{each:.3f}")
    many_files()


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
