"""The checks of RayClusters and RayJobs in a queue.

Sources: Kueue 0.19, pkg/controller/jobs/rayjob/rayjob_webhook.go and
pkg/controller/jobs/raycluster/common.go.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix, Path, Problem, Problems
from ptcompile.kinds.templates import indexed_mappings
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.queues import ELASTIC, is_elastic
from ptcompile.operators.kueue.webhooks.labels import refusal
from ptcompile.operators.kueue.webhooks.pod_sets import HEAD, max_pod_sets


def check_ray(manifest: Json, versions: Versions) -> tuple[list[Problem], bool]:
    """Return the rejections of a queued RayJob or RayCluster, and whether its labels and
    templates are checked too.
    """
    if manifest.get("kind") == "RayJob":
        return _check_job(manifest, versions)
    return list(_check_cluster(manifest, nested_map(manifest, "spec"), ("spec",), versions)), True


def _check_job(job: Json, versions: Versions) -> tuple[list[Problem], bool]:
    """Return the rejections of a RayJob, and whether its labels and templates are checked too."""
    spec = nested_map(job, "spec")
    selector = nested_map(spec, "clusterSelector")
    cluster = spec.get("rayClusterSpec")
    if selector:
        if cluster is None:
            return [], False  # it uses an existing cluster, which Kueue does not manage
        why = "Invalid value: a kueue managed job should not use an existing cluster"
        return [refusal(("spec", "clusterSelector"), why, "remove it, or rayClusterSpec")], False
    if cluster is None:
        why = "rayClusterSpec is required for Kueue-managed jobs that don't use clusterSelector"
        path = ("spec", "rayClusterSpec")
        return [
            refusal(path, f"Required value: {why}", "describe the cluster, or remove the queue")
        ], False

    problems = []
    if spec.get("shutdownAfterJobFinishes") is not True:
        why = "Invalid value: false: a kueue managed job should delete the cluster after finishing"
        path = ("spec", "shutdownAfterJobFinishes")
        fix = Fix("set it to true", (Edit("set", path, True),))
        problems.append(refusal(path, why, "set it to true")._replace(fix=fix))

    problems += _check_cluster(job, as_mapping(cluster), ("spec", "rayClusterSpec"), versions)
    return problems, True


def _check_cluster(manifest: Json, cluster: Json, path: Path, versions: Versions) -> Problems:
    """Yield the rejections of the specification of a queued Ray cluster."""
    if cluster.get("enableInTreeAutoscaling") is True and not is_elastic(manifest):
        why = (
            "Invalid value: true: a kueue managed job should only use autoscaling when workload "
            "slicing is enabled"
        )
        yield refusal(
            (*path, "enableInTreeAutoscaling"),
            why,
            f'remove it, or set the annotation {ELASTIC}: "true"',
        )

    groups = list(indexed_mappings(cluster.get("workerGroupSpecs")))
    limit = max_pod_sets(versions)
    count = len(groups) + 1
    if count > limit:
        why = f"Too many: {count}: must have at most {limit} items"
        yield refusal(
            (*path, "workerGroupSpecs"), why, f"use at most {limit - 1} groups: the head counts too"
        )

    for i, group in groups:
        if group.get("groupName") == HEAD:
            why = f'Forbidden: "{HEAD}" is reserved for the head group'
            yield refusal((*path, "workerGroupSpecs", i, "groupName"), why, "rename the group")
