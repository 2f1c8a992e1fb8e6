"""A pod has only some of the settings that its network fabric needs.

PTC118 partial-fabric: warning at run (slows), by ptcompile.
Needs: rdma/hostdev/mellanox/FI/IB/NET/IFNAME/GPUDIRECTTCPX/FASTRAK/MNNVL/TUNER/RDMAV/efa

What: the variables of RDMA, EFA or GPUDirect are set but the device, capability, network or daemon
that they need is missing; or the reverse; or a variable turns off the device that the container
requests.

Why: NCCL falls back to TCP, silently and ten times slower, or stops when the first collective
starts.

Example: jobset.yaml with

      - name: pytorch
    -   env:
    -     - {name: NCCL_IB_DISABLE, value: "1"}  # <--
        securityContext: {capabilities: {add: [IPC_LOCK]}}
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1, rdma/hca: 1}}

Fix: add the missing setting that the message names, or remove the other settings.

Source: NCCL 2.27 environment variables; aws-ofi-nccl 1.15; RDMA shared device plugin 1.5; GKE's
GPUDirect guide.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.diagnostics import Path
from ptcompile.hardware.fabric_gaps import gaps
from ptcompile.kubernetes.unstructured import Json, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import EnvEntry, ManifestContainer


def check(subject: Subject) -> Findings:
    has_accelerators = any(container.accelerators for container in subject.containers)
    for template in subject.templates:
        has_devices = any(
            nested_value(container.spec, "resources", "claims")
            or any("/" in name for name in container.limits)
            for container in template.containers
        )
        if has_accelerators and not has_devices:
            continue  # a head or a driver passes the variables on

        containers = template.running_containers
        for gap in gaps({**template.data, "spec": _with_variables(template.spec, containers)}):
            variable = _variable_at(containers, gap.path)
            is_loopback = variable is not None and variable.text.lstrip("=") == "lo"
            if not is_loopback:  # else loopback-interface reports it
                yield found_at(
                    (*template.path, *gap.path) if variable is None else variable.value_path,
                    gap.message,
                    gap.help,
                )


def _with_variables(spec: Json, containers: Sequence[ManifestContainer]) -> Json:
    """Return a pod's spec with the variables that the containers see."""
    return {
        **spec,
        "containers": [
            {**item.spec, "env": [*map(_as_entry, item.variables)]} for item in containers
        ],
    }


def _as_entry(variable: EnvEntry) -> Json:
    value = {"valueFrom": variable.source} if variable.value is None else {"value": variable.value}
    return {"name": variable.name, **value}


def _variable_at(containers: Sequence[ManifestContainer], path: Path) -> EnvEntry | None:
    """Return the variable at a path in a spec of `_with_variables`, or None if something else is
    there.
    """
    if "env" not in path:
        return None
    _, _, container, _, index, *_ = path
    return containers[int(container)].variables[int(index)]
