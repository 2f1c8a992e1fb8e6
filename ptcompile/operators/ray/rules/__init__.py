"""Rules for RayClusters, RayJobs and RayServices."""

from __future__ import annotations

RULES: dict[str, str] = {
    "ray_gpus_differ": "GPUs/gpus/gpu rayStartParams/GPU",
    "ray_too_few_gpus": "entrypoint workers/nnodes",
    "ray_entrypoint_never_fits": "entrypointNumGpus/entrypointNumCpus/entrypointResources",
    "ray_versions_differ": "image",
    "ray_without_entrypoint": "RayJob",
    "ray_replicas_out_of_range": "replicas minReplicas/maxReplicas",
    "ray_cluster_kept": "RayJob gpu",
    "ray_workers_unchecked": "workerGroupSpecs gpu",
}
"""Rules in evaluation order, with the words they need."""
