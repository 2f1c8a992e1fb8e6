"""The object that Flyte creates for a task, as far as the task decides it, compared with the
manifests of ptcompile.

What flytekit 1.16 and the backends of Flyte 1 and 2 write is in docs/facts/flyte.md. The execution
and the platform's configuration decide the rest, which a heading names. Nothing here can be
applied: it shows what differs.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from ptcompile.flyte.convert import Converted
from ptcompile.flyte.problems import CallProblems
from ptcompile.flyte.roles import run_policy_fields
from ptcompile.kubernetes.unstructured import Json, JsonDict, without_falsy
from ptcompile.source import emitter

_HEADING = """\
# - Flyte (flytekit 1.16), + ptcompile. Not shown of Flyte's: what each execution adds (name, the arguments of
# pyflyte-execute, FLYTE_INTERNAL_* variables, labels) and the platform's configuration (default and largest resources,
# tolerations, node selectors). Not modeled: the task's pod template, secrets and accelerator.
"""
_SAFE_TO_EVICT = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
"""The default of the backend's setting default-annotations
(docs/facts/flyte.md#labels-annotations-and-secrets).
"""


def compare_with_flyte(converted: Converted, compiled: Json, manifests: Sequence[Json]) -> str:
    """Return a diff from Flyte's object to manifests of the same task; `compiled` is the task
    for Flyte's operator.
    """
    flytes = flyte_object(converted, compiled)
    kinds = "+".join(str(manifest["kind"]) for manifest in manifests)
    old = emitter.emit(flytes).splitlines()
    new = emitter.emit_all(manifests).splitlines()
    names = (f"Flyte's {flytes['kind']}", f"ptcompile's {kinds}")
    lines = difflib.unified_diff(old, new, *names, n=len(old), lineterm="")
    return _HEADING + "\n".join(lines) + "\n"


def flyte_object(converted: Converted, compiled: Json) -> JsonDict:
    """Return the job of the operator, or the Pod of a single node, that Flyte creates, without a
    name.
    """
    config = converted.task_config
    roles = compiled["spec"]["pytorchReplicaSpecs"]
    templates = {role: _template(converted, replica["template"]) for role, replica in roles.items()}
    first = next(iter(templates.values()))
    # only the number makes a plain task: "1" and "1:1" do not (docs/facts/flyte.md#a-single-node)
    if config is None or getattr(config, "nnodes", None) == 1:
        first["spec"]["containers"][0]["name"] = "primary"
        return {"apiVersion": "v1", "kind": "Pod", **first}

    replicas = {role: replica["replicas"] for role, replica in roles.items()}
    restarts = {
        role: converted.document["spec"].get(role.lower(), {}).get("restartPolicy")
        for role in roles
    }
    spec = {"runPolicy": _run_policy(config)}
    if hasattr(config, "nnodes"):
        low, _, high = str(config.nnodes).partition(":")
        spec["elasticPolicy"] = {
            "minReplicas": int(low),
            "maxReplicas": int(high or low),
            "rdzvBackend": getattr(config, "rdzv_backend", "c10d"),
            "nProcPerNode": config.nproc_per_node,
            "maxRestarts": config.max_restarts,
        }
        # Flyte makes every pod of an elastic task a worker
        replicas = {"Worker": int(high or low)}
        restarts = {}
        templates = {"Worker": first}

    spec["pytorchReplicaSpecs"] = {
        role: {
            "replicas": replicas[role],
            "restartPolicy": restarts.get(role) or "Never",
            "template": template,
        }
        for role, template in templates.items()
    }

    return {**compiled, "metadata": first["metadata"], "spec": spec}


def _run_policy(config: Any) -> JsonDict:
    """Return Flyte's run policy: empty without one, else with a policy for pods, and without
    zeros.
    """
    if config.run_policy is None:
        return {}
    fields = run_policy_fields(config.run_policy, CallProblems())
    fields["cleanPodPolicy"] = fields["cleanPodPolicy"] or "None"
    return without_falsy(fields)


def _template(converted: Converted, template: Json) -> JsonDict:
    """Return Flyte's pod template: image, resources, the task's variables and shared memory."""
    written = template["spec"]["containers"][0]
    task = converted.document["spec"]
    variables = task.get("env", {})
    container = {"name": "pytorch", "image": written["image"]}
    if variables:
        container["env"] = [{"name": name, "value": value} for name, value in variables.items()]
    if "resources" in written:
        container["resources"] = written["resources"]
    spec = {
        "restartPolicy": "Never",
        "enableServiceLinks": False,
        "containers": [container],
    }
    volume = _shared_memory(converted)
    if volume:
        container["volumeMounts"] = [{"name": volume["name"], "mountPath": "/dev/shm"}]  # noqa: S108
        spec["volumes"] = [volume]

    labels = task.get("podLabels")
    metadata = {"labels": labels} if labels else {}
    metadata["annotations"] = {**_SAFE_TO_EVICT, **task.get("podAnnotations", {})}

    return {"metadata": metadata, "spec": spec}


def _shared_memory(converted: Converted) -> JsonDict | None:
    """Return the volume of the task's shared memory (docs/facts/flyte.md#shared-memory)."""
    shared_memory = converted.keywords.get("shared_memory")
    if shared_memory:
        size = shared_memory if isinstance(shared_memory, str) else "0"
        return {"name": "flyte-shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": size}}
    if getattr(converted.task_config, "increase_shared_mem", False):
        return {"name": "shm", "emptyDir": {"medium": "Memory"}}
    return None
