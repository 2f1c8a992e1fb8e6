"""A Kubeflow PyTorchJob as the words of a spec (training-operator 1.9)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_int, as_mappings, as_string, nested_map
from ptcompile.registry.reading import (
    MAIN,
    Read,
    ReadRole,
    as_nodes,
    count,
    main_container,
    not_importable,
    without_empty,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json

_PORT = 23456
_NO_WAITS: dict[str, str | None] = {"timeout": None, "join_timeout": None}
_UNTOLD = {"monitorInterval": None, "rdzvId": None, "rdzvConfigs": _NO_WAITS}
"""What the operator tells torchrun nothing of, unless it is written."""


def read(manifest: Json, _others: tuple[Json, ...]) -> Iterator[Read]:
    """Master and workers as nodes; workers alone as a range of nodes, which needs an elasticPolicy."""
    spec = nested_map(manifest, "spec")
    specs = nested_map(spec, "pytorchReplicaSpecs")
    policy = spec.get("elasticPolicy")
    if policy is not None and "Master" in specs:
        why = "with a Master it adds one torchrun to those of the workers (PTC439)"
        yield not_importable("pytorchjob", ("spec", "elasticPolicy"), why, "remove the Master or the elasticPolicy")
    elif policy is None and "Master" not in specs:
        path: Path = ("spec", "pytorchReplicaSpecs")
        why = "workers without a Master or an elasticPolicy do not find each other (PTC437)"
        yield not_importable("pytorchjob", path, why, "add a Master or an elasticPolicy")
    else:
        pods = [_pods(key, nested_map(specs, key)) for key in ("Master", "Worker") if key in specs]
        yield _job(spec, nested_map(spec, "elasticPolicy"), pods)


def _pods(key: str, replica: Json) -> ReadRole:
    template = nested_map(replica, "template")
    path: Path = ("spec", "pytorchReplicaSpecs", key, "template")
    restart = as_string(replica.get("restartPolicy")) or "OnFailure"
    return ReadRole(
        key.lower(), count(replica.get("replicas")), template, path, main_container(template, MAIN), restart
    )


def _job(spec: Json, policy: Json, pods: list[ReadRole]) -> Read:
    words: dict[str, Any]
    if policy:
        most = count(policy.get("maxReplicas"), pods[0].replicas)
        least = count(policy.get("minReplicas"), pods[0].replicas)
        roles: tuple[ReadRole, ...] = (pods[0]._replace(role="node"),)
        words = {"nodes": pods[0].replicas, "elastic": {"nnodes": f"{least}:{most}", **_elastic(spec, policy)}}
    else:
        roles, words = as_nodes(pods)
        if "nprocPerNode" in spec:
            words["elastic"] = {**_UNTOLD, "rdzvBackend": "static", "nprocPerNode": _processes(spec)}
    run = nested_map(spec, "runPolicy")
    words["runPolicy"] = {
        "cleanPodPolicy": as_string(run.get("cleanPodPolicy")) or "None",
        **without_empty(
            {word: run.get(word) for word in ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "suspend")}
        ),
    }
    if (port := _port(pods[0])) is not None:
        words["masterPort"] = port
    return Read("pytorchjob", roles, words)


def _elastic(spec: Json, policy: Json) -> dict[str, Any]:
    conf = {as_string(one.get("key")): as_string(one.get("value")) for one in as_mappings(policy.get("rdzvConf"))}
    host = policy.get("rdzvHost")
    return {
        "nprocPerNode": _processes(spec),
        "maxRestarts": as_int(policy.get("maxRestarts")),
        "rdzvBackend": as_string(policy.get("rdzvBackend")) or None,
        **({"rdzvEndpoint": f"{host}:{as_int(policy.get('rdzvPort'), 29400)}"} if host else {}),
        "rdzvId": policy.get("rdzvId"),
        "rdzvConfigs": {**_NO_WAITS, **conf},
        "monitorInterval": None,
    }


def _processes(spec: Json) -> int | str:
    said = str(spec.get("nprocPerNode") or "auto")
    return int(said) if said.isascii() and said.isdigit() else said


def _port(pods: ReadRole) -> int | None:
    """The port where the nodes meet, where it is not the operator's own."""
    main = next(
        (
            one
            for one in as_mappings(nested_map(pods.template, "spec").get("containers"))
            if one.get("name") == pods.main
        ),
        {},
    )
    ports = as_mappings(main.get("ports"))
    found = next((as_int(one.get("containerPort")) for one in ports if one.get("name") == "pytorchjob-port"), _PORT)
    return found if found != _PORT else None
