"""Recorded verdicts of the API server and Kueue's webhooks on Kueue's own kinds, compared with ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import ptcompile
from tests import recorded
from tests.operators.kueue.webhooks.making import profile

Json = dict[str, Any]

BESIDE = [
    {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "default-flavor"},
    },
]


def refused(diagnostics: Any) -> bool:
    return any(
        d.stage == "apply" and d.authority in ("kube-apiserver", "kueue") for d in diagnostics
    )


def verdict(row: Mapping[str, Any], release: str) -> bool:
    """Return whether the release accepted a row."""
    accepted: bool = (
        row["accepted"] if release == "0.19" or row["v018"] == "same" else row["v018"]["accepted"]
    )
    return accepted


@pytest.mark.parametrize("release", ["0.18", "0.19"])
def test_verdicts_on_creations_agree_with_kueue(release: str) -> None:
    bases, wrong, total = recorded.manifests("kueue/own/real"), [], 0
    for row in recorded.rows("kueue/own/creates"):
        total += 1
        report = ptcompile.lint(
            recorded.with_operations(bases[row["base"]], row["ops"]),
            beside=BESIDE,
            cluster=profile(release),
        )
        if refused(report.diagnostics) == verdict(row, release):
            wrong.append((row["base"], row["ops"], row.get("stage")))
    assert total > 1800
    assert len(wrong) <= 0.002 * total, wrong[:5]


@pytest.mark.parametrize("release", ["0.18", "0.19"])
def test_verdicts_on_updates_agree_with_kueue(release: str) -> None:
    """The object was sent whole; a server-side apply, which `diff` predicts, refuses some nulls."""
    bases, wrong, total = recorded.manifests("kueue/own/real"), [], 0
    for row in recorded.rows("kueue/own/updates"):
        total += 1
        old = recorded.with_operations(bases[row["base"]], row["old_ops"])
        cluster = profile(release)
        report = ptcompile.diff(
            old, recorded.with_operations(old, row["ops"]), from_cluster=cluster, to_cluster=cluster
        )
        if refused(report.diagnostics) == verdict(row, release):
            wrong.append((row["base"], row["ops"], row.get("stage")))
    assert total > 500
    assert len(wrong) <= 0.008 * total, wrong[:5]
