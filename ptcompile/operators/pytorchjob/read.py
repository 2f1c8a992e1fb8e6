"""A Kubeflow PyTorchJob as the words of a spec (training-operator 1.9)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import at, integer, items, text
from ptcompile.registry.reading import MAIN, Pods, Read, as_nodes, count, given, main_container, refused

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
    spec = at(manifest, "spec")
    specs = at(spec, "pytorchReplicaSpecs")
    policy = spec.get("elasticPolicy")
    if policy is not None and "Master" in specs:
        why = "with a Master it adds one torchrun to those of the workers (PTC439)"
        yield refused("pytorchjob", ("spec", "elasticPolicy"), why, "remove the Master or the elasticPolicy")
    elif policy is None and "Master" not in specs:
        path: Path = ("spec", "pytorchReplicaSpecs")
        why = "workers without a Master or an elasticPolicy do not find each other (PTC437)"
        yield refused("pytorchjob", path, why, "add a Master or an elasticPolicy")
    else:
        pods = [_pods(key, at(specs, key)) for key in ("Master", "Worker") if key in specs]
        yield _job(spec, at(spec, "elasticPolicy"), pods)


def _pods(key: str, replica: Json) -> Pods:
    template = at(replica, "template")
    path: Path = ("spec", "pytorchReplicaSpecs", key, "template")
    restart = text(replica.get("restartPolicy")) or "OnFailure"
    return Pods(key.lower(), count(replica.get("replicas")), template, path, main_container(template, MAIN), restart)


def _job(spec: Json, policy: Json, pods: list[Pods]) -> Read:
    words: dict[str, Any]
    if policy:
        most = count(policy.get("maxReplicas"), pods[0].replicas)
        least = count(policy.get("minReplicas"), pods[0].replicas)
        roles: tuple[Pods, ...] = (pods[0]._replace(role="node"),)
        words = {"nodes": pods[0].replicas, "elastic": {"nnodes": f"{least}:{most}", **_elastic(spec, policy)}}
    else:
        roles, words = as_nodes(pods)
        if "nprocPerNode" in spec:
            words["elastic"] = {**_UNTOLD, "rdzvBackend": "static", "nprocPerNode": _processes(spec)}
    run = at(spec, "runPolicy")
    words["runPolicy"] = {
        "cleanPodPolicy": text(run.get("cleanPodPolicy")) or "None",
        **given({word: run.get(word) for word in ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "suspend")}),
    }
    if (port := _port(pods[0])) is not None:
        words["masterPort"] = port
    return Read("pytorchjob", roles, words)


def _elastic(spec: Json, policy: Json) -> dict[str, Any]:
    conf = {text(one.get("key")): text(one.get("value")) for one in items(policy.get("rdzvConf"))}
    host = policy.get("rdzvHost")
    return {
        "nprocPerNode": _processes(spec),
        "maxRestarts": integer(policy.get("maxRestarts")),
        "rdzvBackend": text(policy.get("rdzvBackend")) or None,
        **({"rdzvEndpoint": f"{host}:{integer(policy.get('rdzvPort'), 29400)}"} if host else {}),
        "rdzvId": policy.get("rdzvId"),
        "rdzvConfigs": {**_NO_WAITS, **conf},
        "monitorInterval": None,
    }


def _processes(spec: Json) -> int | str:
    said = str(spec.get("nprocPerNode") or "auto")
    return int(said) if said.isascii() and said.isdigit() else said


def _port(pods: Pods) -> int | None:
    """The port where the nodes meet, where it is not the operator's own."""
    main = next((one for one in items(at(pods.template, "spec").get("containers")) if one.get("name") == pods.main), {})
    ports = items(main.get("ports"))
    found = next((integer(one.get("containerPort")) for one in ports if one.get("name") == "pytorchjob-port"), _PORT)
    return found if found != _PORT else None
