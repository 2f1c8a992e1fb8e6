"""Number of pods of a task and their roles: Flyte's PyTorch, Elastic, or a task with neither."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ptcompile.diagnostics import Path
from ptcompile.flyte import pods as images, resources
from ptcompile.flyte.keywords import Knobs, named_images
from ptcompile.flyte.problems import CallProblems, is_not_integer
from ptcompile.flyte.resources import Amounts
from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS
from ptcompile.kubernetes.unstructured import JsonDict, without_none

CONFIG: Path = ("task_config",)
CLEAN_POD_POLICY = (*CONFIG, "run_policy", "clean_pod_policy")
TORCH_JOIN_TIMEOUT = 600
"""Seconds: flytekit hands a given dict to torch as it is (kfpytorch 1.16, task.py), and torch's
dynamic_rendezvous.py has this default. Without `timeout`, torch's LaunchConfig adds 900, which is
Flyte's too.
"""
TARGET = "pytorchjob"
"""The target of what Flyte's plugin creates."""
_FLYTES_METHODS = ("spawn", "fork")
RENDEZVOUS_DEFAULTS = {"timeout": JOIN_TIMEOUT_SECONDS, "join_timeout": JOIN_TIMEOUT_SECONDS}
"""Elastic's default rdzv_configs, and the spec's (flytekitplugins-kfpytorch 1.16)."""


class RoleFields(NamedTuple):
    """A replica group's own settings."""

    fields: JsonDict
    amounts: Amounts


class RoleLayout(NamedTuple):
    """The parts of a JobSpec that set the number of pods, and the roles."""

    job: JsonDict
    roles: dict[str, RoleFields]


def role_layout(config: Any, knobs: Knobs, problems: CallProblems) -> RoleLayout:
    """Return the layout of any task; another kind of task_config is a problem."""
    if config is None:
        return RoleLayout(_common_fields(None, knobs, problems), {})
    if hasattr(config, "nnodes"):
        return _elastic_layout(config, knobs, problems)
    if hasattr(config, "worker") and hasattr(config, "master"):
        return _pytorch_layout(config, knobs, problems)

    name = type(config).__name__
    problems.error(
        "spec-wrong-type",
        CONFIG,
        f"{name} is not a task configuration",
        "use PyTorch, Elastic or None",
    )

    return RoleLayout({}, {})


def _pytorch_layout(config: Any, knobs: Knobs, problems: CallProblems) -> RoleLayout:
    job = {**_common_fields(config, knobs, problems), "target": knobs.get("target") or TARGET}
    replicas = getattr(config.worker, "replicas", None)
    num_workers = getattr(config, "num_workers", None)
    path = (*CONFIG, "worker", "replicas")
    if num_workers is not None and replicas is not None:
        message = "worker.replicas already sets it, and num_workers is its old name"
        problems.error("spec-conflict", (*CONFIG, "num_workers"), message, "remove num_workers")
    elif num_workers is None and replicas is None:
        problems.error(
            "spec-missing-field",
            path,
            "is missing: the number of workers",
            "0 means only the master",
        )

    workers = replicas if replicas is not None else num_workers
    roles = {
        "master": _role_fields(config.master, (*CONFIG, "master"), knobs, problems),
        "worker": _role_fields(config.worker, (*CONFIG, "worker"), knobs, problems),
    }
    roles["worker"].fields["replicas"] = workers

    return RoleLayout(
        job, {key: role for key, role in roles.items() if key == "worker" or any(role)}
    )


def _elastic_layout(config: Any, knobs: Knobs, problems: CallProblems) -> RoleLayout:
    """Return torchrun's settings that differ from the spec's defaults. A single node needs no
    operator.
    """
    job = _common_fields(config, knobs, problems)
    nnodes = config.nnodes.strip() if isinstance(config.nnodes, str) else config.nnodes
    is_single = str(nnodes) in {"1", "1:1"}
    fixed = re.fullmatch(r"0*(?P<nodes>[1-9][0-9]{0,8})(?::0*(?P=nodes))?", str(nnodes), re.ASCII)
    nodes = int(fixed["nodes"]) if fixed else None
    elastic = {"nnodes": nodes or nnodes, "nprocPerNode": config.nproc_per_node}
    # Flyte always uses c10d; a single node here needs no rendezvous
    elastic["rdzvBackend"] = None if is_single else getattr(config, "rdzv_backend", "c10d")
    options = {
        "maxRestarts": ("max_restarts", 0),
        "monitorInterval": ("monitor_interval", 5),
        "startMethod": ("start_method", "spawn"),
    }
    for key, (name, default) in options.items():
        if getattr(config, name, default) != default:
            elastic[key] = getattr(config, name)
    if elastic.get("startMethod", "spawn") not in _FLYTES_METHODS:
        message = (
            f"Flyte raises a ValueError for {elastic['startMethod']!r} when the task runs; here "
            "torch decides"
        )
        problems.note("unlike-flyte", (*CONFIG, "start_method"), message, "use spawn or fork")

    elastic["rdzvConfigs"] = _rendezvous_configs(
        getattr(config, "rdzv_configs", None), problems, waits=not is_single
    )
    if not is_single:
        job["target"] = knobs.get("target") or TARGET
    elif not knobs.get("target"):
        policy = job.get("runPolicy", {}).pop("cleanPodPolicy", None)
        if policy not in (None, "None"):
            message = (
                "a Pod without an operator stays after it ends; Flyte drops the run policy of one "
                "node too"
            )
            problems.warning(CLEAN_POD_POLICY, message, "leave it out")

    roles = _elastic_roles(nodes, knobs, problems)
    if "master" in roles or "worker" in roles:
        del elastic["nnodes"]
    job["elastic"] = {
        key: value for key, value in elastic.items() if value is not None and value != {}
    }

    return RoleLayout(job, roles)


