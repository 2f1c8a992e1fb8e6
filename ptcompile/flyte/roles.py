"""How many pods a task has and how they differ: Flyte's PyTorch, Elastic, or a task with neither."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ptcompile.diagnostics import Path, Problem
from ptcompile.flyte import pods as images, resources
from ptcompile.flyte.keywords import Knobs, named
from ptcompile.flyte.problems import call_error, call_warning, not_whole
from ptcompile.flyte.resources import Amounts
from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS

CONFIG: Path = ("task_config",)
MEETING = {"timeout": JOIN_TIMEOUT_SECONDS, "join_timeout": JOIN_TIMEOUT_SECONDS}
"""Elastic's default rdzv_configs, and the spec's (flytekitplugins-kfpytorch 1.16)."""


class RoleWords(NamedTuple):
    """What a replica group says of its own."""

    fields: dict[str, Any]
    amounts: Amounts


class RoleLayout(NamedTuple):
    """The parts of a JobSpec that say how many pods there are, and the roles."""

    job: dict[str, Any]
    roles: dict[str, RoleWords]


def shape(config: Any, knobs: Knobs, found: list[Problem]) -> RoleLayout:
    """The shape of any task; what is not a task_config of these is a problem."""
    if config is None:
        return RoleLayout(_common(None, knobs, found), {})
    if hasattr(config, "nnodes"):
        return _elastic(config, knobs, found)
    if hasattr(config, "worker") and hasattr(config, "master"):
        return _pytorch(config, knobs, found)
    name = type(config).__name__
    found.append(
        call_error("spec-wrong-type", CONFIG, f"{name} is not a task configuration", "PyTorch, Elastic or None")
    )
    return RoleLayout({}, {})


def _pytorch(config: Any, knobs: Knobs, found: list[Problem]) -> RoleLayout:
    job = {**_common(config, knobs, found), "target": knobs.get("target") or "pytorchjob"}
    replicas = getattr(config.worker, "replicas", None)
    number = getattr(config, "num_workers", None)
    at: Path = (*CONFIG, "worker", "replicas")
    if number is not None and replicas is not None:
        message = "worker.replicas already sets it, and num_workers is its old name"
        found.append(call_error("spec-conflict", (*CONFIG, "num_workers"), message, "remove num_workers"))
    elif number is None and replicas is None:
        found.append(
            call_error("spec-missing-field", at, "is missing: the number of workers", "0 means only the master")
        )
    workers = replicas if replicas is not None else number
    roles = {
        "master": _role(config.master, (*CONFIG, "master"), knobs, found),
        "worker": _role(config.worker, (*CONFIG, "worker"), knobs, found),
    }
    roles["worker"].fields["replicas"] = workers
    return RoleLayout(job, {key: role for key, role in roles.items() if key == "worker" or any(role)})


def _elastic(config: Any, knobs: Knobs, found: list[Problem]) -> RoleLayout:
    """torchrun's settings, as far as they are not the spec's own defaults. One node needs no operator."""
    job = _common(config, knobs, found)
    nnodes = config.nnodes.strip() if isinstance(config.nnodes, str) else config.nnodes
    one = str(nnodes) in {"1", "1:1"}
    fixed = re.fullmatch(r"0*([1-9][0-9]{0,8})(?::0*\1)?", str(nnodes), re.ASCII)
    nodes = int(fixed[1]) if fixed else None
    elastic: dict[str, Any] = {"nnodes": nodes or nnodes, "nprocPerNode": config.nproc_per_node}
    # Flyte meets by c10d always; one node of ours meets itself
    elastic["rdzvBackend"] = None if one else getattr(config, "rdzv_backend", "c10d")
    plain = {
        "maxRestarts": ("max_restarts", 0),
        "monitorInterval": ("monitor_interval", 5),
        "startMethod": ("start_method", "spawn"),
    }
    for key, (name, default) in plain.items():
        if getattr(config, name, default) != default:
            elastic[key] = getattr(config, name)
    elastic["rdzvConfigs"] = _configs(getattr(config, "rdzv_configs", None), found)
    if not one:
        job["target"] = knobs.get("target") or "pytorchjob"
    elif not knobs.get("target") and job.get("runPolicy", {}).pop("cleanPodPolicy", "None") not in (None, "None"):
        message = "a Pod without an operator stays after it ends; Flyte drops the run policy of one node too"
        found.append(call_warning((*CONFIG, "run_policy", "clean_pod_policy"), message, "leave it out"))
    roles = _elastic_roles(nodes, knobs, found)
    if "master" in roles or "worker" in roles:
        del elastic["nnodes"]
    job["elastic"] = {key: value for key, value in elastic.items() if value is not None and value != {}}
    return RoleLayout(job, roles)


def _elastic_roles(nodes: int | None, knobs: Knobs, found: list[Problem]) -> dict[str, RoleWords]:
    """Our own `master=` and `worker=` beside an Elastic, which has no words for them in Flyte."""
    given = {name: knobs[name] for name in ("master", "worker") if knobs.get(name) is not None}
    if given and (nodes is None or nodes < 2):
        message = "it needs a fixed number of two or more nodes: pods of a range share one template"
        found += [call_error("spec-conflict", (name,), message, "set it on the task") for name in given]
        return {}
    roles = {name: _role(value, (name,), knobs, found) for name, value in given.items()}
    if roles:
        assert nodes is not None  # noqa: S101  a range was refused above
        roles.setdefault("worker", RoleWords({}, {})).fields["replicas"] = nodes - 1
    return roles


def _common(config: Any, knobs: Knobs, found: list[Problem]) -> dict[str, Any]:
    """Shared memory and the run policy. `shared_memory` of the task wins over increase_shared_mem, as in Flyte."""
    out: dict[str, Any] = {}
    size = knobs.get("shared_memory")
    if isinstance(size, str):
        out["sharedMemory"] = size
    elif not size and (config is None or getattr(config, "increase_shared_mem", True) is False):
        out["sharedMemory"] = False
    policy = getattr(config, "run_policy", None)
    if policy is not None:
        clean = getattr(policy, "clean_pod_policy", None)
        at = (*CONFIG, "run_policy", "clean_pod_policy")
        out["runPolicy"] = {
            "cleanPodPolicy": resources.policy(clean, resources.CLEAN_POD_POLICIES, at, found),
            "ttlSecondsAfterFinished": getattr(policy, "ttl_seconds_after_finished", None),
            "activeDeadlineSeconds": getattr(policy, "active_deadline_seconds", None),
            "backoffLimit": getattr(policy, "backoff_limit", None),
        }
    return out


def _role(value: Any, at: Path, knobs: Knobs, found: list[Problem]) -> RoleWords:
    restart = getattr(value, "restart_policy", None)
    words = {
        "image": images.image_of(getattr(value, "image", None), (*at, "image"), named(knobs), found),
        "restartPolicy": resources.policy(restart, resources.RESTART_POLICIES, (*at, "restart_policy"), found),
    }
    own = resources.read(getattr(value, "requests", None), getattr(value, "limits", None), at, found)
    return RoleWords({key: word for key, word in words.items() if word is not None}, own)


def _configs(configs: Any, found: list[Problem]) -> dict[str, Any]:
    """What a user says of the rendezvous, beside the defaults that the spec has too."""
    at: Path = (*CONFIG, "rdzv_configs")
    if configs is not None and not isinstance(configs, Mapping):
        found.append(call_error("spec-wrong-type", at, f"{configs!r} is not a mapping", 'such as {"timeout": 1200}'))
        return {}
    out: dict[str, Any] = {}
    for key, value in (configs or {}).items():
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # torch reads these as whole numbers
        if isinstance(value, bool):
            value = str(value).lower()
        if not_whole(value) and not isinstance(value, str):
            found.append(
                call_error("spec-wrong-type", (*at, str(key)), f"{value!r} is not a number or string", "whole seconds")
            )
        elif MEETING.get(key) != value:
            out[str(key)] = value
    return out
