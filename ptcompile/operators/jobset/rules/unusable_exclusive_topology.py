"""Jobs cannot be placed exclusively, so their pods never start.

PTC264 unusable-exclusive-topology: error at run (waits), by jobset.
Needs: sigs

What: the annotation `alpha.jobset.sigs.k8s.io/exclusive-topology` is not the name of a node label,
or a Job that it is about is not Indexed.

Why: JobSet copies the value to the affinity of pod 0 of each Job, and the API server rejects a pod
whose topology key is not a label. The other pods of the Job are created after pod 0 has a node; a
Job that is not Indexed has no pod 0.

Example: one_node_jobset.yaml with

      metadata:
        name: train
        annotations:
    -     alpha.jobset.sigs.k8s.io/exclusive-topology: GKE node pool  # <--
    +     alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool
      spec:
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 2
                parallelism: 2

Fix: name a label of the nodes, and use Indexed Jobs.

Source: JobSet 0.12, pkg/webhooks/pod_mutating_webhook.go: patchPod; pod_admission_webhook.go:
ValidateCreate.
"""

from __future__ import annotations

from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.jobset.pods import EXCLUSIVE, NODE_SELECTOR, annotated_parts
from ptcompile.operators.jobset.rules.reading import child_job, child_path, replicated_jobs


def check(subject: Subject) -> Findings:
    jobs = replicated_jobs(subject)
    for path, values, indexes in annotated_parts(subject.manifest):
        if EXCLUSIVE not in values or NODE_SELECTOR in values:
            continue

        label = values[EXCLUSIVE]
        if why := names.why_not_qualified_name(label):
            yield found_at(
                (*path, EXCLUSIVE),
                f"the pods are rejected: {label!r} is not a label: {why}",
                "name a label of the nodes, such as cloud.google.com/gke-nodepool",
            )

        for index in indexes:
            if nested_string(child_job(jobs[index][1]), "completionMode") == "NonIndexed":
                yield found_at(
                    child_path(index, "completionMode"),
                    "the pods wait for pod 0, which only an Indexed Job has: exclusive-topology "
                    "is set",
                    "remove completionMode, or remove the annotation",
                )