def _elastic_roles(
    nodes: int | None, knobs: Knobs, problems: CallProblems
) -> dict[str, RoleFields]:
    """Return the roles of ptcompile's own `master=` and `worker=` with an Elastic, which Flyte
    does not have.
    """
    own_roles = {name: knobs[name] for name in ("master", "worker") if knobs.get(name) is not None}
    if own_roles and (nodes is None or nodes < 2):
        message = "requires a fixed number of two or more nodes: pods of a range share one template"
        for name in own_roles:
            problems.error("spec-conflict", (name,), message, "set it on the task")
        return {}

    roles = {
        name: _role_fields(value, (name,), knobs, problems) for name, value in own_roles.items()
    }
    if roles:
        assert nodes is not None  # noqa: S101  a range was rejected above
        roles.setdefault("worker", RoleFields({}, {})).fields["replicas"] = nodes - 1

    return roles


def _common_fields(config: Any, knobs: Knobs, problems: CallProblems) -> JsonDict:
    """Return shared memory and run policy. The task's `shared_memory` wins over
    increase_shared_mem, as in Flyte.
    """
    out: JsonDict = {}
    size = knobs.get("shared_memory")
    if isinstance(size, str):
        out["sharedMemory"] = size
    elif not size and (config is None or getattr(config, "increase_shared_mem", True) is False):
        out["sharedMemory"] = False

    policy = getattr(config, "run_policy", None)
    if policy is not None:
        out["runPolicy"] = run_policy_fields(policy, problems)

    return out


def run_policy_fields(policy: Any, problems: CallProblems) -> JsonDict:
    """Return a run policy under Kubernetes' names, with None for what it leaves out."""
    clean = getattr(policy, "clean_pod_policy", None)

    return {
        "cleanPodPolicy": resources.read_policy(
            clean, resources.CLEAN_POD_POLICIES, CLEAN_POD_POLICY, problems
        ),
        "ttlSecondsAfterFinished": getattr(policy, "ttl_seconds_after_finished", None),
        "activeDeadlineSeconds": getattr(policy, "active_deadline_seconds", None),
        "backoffLimit": getattr(policy, "backoff_limit", None),
    }


def _role_fields(value: Any, path: Path, knobs: Knobs, problems: CallProblems) -> RoleFields:
    restart = getattr(value, "restart_policy", None)
    fields = {
        "image": images.image_of(
            getattr(value, "image", None), (*path, "image"), named_images(knobs), problems
        ),
        "restartPolicy": resources.read_policy(
            restart, resources.RESTART_POLICIES, (*path, "restart_policy"), problems
        ),
    }
    role_amounts = resources.read_resources(
        getattr(value, "requests", None), getattr(value, "limits", None), path, problems
    )

    return RoleFields(without_none(fields), role_amounts)


def _rendezvous_configs(configs: Any, problems: CallProblems, *, waits: bool) -> JsonDict:
    """Return the user's rendezvous settings that differ from the defaults, which the spec shares.

    `waits` is whether there are several nodes, which wait for one another.
    """
    path = (*CONFIG, "rdzv_configs")
    if configs is not None and not isinstance(configs, Mapping):
        problems.error(
            "spec-wrong-type",
            path,
            f"{configs!r} is not a mapping",
            'write a mapping, such as {"timeout": 1200}',
        )
        return {}

    out: JsonDict = {}
    for key, value in (configs or {}).items():
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # torch reads these as integers
        if isinstance(value, bool):
            value = str(value).lower()
        if is_not_integer(value) and not isinstance(value, str):
            problems.error(
                "spec-wrong-type",
                (*path, str(key)),
                f"{value!r} is not a number or string",
                "use whole seconds",
            )
        elif RENDEZVOUS_DEFAULTS.get(key) != value:
            out[str(key)] = value

    if waits and configs is not None and "join_timeout" not in configs:
        message = (
            f"replaces Flyte's own settings, so join_timeout is torch's {TORCH_JOIN_TIMEOUT} "
            f"seconds, not {RENDEZVOUS_DEFAULTS['join_timeout']}"
        )
        problems.note(
            "unlike-flyte", path, message, "set join_timeout, in which all nodes must come"
        )
        out["join_timeout"] = TORCH_JOIN_TIMEOUT

    return out
