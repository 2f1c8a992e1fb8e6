"""The values of a finding's severity, stage, effect and authority."""

from __future__ import annotations

from typing import Literal  # noqa: TID253 - read at run time by schemas alone

Severity = Literal["error", "warning", "note"]
"""How certain a finding is: an error cannot work on any cluster as written; a warning depends on
something outside the files; a note states a fact and never changes the exit status.
"""

Stage = Literal["apply", "pod", "run", "style"]
"""When it would have failed: the object is rejected (apply); the object is accepted and its pods
are rejected (pod); the pods are accepted, and the job fails, waits, wastes resources or is at risk
(run); it works (style). The effect says more (`codes.EFFECTS`).
"""

Effect = Literal[
    "fails",
    "waits",
    "endless",
    "apart",
    "differs",
    "wastes",
    "slows",
    "risks",
    "exposes",
    "works",
    "unchecked",
    "unimported",
    "unmatched",
]
"""What a finding leads to: the key of the sentence that text reports print (`report.layout`). A job
fails, never starts (waits), never ends (endless), trains in separate parts (apart), does not do
what a field says (differs), wastes resources, is slow, is at risk, exposes a secret or the node, or
works; an object is not checked or not imported, and a comment matches no finding.
"""

Authority = Literal[
    "kube-apiserver",
    "training-operator",
    "trainer",
    "jobset",
    "volcano",
    "kueue",
    "mpi-operator",
    "lws",
    "kuberay",
    "katib",
    "gke-autopilot",
    "openshift",
    "kubelet",
    "torchrun",
    "ptcompile",
]
"""The program whose behavior the finding describes."""
