"""A runtime cannot suspend its TrainJobs.

PTC845 idle-suspend: warning at style, by trainer.
Needs: suspend

What: the runtime's JobSet has suspend: true.

Why: Trainer writes the TrainJob's own spec.suspend there, which is false where nothing is written.

Example: runtime.yaml with

      template:
        spec:
    -     suspend: true  # <--
          replicatedJobs:

Fix: remove it; set spec.suspend of the TrainJob.

Source: Trainer 2.3, JobSet builder.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.trainer.rules.runtime.reading import JOBSET, jobset_spec


def check(subject: Subject) -> Findings:
    if jobset_spec(subject).get("suspend") is True:
        path = (*JOBSET, "suspend")
        yield found_at(
            path,
            "replaced by the TrainJob's own suspend",
            "remove it, and set spec.suspend of the TrainJob",
            fix_removing("remove suspend", path, safe=True),
        )
