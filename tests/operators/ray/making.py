"""Ray objects for tests."""

from __future__ import annotations

from typing import Any

import ptcompile

Json = dict[str, Any]


def template(gpus: int = 0, image: str = "rayproject/ray:2.46.0", **container: Any) -> Json:
    """Return a pod template with the container that runs Ray."""
    limits = {"cpu": "8", "memory": "32Gi", **({"nvidia.com/gpu": gpus} if gpus else {})}
    return {
        "spec": {
            "containers": [
                {"name": "ray", "image": image, "resources": {"limits": limits}, **container}
            ]
        }
    }


def group(name: str = "gpu", gpus: int = 8, replicas: int = 2, **fields: Any) -> Json:
    """Return a worker group of a fixed size; `template` replaces its template."""
    size = {"replicas": replicas, "minReplicas": replicas, "maxReplicas": replicas}
    return {"groupName": name, **size, "rayStartParams": {}, "template": template(gpus), **fields}


def cluster(*groups: Json, head: Json | None = None, **fields: Any) -> Json:
    """Return the specification of a cluster, with one group of two workers with eight GPUs if none is passed."""
    head = {"rayStartParams": {}, "template": template(), **(head or {})}
    return {"headGroupSpec": head, "workerGroupSpecs": [*groups] or [group()], **fields}


def ray_cluster(*groups: Json, name: str = "r", **fields: Any) -> Json:
    """Return a RayCluster."""
    metadata = {"name": name, "namespace": "ml"}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": metadata,
        "spec": cluster(*groups, **fields),
    }


def ray_job(spec: Json | None = None, **fields: Any) -> Json:
    """Return a RayJob whose cluster is deleted at its end; a field that is None is left out."""
    fields = {
        "entrypoint": "python train.py",
        "shutdownAfterJobFinishes": True,
        "rayClusterSpec": spec,
        **fields,
    }
    fields["rayClusterSpec"] = fields["rayClusterSpec"] or cluster()
    kept = {key: value for key, value in fields.items() if value is not None and value != "absent"}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": "j", "namespace": "ml"},
        "spec": kept,
    }


def findings(manifest: Json, severity: str | None = None) -> list[tuple[str, str]]:
    """Return the codes and the paths of the findings, without the note that comes with every cluster."""
    return [
        (d.code, ".".join(map(str, d.path)))
        for d in ptcompile.lint([manifest]).diagnostics
        if d.code != "PTC492" and severity in (None, d.severity)
    ]
