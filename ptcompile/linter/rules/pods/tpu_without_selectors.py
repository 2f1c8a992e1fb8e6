"""A pod requests TPUs without the node selectors that GKE requires.

PTC273 tpu-without-selectors: warning at pod, by ptcompile.
Needs: google tpu

What: a container requests google.com/tpu, and the pod selects no
cloud.google.com/gke-tpu-accelerator or no gke-tpu-topology. Jobs in a queue are not checked: its
flavors may add the selectors.

Why: GKE rejects such pods at admission ("GKE Warden rejected the request"), and elsewhere a pod may
land on part of a larger slice, whose TPUs initialize only with all its hosts.

Example: pod.yaml with

      spec:
    +   nodeSelector:
    +     cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice
    +     cloud.google.com/gke-tpu-topology: 2x4
        containers:
          - name: pytorch
    -       resources: {limits: {cpu: 8, memory: 64Gi, google.com/tpu: 8}}  # <--
    +       resources: {limits: {cpu: 8, memory: 64Gi, google.com/tpu: 8}}

Fix: select both, as the node pool has them.

Source: Google Cloud, "Deploy TPU workloads in GKE" (2026); AI-Hypercomputer/xpk pull request 1173.
"""

from __future__ import annotations

from ptcompile.kubernetes.pod_spec import terms_of
from ptcompile.kubernetes.unstructured import (
    nested_maps,
    nested_string,
    nested_string_map,
)
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.queues.queue_systems import QUEUE_LABELS

_TPU = "google.com/tpu"
_LABELS = ("cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology")
_SUBSTITUTES = (
    "cloud.google.com/compute-class",
    "cloud.google.com/gke-nodepool",
    "kubernetes.io/hostname",
)
"""Labels that choose the nodes, and with them the slice, in another way."""


def check(subject: Subject) -> Findings:
    labels = nested_string_map(subject.metadata, "labels")
    if any(queue in labels for queue, _ in QUEUE_LABELS.values()):
        return

    for template in subject.templates:
        selected = {
            *nested_string_map(template.spec, "nodeSelector"),
            *(
                nested_string(expression, "key")
                for term in terms_of(template.spec)
                for expression in nested_maps(term, "matchExpressions")
            ),
        }
        is_chosen = not selected.isdisjoint(_SUBSTITUTES)
        missing = [label for label in _LABELS if not is_chosen and label not in selected]
        if not missing:
            continue

        for container in template.containers:
            path = next((path for path, name, _ in container.resources if name == _TPU), None)
            if path is not None:
                yield found_at(
                    path,
                    f"the pod does not select {' and '.join(missing)}, but GKE rejects pods with "
                    "TPUs that do not",
                    "add them to nodeSelector, with the values of the node pool",
                )
