"""Recorded verdicts of Kueue's webhooks on the kinds of other projects, compared with ours."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests import recorded
from tests.operators.kueue.webhooks.making import profile

Json = dict[str, Any]


def answer_of(row: Json, release: str) -> Json:
    """Return what a release answered."""
    answer: Json = row if release == "0.19" or row["v018"] == "same" else row["v018"]
    return answer


def is_unknowable(answer: Json) -> bool:
    """Return whether the answer depends on objects in the cluster that no file has."""
    errors = " ".join(answer.get("errors", ()))
    return " not found" in errors or "namespace with default queue" in errors


def is_rejected(diagnostics: Any) -> bool:
    return any(
        d.stage == "apply" and d.authority in ("kube-apiserver", "kueue") for d in diagnostics
    )


@pytest.mark.parametrize("release", ["0.18", "0.19"])
def test_verdicts_on_creations_agree_with_kueue(release: str) -> None:
    bases, beside = (
        recorded.manifests("kueue/foreign/real"),
        [*recorded.rows("kueue/foreign/beside")],
    )
    rows = [*recorded.rows("kueue/foreign/creates")]
    assert len(rows) == 1600
    for row in rows:
        manifest, answer = (
            recorded.with_operations(bases[row["base"]], row["ops"]),
            answer_of(row, release),
        )
        if not is_unknowable(row):
            report = ptcompile.lint(manifest, beside=beside, cluster=profile(release))
            assert is_rejected(report.diagnostics) != answer["accepted"], (row, report.diagnostics)


@pytest.mark.parametrize("release", ["0.18", "0.19"])
def test_verdicts_on_updates_agree_with_kueue(release: str) -> None:
    """The queue that the webhook adds to a Deployment or a StatefulSet in the namespace dq is in no file."""
    bases, rows = (
        recorded.manifests("kueue/foreign/real"),
        [*recorded.rows("kueue/foreign/updates")],
    )
    assert len(rows) == 900
    cluster, wrong = profile(release), []
    for row in rows:
        old = recorded.with_operations(bases[row["base"]], row["old_ops"])
        new, answer = recorded.with_operations(old, row["ops"]), answer_of(row, release)
        space = old["metadata"].get("namespace")
        if is_unknowable(row) or (old["kind"] in ("Deployment", "StatefulSet") and space == "dq"):
            continue
        report = ptcompile.diff(old, new, from_cluster=cluster, to_cluster=cluster)
        if is_rejected(report.diagnostics) == answer["accepted"]:
            wrong.append((row, report.diagnostics))
    assert not wrong, wrong[:3]
