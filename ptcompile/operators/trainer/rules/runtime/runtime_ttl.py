"""A time to live in the runtime restarts finished training.

PTC741 runtime-ttl: warning at run (endless), by trainer.
Needs: ttlSecondsAfterFinished

What: the runtime's JobSet has ttlSecondsAfterFinished.

Why: the JobSet is deleted when its time is up, and Trainer, which finds none for its TrainJob,
makes it again.

Example: runtime.yaml with

      template:
        spec:
    -     ttlSecondsAfterFinished: 600  # <--
          replicatedJobs:

Fix: remove it; a TrainJob has no time to live.

Source: Trainer 2.3; trainer#3779, #4052.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.trainer.rules.runtime.reading import JOBSET, jobset_spec


def check(subject: Subject) -> Findings:
    if jobset_spec(subject).get("ttlSecondsAfterFinished") is not None:
        path = (*JOBSET, "ttlSecondsAfterFinished")
        yield found_at(
            path,
            "the finished JobSet is deleted, and Trainer recreates it: the training starts over",
            "remove it",
            fix_removing("remove ttlSecondsAfterFinished", path),
        )
