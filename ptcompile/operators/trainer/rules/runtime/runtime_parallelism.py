"""The trainer's Job sets its number of pods, but numNodes decides.

PTC844 runtime-parallelism: warning at style, by trainer.
Needs: parallelism/completions

What: a runtime with a torch policy whose trainer Job has parallelism or completions other than
mlPolicy.numNodes.

Why: Trainer writes both from numNodes, the TrainJob's or else the runtime's.

Example: runtime.yaml with

    - mlPolicy: {torch: {}}
    + mlPolicy: {numNodes: 4, torch: {}}
      template:
        spec:
          replicatedJobs:
            - name: node
              template:
                spec:
    -             parallelism: 4  # <--
    -             completions: 4
                  template:

Fix: remove them, and set mlPolicy.numNodes.

Source: Trainer 2.3, torch plugin and JobSet builder.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import nested_int, nested_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.trainer.rules.runtime.reading import job_path, policy_of, trainer_jobs


def check(subject: Subject) -> Findings:
    if policy_of(subject) != "torch":
        return

    nodes = max(1, nested_int(subject.spec, "mlPolicy", "numNodes", default=1))
    for index, replicated in trainer_jobs(subject):
        spec = nested_map(replicated, "template", "spec")
        set_fields = [key for key in ("parallelism", "completions") if spec.get(key) is not None]
        differing = next((key for key in set_fields if spec.get(key) != nodes), None)
        if differing is not None:
            path = job_path(index, "template", "spec", differing)
            edits = tuple(
                Edit("remove", job_path(index, "template", "spec", key)) for key in set_fields
            )
            yield found_at(
                path,
                f"ignored: a TrainJob without numNodes has {nodes}, from mlPolicy.numNodes",
                "set mlPolicy.numNodes",
                Fix(f"remove {' and '.join(set_fields)}", edits),
            )
