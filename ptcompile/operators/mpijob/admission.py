"""Rejections by the MPI Operator's controller, and changes that running pods do not see."""

from __future__ import annotations

from functools import partial

from ptcompile.apiserver.validation.templates import check_templates, without_restart_policy
from ptcompile.apiserver.webhooks import controller_failure, quote_names
from ptcompile.diagnostics import Path, Problems
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kinds.model import KindContext, Rejections
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mapping,
    nested_int,
    nested_map,
    nested_maps,
    nested_value,
    object_name,
)
from ptcompile.operators.mpijob.pods import DEFAULT_REPLICAS, pod_templates

_SPECS: Path = ("spec", "mpiReplicaSpecs")
_RESTART_POLICIES = ("Never", "OnFailure")
_CLEAN_POD_POLICIES = ("None", "Running", "All")
_MANAGERS = ("kubeflow.org/mpi-operator", "kueue.x-k8s.io/multikueue")

_validation_error = partial(controller_failure, "mpi-operator")


def controller_errors(manifest: Json, request: KindContext) -> Problems:
    """Yield the controller's rejections: the job gets an event ValidationError, and no pod is
    created.
    """
    del request
    spec = nested_map(manifest, "spec")
    specs = spec.get("mpiReplicaSpecs")
    if not specs:
        yield _validation_error(
            _SPECS, "Required value: must have replica specs", "describe a Launcher and Workers"
        )
    elif nested_value(specs, "Launcher") is None:
        yield _validation_error(
            (*_SPECS, "Launcher"),
            "Required value: must have Launcher replica spec",
            "add a Launcher",
        )

    for kind, replica in as_mapping(specs).items():
        if kind in DEFAULT_REPLICAS and replica is not None:
            yield from _check_replica(str(kind), as_mapping(replica))
    yield from _check_run_policy(spec)
    yield from _check_worker_names(object_name(manifest), nested_map(specs, "Worker"))


def _check_replica(kind: str, replica: Json) -> Problems:
    path = (*_SPECS, kind)
    count = nested_int(replica, "replicas", default=DEFAULT_REPLICAS[kind])
    if kind == "Launcher" and count != 1:
        yield _validation_error(
            (*path, "replicas"), f"Invalid value: {count}: must be 1", "use one launcher"
        )
    if kind == "Worker" and count < 1:
        yield _validation_error(
            (*path, "replicas"),
            f"Invalid value: {count}: must be greater than or equal to 1",
            "set the number of workers: the default of 0 is rejected, or remove Worker",
        )

    restart = replica.get("restartPolicy")
    if restart and restart not in _RESTART_POLICIES:
        yield _validation_error(
            (*path, "restartPolicy"),
            f'Unsupported value: "{restart}": supported values: {quote_names(_RESTART_POLICIES)}',
            "use Never or OnFailure",
        )
    if not nested_maps(replica, "template", "spec", "containers"):
        containers = (*path, "template", "spec", "containers")
        yield _validation_error(
            containers, "Required value: must define at least one container", "add a container"
        )


def _check_run_policy(spec: Json) -> Problems:
    policy = nested_map(spec, "runPolicy")
    clean = policy.get("cleanPodPolicy")
    manager = policy.get("managedBy")
    for field in ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit"):
        if nested_int(policy, field) < 0:
            text = f"Invalid value: {policy[field]}: must be greater than or equal to 0"
            yield _validation_error(("spec", "runPolicy", field), text, "use 0 or more")

    if nested_int(spec, "slotsPerWorker", default=1) < 0:
        text = f"Invalid value: {spec['slotsPerWorker']}: must be greater than or equal to 0"
        yield _validation_error(
            ("spec", "slotsPerWorker"), text, "use the number of GPUs of a worker"
        )
    if clean and clean not in _CLEAN_POD_POLICIES:
        text = f'Unsupported value: "{clean}": supported values: {quote_names(_CLEAN_POD_POLICIES)}'
        yield _validation_error(
            ("spec", "runPolicy", "cleanPodPolicy"), text, "use None, Running or All"
        )
    if manager and manager not in _MANAGERS:
        text = f'Unsupported value: "{manager}": supported values: {quote_names(_MANAGERS)}'
        yield _validation_error(("spec", "runPolicy", "managedBy"), text, "remove managedBy")


def _check_worker_names(name: str, worker: Json) -> Problems:
    """Check the last worker's name, which is a host name and the longest."""
    last_worker = f"{name}-worker-{max(0, nested_int(worker, 'replicas', default=1) - 1)}"
    if names.is_dns_subdomain(name) and (why := names.why_not_dns_1035_label(last_worker)):
        if len(last_worker) > 63:
            help = f"at most {len(name) - (len(last_worker) - 63)} characters"
        else:
            help = "start with a letter"
        yield _validation_error(
            ("metadata", "name"), f'Invalid value: "{last_worker}": {why}', help
        )


_VOLUMES = frozenset({"ssh-auth", "mpi-job-config"})
"""Volumes that the controller adds."""


def check_children(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check the templates of both replica types; the replica's own restartPolicy overwrites the
    template's.
    """
    templates = (
        item._replace(template=without_restart_policy(item.template))
        for item in pod_templates(manifest)
    )
    check_templates(templates, context, problems, _VOLUMES)


REJECTIONS = Rejections(
    controller_errors=controller_errors,
    check_children=check_children,
    unseen_changes=lambda _old: (
        (
            ("spec", "mpiReplicaSpecs"),
            "the launcher and running workers do not change; new workers use the new template",
        ),
    ),
)
