"""A TorchX `AppDef` as a spec. Nothing of TorchX is imported: an AppDef is read by its attributes.

`dist.ddp` and its like write `bash -c "torchrun ..."`. Its options become words of the spec, so that each target can
tell torchrun where the nodes meet; TorchX's own address, `${rank0_env}`, is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any, Final

from ptcompile.simulator.launchers.command import Invocation, of_container
from ptcompile.simulator.launchers.torchrun import conf_of

Json = dict[str, Any]

_WORDS: Final = {
    "nproc-per-node": "nprocPerNode",
    "max-restarts": "maxRestarts",
    "monitor-interval": "monitorInterval",
    "start-method": "startMethod",
    "rdzv-backend": "rdzvBackend",
}
"""torchrun's options that the spec has words for."""
_WIRING: Final = frozenset({"nnodes", "module", "rdzv-endpoint", "rdzv-id", "rdzv-conf", "node-rank"})
"""Its options that the target, or another word of the spec, decides."""
_UNKNOWN: Final = re.compile(r"\$\{(replica_id|rank0_env)\}")
_RANK_0: Final = re.compile(r"\$?\$\{\$\{rank0_env\}[^}]*\}")
"""Where TorchX has torchrun meet: `$${${rank0_env}:=localhost}`. The target knows better."""


def spec_of(app: Any, name: str) -> Json:
    """The spec of an AppDef, under the name of this run.

    Raises ValueError with a sentence for what a training job has no word for: several roles, the id of a replica.
    """
    if len(app.roles) != 1:
        raise ValueError(f"{app.name}: an AppDef with {len(app.roles)} roles is not one training job")
    role = app.roles[0]
    command = [_filled(_RANK_0.sub("localhost", word), name) for word in (role.entrypoint, *role.args)]
    launch = of_container(command, [], {})
    words: Json = {"image": role.image, **({"nodes": role.num_replicas} if role.num_replicas > 1 else {})}
    env = {key: _filled(value, name) for key, value in role.env.items()}
    if launch.launcher == "torchrun" and launch.entry:
        words |= {**_entry(launch), "elastic": _elastic(launch, role)}
        env = {**_variables(launch), **env}
    else:
        words["command"] = command
    words |= {**_resources(role.resource), **_mounts(role.mounts), **_retries(role), **({"env": env} if env else {})}
    for where, value in _texts(words):
        if found := _UNKNOWN.search(value):
            raise ValueError(f"{app.name}: {where} has {found[0]}, which no target of ptcompile fills in")
    return {"apiVersion": "ptcompile/v1", "kind": "TrainingJob", "metadata": {"name": name}, "spec": words}


def _filled(word: str, name: str) -> str:
    """TorchX's macros that are known before the job runs; `$$` is TorchX's `$`."""
    return Template(word).safe_substitute(app_id=name, img_root="", base_img_root="")


def _entry(launch: Invocation) -> Json:
    entry, *args = launch.entry
    return {"module" if launch.options.get("module") else "script": entry, **({"args": args} if args else {})}


def _elastic(launch: Invocation, role: Any) -> Json:
    """The words of torchrun's options."""
    options = launch.options
    elastic: Json = {word: _number(options[option]) for option, word in _WORDS.items() if option in options}
    least = role.min_replicas or role.num_replicas
    if least < role.num_replicas:
        elastic["nnodes"] = f"{least}:{role.num_replicas}"
    elif role.num_replicas == 1:
        elastic.pop("rdzvBackend", None)
    if "rdzv-conf" in options:
        elastic["rdzvConfigs"] = conf_of(options["rdzv-conf"])
    return elastic


def _variables(launch: Invocation) -> dict[str, str]:
    """The variables by which torchrun is told the options that a spec has no word for, such as --tee."""
    left = {one: value for one, value in launch.options.items() if one not in {*_WORDS, *_WIRING} and value}
    return {f"PET_{one.upper().replace('-', '_')}": value for one, value in left.items()}


def _retries(role: Any) -> Json:
    """TorchX's APPLICATION and HOT_SPARE start all replicas again, its REPLICA the one that failed."""
    if not role.max_retries:
        return {}
    again = "RestartPod" if getattr(role.retry_policy, "value", "") == "REPLICA" else "RestartJob"
    return {"runPolicy": {"backoffLimit": role.max_retries, "onPodFailure": again}}


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _resources(resource: Any) -> Json:
    """TorchX's memMB is in units of 1,000,000 bytes, as its own Kubernetes scheduler has it; -1 and 0 say nothing."""
    amounts: Json = {"cpu": resource.cpu, "memory": resource.memMB, "gpu": resource.gpu, **resource.devices}
    given = {name: amount for name, amount in amounts.items() if amount and amount > 0}
    told = {**given, **({"memory": f"{given['memory']}M"} if "memory" in given else {})}
    return {"resources": told} if told else {}


def _mounts(mounts: Sequence[Any]) -> Json:
    """Bind mounts as hostPath volumes, volume mounts as claims, devices as hostPath of a device."""
    volumes: list[Json] = []
    places: list[Json] = []
    for at, mount in enumerate(mounts):
        name = f"mount-{at}"
        if hasattr(mount, "src"):
            source: Json = {"persistentVolumeClaim": {"claimName": mount.src}}
        else:
            source = {"hostPath": {"path": mount.src_path}}
        volumes.append({"name": name, **source})
        read_only = {"readOnly": True} if getattr(mount, "read_only", False) else {}
        places.append({"name": name, "mountPath": mount.dst_path, **read_only})
    return {"volumes": volumes, "volumeMounts": places} if volumes else {}


def _texts(value: Any, where: str = "") -> list[tuple[str, str]]:
    """Every text of plain data, with where it stands."""
    if isinstance(value, str):
        return [(where, value)]
    items: Any = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, one in items for found in _texts(one, f"{where}.{key}".lstrip("."))]
