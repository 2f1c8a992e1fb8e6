"""A quota has a limit that counts nothing.

PTC259 uncounted-quota: warning at run (differs), by kube-apiserver.
Needs: ResourceQuota hard

What: spec.hard of a ResourceQuota has an extended resource without the prefix requests., or with
limits., or with requests. and a name that is almost that of a known device.

Why: the API server accepts any key with a slash, but counts extended resources only as
requests.<name>: with nvidia.com/gpu: 8 the namespace may use all GPUs of the cluster.

Example:

      apiVersion: v1
      kind: ResourceQuota
      metadata: {name: team}
      spec:
        hard:
    -     nvidia.com/gpu: 8  # <--
    +     requests.nvidia.com/gpu: 8

Fix: write requests. before the resource.

Source: Kubernetes 1.36, pkg/quota/v1/evaluator/core/pods.go: isExtendedResourceNameForQuota;
kubeflow/website issue 2460.
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Edit, Fix
from ptcompile.hardware.nodes import VENDORS
from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, found_at

_REQUESTS = "requests."
_LIMITS = "limits."
_COUNTED_BY_OTHERS = (
    "count/",
    "storageclass.storage.k8s.io/",
    "deviceclass.resource.k8s.io/",
    "deviceclass.resource.",
)


def check(subject: Subject) -> Findings:
    hard = nested_map(subject.spec, "hard")
    for key in map(str, hard):
        counted = _counted_key(key)
        if counted is None:
            continue

        path = ("spec", "hard", key)
        fix = Fix(f"write {counted}", (Edit("rename", path, counted),))
        yield found_at(
            path,
            "counts nothing: a quota counts an extended resource only as requests. and its name",
            f"write {counted}",
            None if counted in hard else fix,
            on_key=True,
        )


def _counted_key(key: str) -> str | None:
    """Return the key that counts what is meant, or None if this one counts or its meaning is
    unknown.
    """
    if "/" not in key or any(part in key for part in _COUNTED_BY_OTHERS):
        return None

    resource = key.removeprefix(_REQUESTS).removeprefix(_LIMITS)
    if not key.startswith(_REQUESTS):
        return _REQUESTS + resource

    if is_accelerator(resource):
        suggestion = None
    else:
        suggestion = closest_match(resource, [item.resource for item in VENDORS.values()])

    if suggestion is None or suggestion == resource:
        return None
    return _REQUESTS + suggestion
