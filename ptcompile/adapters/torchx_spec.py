"""A TorchX `AppDef` as a spec. TorchX is not imported: an AppDef is read by its attributes.

Components such as `dist.ddp` write `bash -c "torchrun ..."`. torchrun's options become spec fields,
so each target can pass torchrun the rendezvous endpoint; TorchX's own address, `${rank0_env}`, is
dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Template
from typing import Any

from ptcompile._internal.spelling import is_short_number
from ptcompile.kubernetes.unstructured import JsonDict, placed_values
from ptcompile.simulator.launchers.command import Invocation, container_invocation
from ptcompile.simulator.launchers.torchrun import conf_of

_ELASTIC_FIELDS = {
    "nproc-per-node": "nprocPerNode",
    "max-restarts": "maxRestarts",
    "monitor-interval": "monitorInterval",
    "start-method": "startMethod",
    "rdzv-backend": "rdzvBackend",
}
"""Spec fields for torchrun's options."""
_HANDLED_OPTIONS = frozenset(
    {"nnodes", "module", "rdzv-endpoint", "rdzv-id", "rdzv-conf", "node-rank"}
)
"""Options that the target or another spec field sets."""
_UNSUPPORTED_MACRO = re.compile(r"\$\{(replica_id|rank0_env)\}")
_RENDEZVOUS_HOST = re.compile(r"\$?\$\{\$\{rank0_env\}[^}]*\}")
"""torchrun's endpoint host in TorchX, such as `$${${rank0_env}:=localhost}`; the target sets its
own.
"""


def spec_of(app: Any, name: str) -> JsonDict:
    """Return the spec of an AppDef under the name of this run.

    Raises ValueError for an AppDef that one training job cannot express: several roles, or the id
    of a replica.
    """
    if len(app.roles) != 1:
        raise ValueError(
            f"{app.name}: an AppDef with {len(app.roles)} roles is not one training job"
        )

    role = app.roles[0]
    command = [
        _substitute(_RENDEZVOUS_HOST.sub("localhost", arg), name)
        for arg in (role.entrypoint, *role.args)
    ]
    launch = container_invocation(command, [], {})
    fields = {"image": role.image}
    if role.num_replicas > 1:
        fields["nodes"] = role.num_replicas
    env = {key: _substitute(value, name) for key, value in role.env.items()}
    if launch.launcher == "torchrun" and launch.entry:
        entry, *args = launch.entry
        fields["module" if launch.options.get("module") else "script"] = entry
        if args:
            fields["args"] = args
        fields["elastic"] = _elastic_fields(launch, role)
        env = {**_option_variables(launch), **env}
    else:
        fields["command"] = command

    fields |= {
        **_resource_fields(role.resource),
        **_volume_fields(role.mounts),
        **_run_policy(role),
    }
    if env:
        fields["env"] = env
    for path, value in placed_values(fields):
        if isinstance(value, str) and (match := _UNSUPPORTED_MACRO.search(value)):
            field = ".".join(map(str, path))
            raise ValueError(
                f"{app.name}: {field} has {match.group()}, which no target of ptcompile fills in"
            )

    return {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": name},
        "spec": fields,
    }


def _substitute(text: str, name: str) -> str:
    """Fill in TorchX's macros that are known before the job runs; TorchX writes `$` as `$$`."""
    return Template(text).safe_substitute(app_id=name, img_root="", base_img_root="")


def _elastic_fields(launch: Invocation, role: Any) -> JsonDict:
    """Return the spec fields for torchrun's options."""
    options = launch.options
    elastic: JsonDict = {"nprocPerNode": 1}  # torchrun's default; a spec's is one per accelerator
    elastic |= {
        field: _int_or_text(options[option])
        for option, field in _ELASTIC_FIELDS.items()
        if option in options
    }
    min_nodes = role.min_replicas or role.num_replicas
    if min_nodes < role.num_replicas:
        elastic["nnodes"] = f"{min_nodes}:{role.num_replicas}"
    elif role.num_replicas == 1:
        elastic.pop("rdzvBackend", None)
    if "rdzv-conf" in options:
        elastic["rdzvConfigs"] = conf_of(options["rdzv-conf"])

    return elastic


def _option_variables(launch: Invocation) -> dict[str, str]:
    """Return PET_ variables for the torchrun options without a spec field, such as --tee."""
    options = {
        option: value
        for option, value in launch.options.items()
        if option not in {*_ELASTIC_FIELDS, *_HANDLED_OPTIONS} and value
    }
    return {f"PET_{option.upper().replace('-', '_')}": value for option, value in options.items()}


def _run_policy(role: Any) -> JsonDict:
    """Return the run policy: TorchX's APPLICATION and HOT_SPARE restart all replicas, its REPLICA
    only the failed one.
    """
    if not role.max_retries:
        return {}
    if getattr(role.retry_policy, "value", "") == "REPLICA":
        on_failure = "RestartPod"
    else:
        on_failure = "RestartJob"
    return {"runPolicy": {"backoffLimit": role.max_retries, "onPodFailure": on_failure}}


def _int_or_text(text: str) -> int | str:
    return int(text) if is_short_number(text) else text


def _resource_fields(resource: Any) -> JsonDict:
    """Return the resources. TorchX's memMB is in units of 1,000,000 bytes (its Kubernetes
    scheduler); -1 and 0 mean unset.
    """
    quantities = {
        "cpu": resource.cpu,
        "memory": resource.memMB,
        "gpu": resource.gpu,
        **resource.devices,
    }
    requested = {
        name: quantity for name, quantity in quantities.items() if quantity and quantity > 0
    }
    if "memory" in requested:
        requested["memory"] = f"{requested['memory']}M"

    return {"resources": requested} if requested else {}


def _volume_fields(mounts: Sequence[Any]) -> JsonDict:
    """Return bind mounts as hostPath volumes, volume mounts as claims, and devices as hostPath
    devices.
    """
    volumes: list[JsonDict] = []
    volume_mounts: list[JsonDict] = []
    for index, mount in enumerate(mounts):
        name = f"mount-{index}"
        if hasattr(mount, "src"):
            source = {"persistentVolumeClaim": {"claimName": mount.src}}
        else:
            source = {"hostPath": {"path": mount.src_path}}
        volumes.append({"name": name, **source})
        read_only = {"readOnly": True} if getattr(mount, "read_only", False) else {}
        volume_mounts.append({"name": name, "mountPath": mount.dst_path, **read_only})

    if volumes:
        return {"volumes": volumes, "volumeMounts": volume_mounts}

    return {}
