"""The words in which a finding says how sure it is, when it would have failed, and who says so."""

from __future__ import annotations

from typing import Literal  # noqa: TID253 - read at run time by schemas alone

Severity = Literal["error", "warning", "note"]
"""How certain it is: an error could run on no cluster as it is written; a warning hangs on something outside the files;
a note is worth knowing, and never changes the exit status."""

Stage = Literal["apply", "pod", "run", "style"]
"""When it would have failed: the object is rejected (apply); the object is accepted and its pods are rejected (pod);
the pods start and the job hangs, crashes or wastes what it asked for (run); it works (style)."""

Authority = Literal[
    "kube-apiserver",
    "training-operator",
    "trainer",
    "jobset",
    "volcano",
    "kueue",
    "mpi-operator",
    "kubelet",
    "torchrun",
    "ptcompile",
]
"""Who says so."""
