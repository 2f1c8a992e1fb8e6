"""Where the pods of an object are described: the object itself, or its templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ptcompile.findings.diagnostics import Path
from ptcompile.validate.core.other_templates import TEMPLATES, templates_at

_JOBS: Final = "replicatedJobs.*.template.spec.template"

PLACES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): ("spec.template",),
    ("apps", "DaemonSet"): ("spec.template",),
    ("apps", "Deployment"): ("spec.template",),
    ("apps", "ReplicaSet"): ("spec.template",),
    ("apps", "StatefulSet"): ("spec.template",),
    ("batch", "CronJob"): ("spec.jobTemplate.spec.template",),
    ("batch", "Job"): ("spec.template",),
    ("batch.volcano.sh", "Job"): ("spec.tasks.*.template",),
    ("jobset.x-k8s.io", "JobSet"): (f"spec.{_JOBS}",),
    ("kubeflow.org", "MPIJob"): ("spec.mpiReplicaSpecs.*.template",),
    ("kubeflow.org", "PyTorchJob"): ("spec.pytorchReplicaSpecs.*.template",),
    ("trainer.kubeflow.org", "TrainingRuntime"): (f"spec.template.spec.{_JOBS}",),
    **TEMPLATES,
}
"""By API group and kind."""


def pods_of(manifest: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any], Mapping[str, Any]]]:
    """Each pod of a manifest: the path to it, its spec and its metadata. That of a Pod is empty."""
    kind = str(manifest.get("apiVersion")).rpartition("/")[0], str(manifest.get("kind"))
    found: list[tuple[Path, Any]] = [((), manifest)] if kind == ("", "Pod") else []
    for steps in PLACES.get(kind, ()):
        found += templates_at(manifest, steps)
    for path, template in found:
        spec = template.get("spec") if isinstance(template, Mapping) else None
        if isinstance(spec, Mapping):
            meta = template.get("metadata")
            yield path, spec, meta if isinstance(meta, Mapping) else {}
