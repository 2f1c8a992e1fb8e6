"""Pods that wait for one another run one after another.

What: a Job's parallelism, which is 1 where it is absent, is below its completions, so that fewer pods run at once than
the rendezvous waits for.

Why: the first pods wait for ranks that are created only when the first have succeeded: nothing ever trains.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 2
    -           parallelism: 1  # <--
    +           parallelism: 2
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        command:
                          - torchrun
                          - --nnodes=2
                          - --node-rank=$(JOB_COMPLETION_INDEX)
                          - --master-addr=train-node-0-0.train
                          - train.py
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: set parallelism to completions.

Source: Kubernetes, Job parallelism; JobSet 0.12 leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import as_int
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.operators.jobset.rules.reading import at_once, child_job, child_path, jobs, least, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


def _check(subject: Subject) -> Iterator[Finding]:
    listed = jobs(subject)
    serial = [(place, one) for place, one in listed if as_int(child_job(one).get("parallelism"), 1) < _completions(one)]
    running = sum(at_once(one) for _, one in listed) if serial else 0
    for place, replicated in serial:
        spec, completions = child_job(replicated), _completions(replicated)
        found = subject.waiting.get(name_of(replicated))
        if found is None or least(found) <= running:
            continue
        path = child_path(place, "completions" if spec.get("parallelism") is None else "parallelism")
        yield found_at(
            path,
            f"{running} pods run at once and {least(found)} wait for one another: the others are "
            "created only when these have succeeded",
            f"set parallelism to {completions}",
            Fix(
                f"set parallelism to {completions}",
                (Edit("set", child_path(place, "parallelism"), completions),),
                safe=False,
            ),
        )


def _completions(replicated: Json) -> int:
    return as_int(child_job(replicated).get("completions"))


RULE = Rule("serial-ranks", _check, severity="error", stage="run", authority="kubelet")
