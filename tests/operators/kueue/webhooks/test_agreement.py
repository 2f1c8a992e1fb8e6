"""Recorded verdicts of Kueue's webhooks on the kinds of other projects, compared with ours."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import ptcompile
from tests import recorded
from tests.operators.kueue.webhooks.making import profile

Json = dict[str, Any]


def changed(manifest: Json, operations: list[list[Any]]) -> Json:
    """Return a copy with the operations applied: `["set", path, value]` makes missing mappings, `["del", path]`."""
    out = copy.deepcopy(manifest)
    for operation, path, *value in operations:
        node: Any = out
        for key in path[:-1]:
            if isinstance(node, dict) and node.get(key) is None:
                node[key] = {}
            node = node[key]
        if operation == "del":
            node.pop(path[-1], None) if isinstance(node, dict) else node.__delitem__(slice(path[-1], path[-1] + 1))
        elif isinstance(node, list) and path[-1] == len(node):
            node.append(copy.deepcopy(value[0]))
        else:
            node[path[-1]] = copy.deepcopy(value[0])
    return out


def answer_of(row: Json, release: str) -> Json:
    """Return what a release answered."""
    answer: Json = row if release == "0.19" or row["v018"] == "same" else row["v018"]
    return answer


def is_unknowable(answer: Json) -> bool:
    """Return whether the answer depends on objects in the cluster that no file has."""
    errors = " ".join(answer.get("errors", ()))
    return " not found" in errors or "namespace with default queue" in errors


def is_rejected(diagnostics: Any) -> bool:
    return any(d.stage == "apply" and d.authority in ("kube-apiserver", "kueue") for d in diagnostics)


@pytest.mark.parametrize("release", ["0.18", "0.19"])
def test_creations(release: str) -> None:
    bases, beside = recorded.manifests("kueue/foreign/real"), [*recorded.rows("kueue/foreign/beside")]
    rows = [*recorded.rows("kueue/foreign/creates")]
    assert len(rows) == 1600
    for row in rows:
        manifest, answer = changed(bases[row["base"]], row["ops"]), answer_of(row, release)
        if not is_unknowable(row):
            report = ptcompile.lint(manifest, beside=beside, cluster=profile(release))
            assert is_rejected(report.diagnostics) != answer["accepted"], (row, report.diagnostics)


@pytest.mark.parametrize("release", ["0.18", "0.19"])
def test_updates(release: str) -> None:
    """The queue that the webhook adds to a Deployment or a StatefulSet in the namespace dq is in no file."""
    bases, rows = recorded.manifests("kueue/foreign/real"), [*recorded.rows("kueue/foreign/updates")]
    assert len(rows) == 900
    cluster, wrong = profile(release), []
    for row in rows:
        old = changed(bases[row["base"]], row["old_ops"])
        new, answer = changed(old, row["ops"]), answer_of(row, release)
        space = old["metadata"].get("namespace")
        if is_unknowable(row) or (old["kind"] in ("Deployment", "StatefulSet") and space == "dq"):
            continue
        report = ptcompile.diff(old, new, from_cluster=cluster, to_cluster=cluster)
        if is_rejected(report.diagnostics) == answer["accepted"]:
            wrong.append((row, report.diagnostics))
    assert not wrong, wrong[:3]
