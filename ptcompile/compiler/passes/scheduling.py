"""Scheduling: labels, annotations and scheduler names through which a job's queue and topology
reach its pods.

Kueue reads a topology from annotations of the pod template, one per required or preferred level,
whose value is a node label. Each role of a PyTorchJob and each replicatedJob of a JobSet is a pod
set with its own placement; a group name places two pod sets with the same constraint together if
one of them is a single pod (Kueue 0.19; facts/kueue). KAI reads its queue from the pods if their
object has none. Pods that Volcano or KAI places name it as their scheduler, except for operators
that set it themselves. Auxiliary pods are queued and placed with the nodes. The user's values win.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes.unstructured import without_falsy
from ptcompile.operators.queues import queues


def scheduling(job: Job, context: Context) -> Job:
    """Add the labels, annotations and scheduler name that queue and place the job's pods."""
    cluster = context.cluster
    target = context.target
    labels = queues.kai_labels(job, cluster)
    annotations = queues.pod_annotations(job, cluster, target)
    placer = queues.gang_scheduler_of(job, cluster)
    gaps = {}
    if placer not in target.names_scheduler:
        gaps = without_falsy({"schedulerName": queues.system_named(placer).scheduler_name})
    if not (labels or annotations or gaps):
        return job

    def place(template: PodTemplate) -> PodTemplate:
        return template._replace(
            labels={**labels, **template.labels},
            annotations={**annotations, **template.annotations},
            extra={**gaps, **template.extra},
        )

    return map_templates(job, place)
