"""The answers of a real API server 1.36, row by row: whatever its field validation refused is refused here, and
nothing that it accepted is. Rows that it refused while decoding, or by a CRD, are the structure's business.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ptcompile.validate.core import KINDS, Context, metadata_problems
from ptcompile.validate.core.templates import template_problems

DATA = Path(__file__).parents[4] / "shared" / "apiserver"
STRUCTURE = ("cannot be handled as", " in body ", "Checked value", "<nil>", "strict decoding")
CONTEXT = Context()
# A Pod without containers that names an unknown PriorityClass: counted as accepted there, since the class came first.
UNJUDGED = "stackrox/kube-linter tests/checks/priority-class-name.yaml"

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the recorded answers are not here")


def rows(name: str) -> Iterator[dict[str, Any]]:
    with (DATA / name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def refused(manifest: dict[str, Any], stages: tuple[str, ...], under: list[Any]) -> bool:
    kind = (manifest.get("apiVersion", ""), manifest.get("kind", ""))
    if kind in KINDS:
        problems = list(KINDS[kind](manifest, CONTEXT))
    else:
        problems = list(metadata_problems(manifest.get("metadata"), ("metadata",), CONTEXT, built_in=False))
        problems += template_problems(manifest, CONTEXT)
    problems = [p for p in problems if p.authority == "kube-apiserver"]
    return any(p.stage in stages and list(p.path[: len(under)]) == under for p in problems)


def agrees(manifest: dict[str, Any], answer: dict[str, Any], stages: tuple[str, ...], under: list[Any]) -> bool:
    message = answer["message"]
    if not answer["accepted"] and any(part in message for part in STRUCTURE):
        return True
    built_in = (manifest.get("apiVersion", ""), manifest.get("kind", "")) in KINDS
    if not answer["accepted"] and not under and not built_in and "metadata." not in message:
        return True  # a rule of the CRD
    return bool(answer["accepted"]) != refused(manifest, stages, under)


def mutate(manifest: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = copy.deepcopy(manifest)
    node: Any = out
    *path, last = row["path"]
    for key in path:
        node = node[key]
    if row["op"] == "rename":
        node[row["value"]] = node.pop(last)
    elif row["op"] == "del":
        del node[last]
    else:
        node[last] = row["value"]
    return out


def test_published_manifests() -> None:
    wrong = {r["source"] for r in rows("real.jsonl") if not agrees(r["manifest"], r, ("apply",), [])}
    assert wrong == {UNJUDGED}


def test_pods_of_templates() -> None:
    manifests = {r["id"]: r["manifest"] for r in rows("real.jsonl")}
    both = ("apply", "pod")
    wrong = [r["id"] for r in rows("pods.jsonl") if not agrees(manifests[r["id"]], r, both, r["template"])]
    assert wrong == []


def test_mutants() -> None:
    manifests = {r["id"]: r["manifest"] for r in rows("real.jsonl")}
    wrong = []
    for row in rows("mutants.jsonl"):
        manifest = mutate(manifests[row["base"]], row)
        pod = row.get("pod")
        good = agrees(manifest, row, ("apply",), [])
        if not good or (pod and not agrees(manifest, pod, ("apply", "pod"), pod["template"])):
            wrong.append((row["base"], row["op"], row["path"], row["value"]))
    assert wrong == []
