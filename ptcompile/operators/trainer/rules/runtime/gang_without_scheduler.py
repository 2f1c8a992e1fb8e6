"""The runtime creates a PodGroup, but its pods go to a scheduler that ignores it.

PTC244 gang-without-scheduler: warning at run (differs), by trainer.
Needs: podGroupPolicy

What: podGroupPolicy, while a pod template has no schedulerName, or default-scheduler.

Why: Trainer makes the PodGroup and leaves schedulerName alone. Kubernetes' own scheduler starts the
pods one by one.

Example: runtime.yaml with

      spec:
        podGroupPolicy:
          volcano: {}  # <--
        template:
          spec:
            replicatedJobs:
              - name: node
                template:
                  spec:
                    template:
                      spec:
                        restartPolicy: Never
    +                   schedulerName: volcano

Fix: write schedulerName into the pod templates: volcano, or the name under which the scheduler
plugins run.

Source: Trainer 2.3, podGroupPolicy plugins.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import nested_map, nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.trainer.rules.runtime.reading import pod_path, pod_spec_of, replicated_jobs


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "podGroupPolicy")
    kind = next(
        (name for name in ("volcano", "coscheduling") if isinstance(policy.get(name), Mapping)),
        None,
    )
    edits: list[Edit] = []
    lost: list[str] = []
    for index, replicated in replicated_jobs(subject):
        scheduler = nested_string(pod_spec_of(replicated), "schedulerName")
        if scheduler in ("", "default-scheduler"):
            edits.append(Edit("set", pod_path(index, "schedulerName"), "volcano"))
            lost.append(nested_string(replicated, "name"))

    if kind is None or not lost:
        return

    path = ("spec", "podGroupPolicy", kind)
    named = ", ".join(lost[:3])
    yield found_at(
        path,
        f"the pods of {named} have no schedulerName, so the default scheduler places them and the "
        "PodGroup has no effect",
        f"set schedulerName in the pod templates{' to volcano' if kind == 'volcano' else ''}",
        Fix("set schedulerName to volcano", tuple(edits)) if kind == "volcano" else None,
        on_key=True,
    )
