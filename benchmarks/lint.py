"""Linting clean manifests from text, against reading them with PyYAML's C loader and judging them with jsonschema."""

from __future__ import annotations

import json
from statistics import median

import jsonschema
import yaml

import ptcompile
from benchmarks.throughput import SPEC
from benchmarks.timing import interleaved, line, ratio
from ptcompile.validate.schemas import CORE, load

DOCUMENTS = 100
ROUNDS = 9


def documents(count: int) -> list[str]:
    """Clean Indexed Jobs of about 60 lines, no two alike."""
    made = (ptcompile.compile(SPEC.format(n=n, nodes=4), target="job").unwrap()[1] for n in range(count))
    from ptcompile.emit import emit

    return [emit(one) for one in made]


def run() -> None:
    """Print documents a second and the ratios."""
    texts = documents(DOCUMENTS)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": "#/$defs/Job",
        "$defs": load(CORE)["$defs"],
    }
    validator = jsonschema.Draft202012Validator(schema)
    data = [yaml.load(text, loader) for text in texts]  # noqa: S506, TID251

    def ours() -> None:
        for text in texts:
            assert ptcompile.lint(text).ok  # noqa: S101

    contestants = {
        "ptcompile.lint": ours,
        "PyYAML C loader": lambda: [yaml.load(text, loader) for text in texts],  # noqa: S506, TID251
        "jsonschema": lambda: [list(validator.iter_errors(one)) for one in data],
        "json.loads": lambda: [json.loads(json.dumps(one)) for one in data],
    }
    times = interleaved(contestants, ROUNDS)
    lines = sum(text.count("\n") for text in texts) / len(texts)
    for name, seconds in times.items():
        goal = ">= 1200, then 2000" if name == "ptcompile.lint" else ""
        line(f"{name} (Jobs of {lines:.0f} lines)", f"{DOCUMENTS / median(seconds):.0f} docs/s", goal)
    line(
        "time of lint, against PyYAML's C loader reading alone",
        f"{ratio(times, 'ptcompile.lint', 'PyYAML C loader'):.2f}",
    )
    line("time of lint, against jsonschema judging alone", f"{ratio(times, 'ptcompile.lint', 'jsonschema'):.2f}")
