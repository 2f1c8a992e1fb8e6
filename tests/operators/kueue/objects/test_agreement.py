"""Recorded verdicts of the API server and Kueue's webhooks on Kueue's own kinds, compared with ours."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

import ptcompile
from tests import recorded

Json = dict[str, Any]

BESIDE = [
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "default-flavor"}},
]


def changed(manifest: Json, operations: list[list[Any]]) -> Json:
    """Return a copy of a manifest with the operations applied: `["set", path, value]`, `["del", path]`."""
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


def profile(release: str) -> Json:
    """Return a profile of a cluster with this release of Kueue."""
    spec = {"versions": {"kueue": release}}
    return {"apiVersion": "ptcompile/v1", "kind": "ClusterProfile", "metadata": {"name": "c"}, "spec": spec}


def refused(diagnostics: Any) -> bool:
    return any(d.stage == "apply" and d.authority in ("kube-apiserver", "kueue") for d in diagnostics)


def verdict(row: Mapping[str, Any], release: str) -> bool:
    """Return whether the release accepted a row."""
    accepted: bool = row["accepted"] if release == "0.19" or row["v018"] == "same" else row["v018"]["accepted"]
    return accepted


@pytest.mark.parametrize("release", ["0.18", "0.19"])
def test_creations(release: str) -> None:
    bases, wrong, total = recorded.manifests("kueue/own/real"), [], 0
    for row in recorded.rows("kueue/own/creates"):
        total += 1
        report = ptcompile.lint(changed(bases[row["base"]], row["ops"]), beside=BESIDE, cluster=profile(release))
        if refused(report.diagnostics) == verdict(row, release):
            wrong.append((row["base"], row["ops"], row.get("stage")))
    assert total > 1800
    assert len(wrong) <= 0.002 * total, wrong[:5]


@pytest.mark.parametrize("release", ["0.18", "0.19"])
def test_updates(release: str) -> None:
    """The object was sent whole; a server-side apply, which `diff` predicts, refuses some nulls."""
    bases, wrong, total = recorded.manifests("kueue/own/real"), [], 0
    for row in recorded.rows("kueue/own/updates"):
        total += 1
        old = changed(bases[row["base"]], row["old_ops"])
        cluster = profile(release)
        report = ptcompile.diff(old, changed(old, row["ops"]), from_cluster=cluster, to_cluster=cluster)
        if refused(report.diagnostics) == verdict(row, release):
            wrong.append((row["base"], row["ops"], row.get("stage")))
    assert total > 500
    assert len(wrong) <= 0.008 * total, wrong[:5]
