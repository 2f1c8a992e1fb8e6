"""A Job asks for more parallel pods than completions.

PTC716 idle-parallelism: warning at run (differs), by kube-apiserver.
Needs: completions parallelism

What: parallelism is above completions.

Why: the controller never runs more pods than completions that are left. The extra pods are never
created, and a world size that counts them is never reached.

Example: indexed_job.yaml with

    - completions: 2
    + completions: 4
      parallelism: 4  # <--

Fix: make both the number of pods that train.

Source: Job controller 1.36: no more pods than completions that remain.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    completions = nested_int(subject.spec, "completions")
    parallelism = nested_int(subject.spec, "parallelism")
    if 0 < completions < parallelism:
        path = ("spec", "parallelism")
        yield found_at(
            path,
            f"{parallelism} at once of {completions} in all: {parallelism - completions} pods are "
            "never created",
            f"set completions to {parallelism}, or parallelism to {completions}",
            fix_setting(f"set parallelism to {completions}", path, completions, safe=True),
        )
