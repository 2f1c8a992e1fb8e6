"""A rank starts only after the ranks that wait for it have completed.

What: a replicatedJob dependsOn another with the status Complete, and the pods of that one wait for its pods.

Why: the first ones wait in the rendezvous for the others, and these are created when the first ones are done: nothing
ever trains.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 1
                parallelism: 1
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
                          - --node-rank=$(RANK)
                          - --master-addr=train-node-0-0.train
                          - train.py
                        env:
                          - name: RANK
                            valueFrom: {fieldRef: {fieldPath: "metadata.labels['jobset.sigs.k8s.io/job-global-index']"}}
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - name: worker
            dependsOn:
    -         - {name: node, status: Complete}  # <--
    +         - {name: node, status: Ready}
            template:
              spec:
                completions: 1
                parallelism: 1
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
                          - --node-rank=$(RANK)
                          - --master-addr=train-node-0-0.train
                          - train.py
                        env:
                          - name: RANK
                            valueFrom: {fieldRef: {fieldPath: "metadata.labels['jobset.sigs.k8s.io/job-global-index']"}}
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: write status: Ready, or remove dependsOn.

Source: JobSet 0.12, dependsOn.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import as_mappings, as_string
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.operators.jobset.rules.reading import at_once, jobs, least, name_of


def _check(subject: Subject) -> Iterator[Finding]:
    depends = any(replicated.get("dependsOn") for _, replicated in jobs(subject))
    waiting = subject.waiting if depends else {}  # empty for more roles than can be read
    pods = {name_of(replicated): at_once(replicated) for _, replicated in jobs(subject)} if waiting else {}
    for place, replicated in jobs(subject):
        for i, one in enumerate(as_mappings(replicated.get("dependsOn"))):
            on = as_string(one.get("name"))
            found = waiting.get(on)
            if found is None or one.get("status") != "Complete":
                continue
            early = sum(pods.values()) - sum(pods.get(name, 0) for name in _after(subject, on))
            if least(found) > early:
                path = ("spec", "replicatedJobs", place, "dependsOn", i)
                edit = Edit("set", (*path, "status"), "Ready")
                yield found_at(
                    path,
                    f"{least(found)} pods wait for one another in {on}, and {early} exist before it is complete",
                    "write status: Ready",
                    Fix("wait for Ready", (edit,), safe=False),
                )


def _after(subject: Subject, first: str) -> set[str]:
    """The replicatedJobs that start only when this one is complete, directly or by others."""
    found: set[str] = set()
    for _, replicated in jobs(subject):  # dependsOn names earlier ones only, or the webhook refuses it
        for one in as_mappings(replicated.get("dependsOn")):
            on = as_string(one.get("name"))
            if (on == first and one.get("status") == "Complete") or on in found:
                found.add(name_of(replicated))
    return found - {first}


RULE = Rule("rank-waits-for-complete", _check, severity="error", stage="run", authority="jobset")
