"""Spec fields read from a Kubeflow PyTorchJob (training-operator 1.9)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import is_short_number
from ptcompile.kinds.reading import (
    MAIN_CONTAINER,
    NO_TIMEOUTS,
    NOT_PASSED,
    Read,
    ReadRole,
    as_nodes,
    main_container,
    pod_count,
    unreadable_object,
    without_empty,
)
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
)

_PORT = 23456


def read(manifest: Json, _related: Objects) -> Iterator[Read]:
    """Yield Master and workers as nodes, or only workers as a range of nodes, which needs an
    elasticPolicy.
    """
    spec = nested_map(manifest, "spec")
    specs = nested_map(spec, "pytorchReplicaSpecs")
    policy = spec.get("elasticPolicy")

    if policy is not None and "Master" in specs:
        why = "with a Master it adds one torchrun to those of the workers (PTC439)"
        yield unreadable_object(
            "pytorchjob", ("spec", "elasticPolicy"), why, "remove the Master or the elasticPolicy"
        )
    elif policy is None and "Master" not in specs:
        why = "workers without a Master or an elasticPolicy do not find each other (PTC437)"
        yield unreadable_object(
            "pytorchjob", ("spec", "pytorchReplicaSpecs"), why, "add a Master or an elasticPolicy"
        )
    else:
        pods = [
            _read_role(key, nested_map(specs, key)) for key in ("Master", "Worker") if key in specs
        ]
        yield _read_job(spec, nested_map(spec, "elasticPolicy"), pods)


def _read_role(key: str, replica: Json) -> ReadRole:
    template = nested_map(replica, "template")
    path = ("spec", "pytorchReplicaSpecs", key, "template")
    restart = nested_string(replica, "restartPolicy") or "OnFailure"

    return ReadRole(
        key.lower(),
        pod_count(replica.get("replicas")),
        template,
        path,
        main_container(template, MAIN_CONTAINER),
        restart,
    )


def _read_job(spec: Json, policy: Json, pods: list[ReadRole]) -> Read:
    fields: JsonDict
    first, *_ = pods
    if policy:
        max_nodes = pod_count(policy.get("maxReplicas"), first.replicas)
        min_nodes = pod_count(policy.get("minReplicas"), first.replicas)
        roles: tuple[ReadRole, ...] = (first._replace(role="node"),)
        fields = {
            "nodes": first.replicas,
            "elastic": {"nnodes": f"{min_nodes}:{max_nodes}", **_read_elastic(spec, policy)},
        }
    else:
        roles, fields = as_nodes(pods)
        if "nprocPerNode" in spec:
            fields["elastic"] = {
                **NOT_PASSED,
                "rdzvBackend": "static",
                "nprocPerNode": _nproc_per_node(spec),
            }

    run = nested_map(spec, "runPolicy")
    copied = ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "suspend")
    fields["runPolicy"] = {
        "cleanPodPolicy": nested_string(run, "cleanPodPolicy") or "None",
        **without_empty({field: run.get(field) for field in copied}),
    }
    if (number := nested_int(run, "schedulingPolicy", "minAvailable")) > 0:
        fields["minAvailable"] = number
    if (port := _custom_master_port(first)) is not None:
        fields["masterPort"] = port

    return Read("pytorchjob", roles, fields)


def _read_elastic(spec: Json, policy: Json) -> JsonDict:
    conf = {
        nested_string(item, "key"): nested_string(item, "value")
        for item in nested_maps(policy, "rdzvConf")
    }
    endpoint = {}
    if host := policy.get("rdzvHost"):
        port = nested_int(policy, "rdzvPort", default=29400)
        endpoint = {"rdzvEndpoint": f"{host}:{port}"}

    return {
        "nprocPerNode": _nproc_per_node(spec),
        "maxRestarts": nested_int(policy, "maxRestarts"),
        "rdzvBackend": nested_string(policy, "rdzvBackend") or None,
        **endpoint,
        "rdzvId": policy.get("rdzvId"),
        "rdzvConfigs": {**NO_TIMEOUTS, **conf},
        "monitorInterval": None,
    }


def _nproc_per_node(spec: Json) -> int | str:
    processes = str(spec.get("nprocPerNode") or "auto")
    if is_short_number(processes):
        return int(processes)
    return processes


def _custom_master_port(pods: ReadRole) -> int | None:
    """Return the port of the rendezvous, or None if it is the operator's default."""
    for container in nested_maps(pods.template, "spec", "containers"):
        if container.get("name") != pods.main:
            continue
        for port in nested_maps(container, "ports"):
            if port.get("name") == "pytorchjob-port":
                number = nested_int(port, "containerPort")
                return number if number != _PORT else None

    return None
