"""A Job creates no pods.

PTC829 job-without-pods: warning at run (waits), by kube-apiserver.
Needs: completions/parallelism

What: completions or parallelism is 0.

Why: with completions 0 the Job is complete at once, and is reported as a success; with parallelism
0 it waits forever.

Example: job.yaml with

      backoffLimit: 0
    - completions: 0  # <--
    + completions: 1

Fix: set the number of pods, or hold the Job back with suspend: true.

Source: Kubernetes 1.36, Job: completions, parallelism, suspend.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int
from ptcompile.linter.rule import Findings, Subject, found_at

_EFFECTS = {
    "completions": "the Job succeeds before any pod is created",
    "parallelism": "no pod is created until it is raised",
}


def check(subject: Subject) -> Findings:
    for key, effect in _EFFECTS.items():
        if nested_int(subject.spec, key, default=1) == 0:
            yield found_at(("spec", key), f"0: {effect}", f"raise {key}, or use suspend: true")
            return
