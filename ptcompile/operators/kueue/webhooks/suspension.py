"""What Kueue's mutating webhooks write into a queued job of another project.

The role hash of a pod in a group depends on its whole template and is left out, as are the labels that Deployments and
other serving kinds hand to their pods. Source: Kueue 0.19, pkg/controller/jobframework/defaults.go and
pkg/controller/jobs/pod/pod_webhook.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_strings, kind_of, namespace_of, nested_map
from ptcompile.operators.kueue.queues import queue_of
from ptcompile.operators.kueue.webhooks.creation import with_default_queue
from ptcompile.operators.kueue.webhooks.kinds import ADMISSION_GATE, KINDS, SKIPPED_NAMESPACES
from ptcompile.operators.kueue.webhooks.pods import MANAGED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json


def default(manifest: Json, related: Sequence[Json]) -> Json:
    """Return an object of one of `KINDS` with its queue, suspended until it is admitted."""
    if namespace_of(manifest) in SKIPPED_NAMESPACES:
        return manifest
    queued = with_default_queue(manifest, related)
    kind = KINDS[kind_of(manifest)]
    if not queue_of(nested_map(queued, "metadata")) or kind.serving:
        return queued
    return _suspended(queued, kind.suspend) if kind.suspend else _gated(queued)


def _suspended(manifest: Json, path: tuple[str, ...]) -> Json:
    """Return an object with `suspend` set in the mapping at a path."""
    if not path:
        return {**manifest, "suspend": True}
    return {**manifest, path[0]: _suspended(as_mapping(manifest.get(path[0])), path[1:])}


def _gated(pod: Json) -> Json:
    """Return a Pod with Kueue's scheduling gate, label and finalizer."""
    metadata: dict[str, Any] = {**nested_map(pod, "metadata")}
    metadata["labels"] = {**nested_map(metadata, "labels"), MANAGED: "true"}
    finalizers = as_strings(metadata.get("finalizers"))
    metadata["finalizers"] = finalizers if MANAGED in finalizers else [*finalizers, MANAGED]
    spec = nested_map(pod, "spec")
    gates = as_mappings(spec.get("schedulingGates"))
    if all(gate.get("name") != ADMISSION_GATE for gate in gates):
        spec = {**spec, "schedulingGates": [*gates, {"name": ADMISSION_GATE}]}
    return {**pod, "metadata": metadata, "spec": spec}
