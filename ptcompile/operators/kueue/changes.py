"""What Kueue's releases changed in what ptcompile writes, one row a change, with its source."""

from __future__ import annotations

from ptcompile.operators.common.changes import Change

CHANGES: dict[str, Change] = {
    "kueue-runtime-patches": Change(
        "kueue", (0, 17), "a TrainJob is started through its runtimePatches", "Kueue issue 14722, facts/kueue"
    ),
    "kueue-v1beta2": Change("kueue", (0, 15), "kueue.x-k8s.io/v1beta2", "Kueue 0.15 release notes"),
}
