"""Verdicts of recorded API servers, compared with those of `lint` and `diff`.

Each set is sampled evenly and tested through the public functions only. A floor is the share of correct verdicts when
the test was written: raise it when the share grows, and never lower it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

import ptcompile
from ptcompile.diagnostics import Diagnostic
from tests import recorded


def is_rejected(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(
        diagnostic.stage == "apply" and diagnostic.authority == "kube-apiserver"
        for diagnostic in diagnostics
    )


STRUCTURE_ONLY = {
    "CertificateSigningRequest",
    "CSINode",
    "CSIStorageCapacity",
    "EndpointSlice",
    "ResourceSlice",
}
"""Kinds that only controllers and kubelets write: their field rules are left out, and a note says so."""


def sampled(name: str, bases: str, step: int) -> list[tuple[dict[str, Any], Any]]:
    """Return every `step`-th row with the manifest that was sent."""
    manifests = recorded.manifests(bases)
    return [
        (row, recorded.changed(manifests[row["base"]], row))
        for row in list(recorded.rows(name))[::step]
    ]


@pytest.mark.parametrize(
    ("folder", "bases", "kubernetes", "step", "floor"),
    [
        ("surface", "surface", "1.36", 23, 0.99),
        ("versions/1.32", "surface", "1.32", 5, 0.95),
        ("anykind", "anykind", "1.36", 13, 0.99),
        ("builtin", "builtin", "1.36", 2, 0.99),
        ("policies", "policies", "1.36", 1, 0.99),
    ],
)
def test_verdicts_on_creations_agree_with_the_servers(
    folder: str, bases: str, kubernetes: str, step: int, floor: float
) -> None:
    sent = sampled(f"apiserver/{folder}/mutants", f"apiserver/{bases}/real", step)
    rows = [
        (row, manifest)
        for row, manifest in sent
        if row["accepted"] or manifest["kind"] not in STRUCTURE_ONLY
    ]
    wrong = [
        (row["base"], row["op"], row["path"], row["value"], row["accepted"])
        for row, manifest in rows
        if is_rejected(ptcompile.lint(manifest, webhooks=False, kubernetes=kubernetes).diagnostics)
        == row["accepted"]
    ]
    assert len(rows) > 500
    assert len(wrong) <= (1 - floor) * len(rows), (len(wrong) / len(rows), wrong[:5])


def test_what_is_not_checked_is_noted() -> None:
    unseen = 0
    for row, manifest in sampled("apiserver/builtin/mutants", "apiserver/builtin/real", 1):
        if manifest.get("kind") in STRUCTURE_ONLY and not row["accepted"]:
            diagnostics = ptcompile.lint(manifest, webhooks=False, kubernetes="1.36").diagnostics
            has_note = any(diagnostic.name == "structure-only" for diagnostic in diagnostics)
            assert has_note or is_rejected(diagnostics), row
            unseen += not is_rejected(diagnostics)
    assert unseen > 20


def test_no_accepted_update_is_rejected() -> None:
    manifests = recorded.manifests("apiserver/surface/real")
    rows = sampled("apiserver/surface/updates", "apiserver/surface/real", 45)
    wrong = [
        (row["base"], row["op"], row["path"], row["value"])
        for row, new in rows
        if row["accepted"] and is_rejected(ptcompile.diff(manifests[row["base"]], new).diagnostics)
    ]
    assert len(rows) > 100
    assert wrong == []
