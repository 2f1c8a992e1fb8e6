"""Pods of a HyperPodPyTorchJob: templates, names, the variables that the operator injects, behavior
on failure.

Source: sagemaker-hyperpod 3.12, hyperpod_pytorch_job_unified_config.py; AWS's guide to the training
operator; docs/facts/other-kinds.md#hyperpodpytorchjob.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kinds import templates
from ptcompile.kinds.model import Rejections
from ptcompile.kinds.pods import ExpandedRole, Expansion, PodView, template_parts
from ptcompile.kinds.templates import Template, indexed_mappings
from ptcompile.kubernetes.unstructured import (
    Json,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_value,
    object_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.requests import ApiServer


def pod_templates(manifest: Json) -> Iterator[Template]:
    """Yield the templates of the replica specs; `replicas` counts no spares, and is 0 by
    default.
    """
    for index, replica in indexed_mappings(nested_value(manifest, "spec", "replicaSpecs")):
        yield Template(
            path=("spec", "replicaSpecs", index, "template"),
            template=replica.get("template"),
            role=nested_string(replica, "name"),
            replicas=_replicas(replica),
        )


def expand(manifest: Json) -> Expansion:
    """Return the pods that train. The operator makes no Service for them: it tells each pod the
    address of the first.
    """
    replicas = [*nested_maps(manifest, "spec", "replicaSpecs")]
    nodes = sum(map(_replicas, replicas))

    roles = tuple(
        ExpandedRole(
            nested_string(replica, "name"),
            _replicas(replica),
            partial(_pod, manifest, replica, nodes),
        )
        for replica in replicas
    )

    spares = sum(nested_int(replica, "spares") for replica in replicas)
    if spares > 0:
        notes = [f"Kueue reserves resources for pods in addition, as spares: {spares}"]
    else:
        notes = []

    return Expansion(roles, notes=tuple(notes))


def _replicas(replica: Json) -> int:
    return max(0, nested_int(replica, "replicas"))


def _pod(manifest: Json, replica: Json, nodes: int, index: int) -> PodView:
    """Return a pod of a replica spec, in a job of so many nodes."""
    role = nested_string(replica, "name")
    metadata, spec = template_parts(replica.get("template"))
    name = f"{object_name(manifest)}-{role}-{index}"

    return PodView(
        name=name,
        role=role,
        index=index,
        namespace=namespace_of(manifest),
        labels={**nested_string_map(metadata, "labels"), "HPJob": object_name(manifest)},
        annotations=nested_string_map(metadata, "annotations"),
        spec=templates.with_containers(spec, lambda c: _with_topology(c, manifest, nodes)),
    )


def _with_topology(container: Json, manifest: Json, nodes: int) -> Json:
    """Return a container with NNODES and NPROC_PER_NODE.

    The number of nodes is always the operator's, which also tells it to the agents. Whose
    NPROC_PER_NODE wins is unknown, so the container's own is kept.
    """
    processes = nested_string(manifest, "spec", "nprocPerNode")
    before = [templates.env_value("NPROC_PER_NODE", processes)] if processes else []
    after = [*nested_maps(container, "env"), templates.env_value("NNODES", str(nodes))]
    return {**container, "env": templates.upsert(before, after)}


def describe_failures(manifest: Json) -> Iterator[str]:
    """Yield sentences about restarts, as AWS's guide describes the fields."""
    policy = nested_map(manifest, "spec", "runPolicy")
    limits = nested_map(policy, "restartPolicy")
    retries = policy.get("jobMaxRetryCount")
    process_restarts = limits.get("numRestartBeforeFullJobRestart")
    job_restarts = limits.get("maxFullJobRestarts")

    yield "a process that fails or hangs: the operator restarts the processes in their pods"
    if retries is not None:
        yield f"jobMaxRetryCount {retries}: so many restarts of the processes at most"
    if process_restarts is not None:
        period = limits.get("evalPeriodSeconds")
        yield (
            f"numRestartBeforeFullJobRestart {process_restarts}: after so many within {period} "
            "seconds the whole job restarts"
        )
    if job_restarts is not None:
        yield f"maxFullJobRestarts {job_restarts}: after so many restarts of the whole job it fails"


def check_children(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check the pods as the API server does."""
    from ptcompile.apiserver.validation.templates import check_templates

    check_templates(pod_templates(manifest), context, problems)


REJECTIONS = Rejections(check_children=check_children)
