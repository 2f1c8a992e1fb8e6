"""Objects of Kueue for tests, and what its webhooks say about them."""

from __future__ import annotations

from typing import Any

from ptcompile.apiserver import validate
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes.versions import Versions

Json = dict[str, Any]


def kueue_object(kind: str, spec: Any, *, version: str = "v1beta2", **metadata: Any) -> Json:
    """Return an object of one of Kueue's kinds."""
    return {
        "apiVersion": f"kueue.x-k8s.io/{version}",
        "kind": kind,
        "metadata": {"name": "a", **metadata},
        "spec": spec,
    }


def cluster_queue(*quotas: Json, covered: tuple[str, ...] = ("cpu",), **fields: Any) -> Json:
    """Return a ClusterQueue with one flavor that has these quotas."""
    flavors = [
        {
            "name": "f",
            "resources": [{"name": "cpu", "nominalQuota": 9, **quota} for quota in quotas],
        }
    ]
    group = {"coveredResources": [*covered], "flavors": flavors}
    return kueue_object(
        "ClusterQueue", {"namespaceSelector": {}, "resourceGroups": [group], **fields}
    )


def workload(*pod_sets: Json, version: str = "v1beta2", **metadata: Any) -> Json:
    """Return a Workload with these pod sets."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    sets = [
        {"name": f"p{index}", "count": 2, "template": template, **each}
        for index, each in enumerate(pod_sets)
    ]
    return kueue_object("Workload", {"podSets": sets}, version=version, **metadata)


def messages_of(manifest: Json, kueue: tuple[int, int] = (0, 19)) -> list[tuple[str, str]]:
    """Return the authority and the message of each problem."""
    return [(problem.authority, problem.message) for problem in problems_of(manifest, kueue)]


def problems_of(manifest: Json, kueue: tuple[int, int] = (0, 19)) -> list[Problem]:
    """Return the problems of creating an object."""
    return validate(manifest, versions=Versions(kueue=kueue))
