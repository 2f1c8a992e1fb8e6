"""The entrypoint of a RayJob needs more than any Ray node has.

PTC152 ray-entrypoint-never-fits: warning at run (waits), by kuberay.
Needs: entrypointNumGpus/entrypointNumCpus/entrypointResources

What: entrypointNumGpus or entrypointNumCpus is more than the largest pod of the cluster has, or
entrypointResources names a custom resource that no group offers.

Why: Ray starts the entrypoint on one node that has all of it. Without one, the job stays PENDING
forever.

Example:

      apiVersion: ray.io/v1
      kind: RayJob
      metadata: {name: tune}
      spec:
        entrypoint: python train.py
    -   entrypointNumGpus: 8  # <--
    +   entrypointNumGpus: 1
        shutdownAfterJobFinishes: true
        rayClusterSpec:
          headGroupSpec:
            rayStartParams: {}
            template:
              spec:
                containers:
                  - name: head
                    image: rayproject/ray:2.46.0-gpu
                    resources: {limits: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}}

Fix: ask for what one pod has.

Source: Ray 2.46, dashboard/modules/job: the entrypoint runs in an actor with these resources.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ptcompile.kubernetes.quantity import parse
from ptcompile.kubernetes.unstructured import nested_map, nested_string, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.ray.pods import RayGroup, has_autoscaler
from ptcompile.operators.ray.rules.reading import hides_devices, ray_groups

_HELP = "ask for what one pod of the cluster has"


def check(subject: Subject) -> Findings:
    groups = [
        group
        for group in ray_groups(subject)
        if group.started_pods or has_autoscaler(subject.manifest)
    ]
    if not groups:
        return

    yield from _check_gpus(subject, groups)
    needed = subject.spec.get("entrypointNumCpus")
    offered = [cpus for group in groups if (cpus := _cpus(group)) is not None]
    is_known = len(offered) == len(groups)
    if isinstance(needed, int | float) and is_known and needed > max(offered):
        text = f"no pod of the cluster offers {needed} CPUs: the largest has {max(offered):g}"
        yield found_at(("spec", "entrypointNumCpus"), text, _HELP)
    for name in _custom_resources(subject):
        if not any(_offers(group, name) for group in groups):
            text = f"no group offers the resource {name}"
            yield found_at(
                ("spec", "entrypointResources"),
                text,
                "name it in rayStartParams resources of a group",
            )


def _check_gpus(subject: Subject, groups: list[RayGroup]) -> Findings:
    needed = subject.spec.get("entrypointNumGpus")
    if not isinstance(needed, int | float) or any(map(hides_devices, groups)):
        return
    largest = max(max(group.gpus, group.devices) for group in groups)
    if needed > largest:
        yield found_at(
            ("spec", "entrypointNumGpus"),
            f"no pod of the cluster offers {needed:g} GPUs: the largest has {largest}",
            _HELP,
        )


def _offers(group: RayGroup, resource: str) -> bool:
    return resource in str(group.parameters.get("resources")) or resource in nested_map(
        group.spec, "resources"
    )


def _cpus(group: RayGroup) -> float | None:
    """Return the CPUs that Ray offers in each pod, or None if the machine decides."""
    written = group.parameters.get("num-cpus")
    limits = nested_value(group.container, "resources", "limits", "cpu")
    amount = written or limits or nested_value(group.container, "resources", "requests", "cpu")
    quantity = parse(amount) if amount is not None else None
    if quantity is None:
        return None
    return float(-(-quantity.nano // 10**9))


def _custom_resources(subject: Subject) -> Iterator[str]:
    try:
        resources = json.loads(nested_string(subject.spec, "entrypointResources") or "{}")
    except ValueError:
        return
    if isinstance(resources, Mapping):
        yield from (name for name in resources if ":" not in name and name not in _BUILT_IN)


_BUILT_IN = frozenset({"CPU", "GPU", "TPU", "neuron_cores", "HPU", "NPU", "memory"})
"""Resources that Ray detects itself."""
