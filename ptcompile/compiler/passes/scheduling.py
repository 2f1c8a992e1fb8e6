"""Scheduling: what the pods say to Kueue and to a gang scheduler, so that the job's queue and topology reach them.

Kueue reads a topology from annotations of the pod template, one of required and preferred, whose value is a node label.
Each role of a PyTorchJob and each replicatedJob of a JobSet is a pod set, near by itself; a group name keeps two pod
sets with one wish together, where one is a single pod (Kueue 0.19; facts/kueue). KAI reads its queue from the pods
where their object has none. Where pods are placed by Volcano or KAI they name it as their scheduler, but for operators
that do so themselves. Auxiliary pods are queued and placed with them. What the user wrote stands.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate
from ptcompile.registry import queues


def scheduling(job: Job, context: Context) -> Job:
    """Pods get the labels, annotations and scheduler by which their job is queued and placed."""
    cluster, target = context.cluster, context.target
    labels = queues.kai_labels(job, cluster)
    annotations = queues.pod_annotations(job, cluster, target)
    placer = queues.gang(job, cluster)
    named = queues.SCHEDULERS.get(placer) if placer not in target.names_scheduler else None
    gaps = {"schedulerName": named} if named else {}
    if not (labels or annotations or gaps):
        return job

    def place(template: PodTemplate) -> PodTemplate:
        return template._replace(
            labels={**labels, **template.labels},
            annotations={**annotations, **template.annotations},
            extra={**gaps, **template.extra},
        )

    return map_templates(job, place)
