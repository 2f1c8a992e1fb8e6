"""Recorded verdicts of each operator's webhook, compared with ours.

Every object that the webhook rejected must be rejected, by the same authority; every object that it accepted must be
accepted. Rejections by the CRD's schema or its decoder belong to the structure checks.
"""

from __future__ import annotations

import json
from typing import Any

from ptcompile.kinds.model import KindContext
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.operators.table import kind_named
from ptcompile.operators.trainer.runtimes import EXAMPLES
from tests.operators.admission import admission, errors_of
from tests.oracle import rows

INSTALLED = tuple(EXAMPLES.values())
"""The runtimes of Trainer's examples, which were in the cluster."""
NOT_OURS = ("metadata.name: ", "cannot unmarshal")
"""Parts of errors from the API server's own rules or from decoding."""


def asked(row: dict[str, Any]) -> bool:
    if row["accepted"]:
        return True
    ours = [
        e for e in row.get("errors", []) if not e.startswith(NOT_OURS[0]) and NOT_OURS[1] not in e
    ]
    return row.get("stage") == "webhook" and bool(ours)


def check_verdicts(operator: str) -> None:
    wrong, total = [], 0
    for row, manifest in rows(operator):
        if not kind_named(kind_of(manifest)).rejects or not asked(row):
            continue
        total += 1
        errors = [p for p in errors_of(manifest, others=INSTALLED) if p.stage == "apply"]
        if bool(errors) == row["accepted"]:
            wrong.append(
                (
                    row.get("n"),
                    row.get("base"),
                    row.get("path"),
                    row.get("errors"),
                    [p.message for p in errors],
                )
            )
    assert total > 300
    assert len(wrong) <= 0.015 * total, wrong[:5]


def test_controller_errors_do_not_change_their_input() -> None:
    for operator in ("pytorchjob", "volcano", "jobset", "trainjob"):
        for _, manifest in rows(operator):
            kind = kind_named(kind_of(manifest))
            before = json.dumps(manifest)
            list(kind.rejections().controller_errors(kind.default(manifest), KindContext()))
            assert json.dumps(manifest) == before


def check_recorded_defaults(operator: str) -> None:
    """The fields that our defaulting sets have the values of the operator's `mutated` object."""
    keys = ("queue", "schedulerName", "maxRetry", "minAvailable", "plugins", "network", "successPolicy",
            "startupPolicy", "runtimeRef", "suspend", "managedBy")  # fmt: skip
    compared = 0
    for row, manifest in rows(operator):
        theirs = (row.get("mutated") or {}).get("spec")
        if not isinstance(theirs, dict):
            continue
        ours = admission(manifest).default(manifest)["spec"]
        for key in keys:
            if key in theirs or key in ours:
                compared += 1
                assert ours.get(key) == theirs.get(key), (row.get("n"), row.get("path"), key)
    assert compared > 100
