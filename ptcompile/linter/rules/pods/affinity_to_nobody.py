"""A pod requires affinity to pods that nothing in the stream creates.

PTC277 affinity-to-nobody: warning at run (waits), by ptcompile.
Needs: podAffinity

What: a required podAffinity selects labels that no pod of the stream has, the pod itself included.

Why: until such a pod runs, no node fits, and the pod stays Pending. Only a pod from another file
could help.

Example: pod.yaml with

      metadata: {name: train, labels: {app: train}}
      spec:
        restartPolicy: Never
        affinity:
          podAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
    -         - labelSelector: {matchLabels: {app: trian}}  # <--
    +         - labelSelector: {matchLabels: {app: train}}
                topologyKey: topology.kubernetes.io/zone

Fix: select labels that the pods have, or prefer instead of requiring.

Source: Kubernetes 1.36, inter-pod affinity.
"""

from __future__ import annotations

from ptcompile.kubernetes.pod_spec import REQUIRED
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import nested_map, nested_maps
from ptcompile.linter.references import template_labels
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.workload import Stream


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for i, term in enumerate(nested_maps(template.spec, "affinity", "podAffinity", REQUIRED)):
            selector = nested_map(term, "labelSelector")
            if not selector or term.get("namespaceSelector") is not None or term.get("namespaces"):
                continue
            if any(
                selects(selector, labels)
                for labels in (*_own_labels(subject), *subject.stream.cached(_labels_in))
            ):
                continue

            yield found_at(
                (*template.spec_path, "affinity", "podAffinity", REQUIRED, i, "labelSelector"),
                "no pod in the stream has these labels, and without such a pod no node fits",
                "select labels that pods have, or use a preferred term",
            )


def _own_labels(subject: Subject) -> list[dict[str, str]]:
    """Return the labels of the object's first pods, or of its templates for a runtime, whose
    jobs create the pods.
    """
    if subject.job is None:
        return [template_labels(template.data) for template in subject.templates]
    return [dict(pod.view.labels) for _, pod in subject.job.first_pods]


def _labels_in(stream: Stream) -> list[dict[str, str]]:
    """Return the labels of the stream's pods and pod templates that are at the usual paths."""
    objects = [manifest for manifest in stream.objects if nested_map(manifest, "spec")]
    return [
        template_labels(
            manifest if manifest.get("kind") == "Pod" else nested_map(manifest, "spec", "template")
        )
        for manifest in objects
    ]
