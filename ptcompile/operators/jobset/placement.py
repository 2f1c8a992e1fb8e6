"""Exclusive placement: the annotation that gives each Job of a JobSet its own domain.

Source: JobSet 0.12, pkg/webhooks/pod_mutating_webhook.go and pod_admission_webhook.go;
see docs/facts/jobset.md#exclusive-placement.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_mappings, nested_map, string_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json

PREFIX: Final = "alpha.jobset.sigs.k8s.io/"
EXCLUSIVE: Final = f"{PREFIX}exclusive-topology"
NODE_SELECTOR: Final = f"{PREFIX}node-selector"
"""Places the Jobs by a node selector instead of affinities; a script labels and taints the nodes before."""


def annotated_parts(manifest: Json) -> Iterator[tuple[Path, dict[str, str], list[int]]]:
    """Yield the annotations of the JobSet and of each replicatedJob, with the replicatedJobs that they are about."""
    jobs = as_mappings(nested_map(manifest, "spec").get("replicatedJobs"))
    whole = string_map(nested_map(manifest, "metadata").get("annotations"))
    yield ("metadata", "annotations"), whole, list(range(len(jobs)))
    for index, job in enumerate(jobs):
        path = ("spec", "replicatedJobs", index, "template", "metadata", "annotations")
        yield path, string_map(nested_map(job, "template", "metadata").get("annotations")), [index]


def placement_notes(manifest: Json) -> Iterator[str]:
    """Yield a sentence for each annotation that places Jobs exclusively."""
    jobs = as_mappings(nested_map(manifest, "spec").get("replicatedJobs"))
    for path, values, indexes in annotated_parts(manifest):
        label = values.get(EXCLUSIVE)
        if label:
            which = "each Job" if path[0] == "metadata" else f"each Job of {jobs[indexes[0]].get('name')}"
            how = "the nodes must be labeled for it" if NODE_SELECTOR in values else _FOLLOWERS
            yield f"{which} runs alone in one domain of {label}: {how}"


_FOLLOWERS: Final = "its other pods are created when pod 0 has a node, and go to nodes with the same value"
