"""The texts that the laws look at: the corpus beside this file, and texts that the project has anyway.

The rules' examples, the golden files, and the recorded manifests are read where they are, so a new rule or case is
looked at without a step more. Ids are stable: `findings --against` and the ratchets compare by them.
"""

from __future__ import annotations

import gzip
import itertools
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import ptcompile
from ptcompile.linter import every_rule
from ptcompile.linter.pages import rule_page
from ptcompile.operators.targets import TARGETS
from tests import recorded
from tests.conftest import ALL

CORPUS = Path(__file__).parent / "corpus" / "texts.jsonl.gz"

OPERATORS = ("jobset", "pytorchjob", "trainjob", "volcano")
SAMPLE_STEP = 4
"""Every fourth of the manifests that were written for the operators' own code: 150 of them are nearly alike."""

_TRAINS = re.compile(
    r"torchrun|torch\.distributed|pytorch|\btrain\w*\.py|accelerate launch|deepspeed", re.IGNORECASE
)


class Text(NamedTuple):
    """One YAML stream or spec."""

    id: str
    """Where it comes from, and its name there: `blind/acc02`, `rule/idle-gpus/bad`."""
    what: str
    """What its source says about it, such as `hangs`, `refused` or `valid`; empty if it says nothing."""
    text: str

    @property
    def origin(self) -> str:
        return self.id.partition("/")[0]


@cache
def every_text() -> tuple[Text, ...]:
    """Return all texts, each id once."""
    return (
        *_corpus(),
        *_recorded_manifests(),
        *_operator_manifests(),
        *_examples(),
        *_goldens(),
        *_generated(),
    )


def _corpus() -> Iterator[Text]:
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield Text(row["id"], row["what"], row["text"])


def _recorded_manifests() -> Iterator[Text]:
    """Yield published manifests that train, with what a real API server said."""
    for row in recorded.rows("apiserver/real"):
        text = _as_text(row["manifest"])
        if _TRAINS.search(text):
            yield Text(f"published/{row['id']}", "accepted" if row["accepted"] else "refused", text)


def _operator_manifests() -> Iterator[Text]:
    for operator in OPERATORS:
        rows = [row for row in recorded.rows(f"operators/{operator}") if "manifest" in row]
        for i, row in enumerate(rows[::SAMPLE_STEP]):
            verdict = "accepted" if row["accepted"] else "refused"
            yield Text(f"operator/{operator}-{i * SAMPLE_STEP}", verdict, _as_text(row["manifest"]))


def _examples() -> Iterator[Text]:
    for rule in every_rule():
        page = rule_page(rule)
        yield Text(f"rule/{rule.name}/bad", "broken", page.bad)
        yield Text(f"rule/{rule.name}/good", "valid", page.good)


def _goldens() -> Iterator[Text]:
    """Yield each golden spec, and its manifests for one target: the targets take turns."""
    for i, case in enumerate(ALL):
        verdict = "refused" if case.name.startswith("bad-") else "valid"
        yield Text(f"golden/{case.name}/spec", verdict, case.spec)
        targets = [target for target in TARGETS if (case.folder / f"{target}.yaml").exists()]
        if targets:
            target = targets[i % len(targets)]
            text = (case.folder / f"{target}.yaml").read_text(encoding="utf-8")
            yield Text(f"golden/{case.name}/{target}", verdict, text)


SHAPES = tuple(
    itertools.product((1, 2, 4), (0, 1, 8), ("static", "elastic"), ("torchrun", "command"))
)
"""Nodes, GPUs of each, the kind of rendezvous, and who starts torchrun."""


def generated_specs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the spec of each shape; not from hypothesis, whose examples change with its version."""
    for nodes, gpus, rendezvous, launcher in SHAPES:
        name = f"n{nodes}-g{gpus}-{rendezvous}-{launcher}"
        spec: dict[str, Any] = {
            "image": "ghcr.io/acme/train:1",
            "resources": {"cpu": 8, "memory": "64Gi"},
        }
        if gpus:
            spec["resources"]["gpu"] = gpus
        if launcher == "torchrun":
            spec["script"] = "train.py"
        else:
            spec["command"] = ["sh", "-c", f"torchrun --nnodes={nodes} train.py"]
        if rendezvous == "elastic":
            spec["elastic"] = {"nnodes": f"1:{nodes}" if nodes > 1 else "1"}
        else:
            spec["nodes"] = nodes
        yield (
            name,
            {
                "apiVersion": "ptcompile/v1",
                "kind": "TrainingJob",
                "metadata": {"name": name},
                "spec": spec,
            },
        )


def _generated() -> Iterator[Text]:
    """Yield each generated spec, and its manifests for one target: the targets take turns."""
    for i, (name, spec) in enumerate(generated_specs()):
        target = [*TARGETS][i % len(TARGETS)]
        yield Text(f"generated/{name}/spec", "", _as_text(spec))
        compiled = ptcompile.compile(spec, target=target)
        if compiled.manifests:
            yield Text(f"generated/{name}/{target}", "valid", compiled.yaml())


def _as_text(manifest: Any) -> str:
    return yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=4096)
