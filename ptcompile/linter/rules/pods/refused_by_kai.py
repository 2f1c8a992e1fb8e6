"""KAI refuses a pod, never has room for it in its queue, or puts it into its default queue.

PTC295 refused-by-kai: error at run (waits), by ptcompile.
Needs: kai

What: a pod of the scheduler kai-scheduler asks for a fraction of a GPU (gpu-fraction, gpu-memory)
and for whole GPUs at once; or, as a warning, for more GPUs than its queue may have; or, as a note,
neither the pod nor its job names a queue.

Why: KAI refuses "both GPU fraction request and whole GPU resource request". It takes the queue from
the label kai.scheduler/queue. Without it the job waits in default-queue, or forever where that does
not exist.

Example:

      apiVersion: v1
      kind: Pod
      metadata:
        name: train
        labels: {kai.scheduler/queue: research}
        annotations: {gpu-fraction: "0.5"}
      spec:
        schedulerName: kai-scheduler
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
    -       resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}  # <--
    +       resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: ask for one of the two; raise the limit of the queue; write the label kai.scheduler/queue.

Source: KAI Scheduler 0.20, pkg/binder/plugins/gpusharing and pkg/podgrouper default_grouper.go
(CalcPodGroupQueue).
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import (
    nested_map,
    nested_string_map,
    nested_value,
    object_name,
)
from ptcompile.linter.devices import count_whole_gpus
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.queues.queue_systems import KAI_QUEUE
from ptcompile.world.templates import ManifestTemplate

_GPU = "nvidia.com/gpu"
_QUEUES = frozenset({KAI_QUEUE, "runai/queue", "project"})
"""Labels that name a queue; misplaced-key reports the old one."""


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        if template.spec.get("schedulerName") != "kai-scheduler":
            continue

        metadata = nested_map(template.data, "metadata")
        shares = {"gpu-fraction", "gpu-memory"} & {*nested_map(metadata, "annotations")}
        whole = next(
            (container for container in template.containers if _GPU in container.limits), None
        )
        if shares and whole is not None:
            path = (*whole.path, "resources", "limits", _GPU)
            yield found_at(
                path,
                f"KAI refuses a pod with {min(shares)} and whole GPUs",
                "ask for one of the two",
            )

        labels = {
            **nested_string_map(metadata, "labels"),
            **nested_string_map(subject.metadata, "labels"),
        }
        if _QUEUES.isdisjoint(labels):
            text = (
                f"no label {KAI_QUEUE}: KAI takes default-queue, and the pods wait forever where "
                "it is missing"
            )
            yield found_at(("metadata",), text, "add the label", severity="note", on_key=True)
            return

        yield from _above_limit(subject, template, labels.get(KAI_QUEUE, ""))


def _above_limit(subject: Subject, template: ManifestTemplate, name: str) -> Findings:
    gpus = sum(map(count_whole_gpus, template.containers))
    for queue in subject.objects.of_kind(("scheduling.run.ai/v2", "Queue")):
        limit = nested_value(queue, "spec", "resources", "gpu", "limit")
        if object_name(queue) == name and isinstance(limit, int) and 0 < limit < gpus:
            text = (
                f"a pod asks for {gpus} GPUs, and its queue {name} may have {limit}: it waits "
                "forever"
            )
            yield found_at(
                template.spec_path,
                text,
                "request less, or raise the limit",
                severity="warning",
            )
