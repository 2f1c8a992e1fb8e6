"""What the training-operator's releases changed in what ptcompile writes, one row a change, with its source."""

from __future__ import annotations

from ptcompile.operators.common.changes import Change

CHANGES: dict[str, Change] = {
    "nproc-per-node": Change(
        "training_operator",
        (1, 7),
        "spec.nprocPerNode, PET_* variables, WORLD_SIZE counts processes",
        "training-operator 1.7, facts/training-operator",
    ),
    "nproc-without-master": Change(
        "training_operator",
        (1, 8),
        "spec.nprocPerNode reaches workers without a Master",
        "training-operator 1.8, facts/training-operator",
    ),
    "training-webhook": Change(
        "training_operator",
        (1, 8),
        "a validating webhook rejects PyTorchJobs",
        "training-operator 1.8, facts/training-operator",
    ),
    "training-managed-by": Change(
        "training_operator", (1, 9), "runPolicy.managedBy", "training-operator 1.9, facts/training-operator"
    ),
}
