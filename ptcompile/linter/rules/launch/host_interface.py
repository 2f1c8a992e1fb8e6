"""NCCL or Gloo must use an interface of the node, but the pod has its own network.

PTC481 host-interface: error at run (fails), by ptcompile.
Needs: IFNAME

What: NCCL_SOCKET_IFNAME or GLOO_SOCKET_IFNAME names interfaces as nodes have them (ens5, eno1,
bond0, ib0), without hostNetwork and without other networks.

Why: a pod's network has eth0 and lo. With no interface of that name the first collective stops.

Example: jobset.yaml with

      - name: pytorch
    -   env: [{name: NCCL_SOCKET_IFNAME, value: ens5}]  # <--
    +   env: [{name: NCCL_SOCKET_IFNAME, value: eth0}]
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: write eth0, or remove the variable.

Source: Kubernetes 1.36, container runtimes name the interface of a pod eth0; NCCL 2.27,
NCCL_SOCKET_IFNAME.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.kubernetes.unstructured import nested_map, nested_maps
from ptcompile.linter.environment import INTERFACE_VARIABLES
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import ManifestTemplate

_is_node_interface = Pattern(r"(?:ens|eno|enp|enx|em|p\d+p|bond|ib|docker|team|wlan)\w*").fullmatch


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        if _has_more_networks(template):
            continue

        for container in template.main_containers:
            # any other resource may be a device that adds an interface
            has_other_devices = any(
                "/" in str(name) and not is_accelerator(str(name)) for name in container.limits
            )
            for entry in container.variables:
                value = entry.text.strip()
                names = [name for name in value.removeprefix("=").split(",") if name]
                if (
                    entry.name in INTERFACE_VARIABLES
                    and names
                    and all(map(_is_node_interface, names))
                    and not has_other_devices
                ):
                    yield found_at(
                        entry.value_path,
                        f"{value} is an interface of nodes, but the pod has only eth0",
                        "write eth0, or remove the variable",
                    )


def _has_more_networks(template: ManifestTemplate) -> bool:
    """Return whether the pod uses its node's network, or has additional networks."""
    spec = template.spec
    annotations = nested_map(template.data, "metadata", "annotations")
    attached = any("network" in str(key) for key in annotations)
    return spec.get("hostNetwork") is True or attached or bool(nested_maps(spec, "resourceClaims"))
