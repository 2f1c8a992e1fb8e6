"""What Kubernetes' releases changed in what ptcompile writes, one row a change, with its source."""

from __future__ import annotations

from ptcompile.operators.common.changes import Change

CHANGES: dict[str, Change] = {
    "job-success-policy": Change(
        "kubernetes", (1, 33), "spec.successPolicy of a Job is stable", "Kubernetes 1.33, facts/kubernetes"
    ),
    "digit-first-service": Change(
        "kubernetes",
        (1, 36),
        "the name of a Service may begin with a digit",
        "Kubernetes 1.36, facts/kubernetes",
    ),
    "job-managed-by": Change(
        "kubernetes", (1, 32), "managedBy of a Job is honored", "Kubernetes 1.32, Kueue's page on Jobs in MultiKueue"
    ),
}
