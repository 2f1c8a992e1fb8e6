"""The validation of PyTorchJobs by the training-operator and its CRD, at creation and on
updates.
"""

from __future__ import annotations

from ptcompile.apiserver.validation.metadata import check_finalizers
from ptcompile.apiserver.validation.templates import check_template, without_restart_policy
from ptcompile.apiserver.webhooks import (
    check_longest_name,
    child_rejection,
    controller_failure,
    decode_problems,
    invalid_value,
    quote_names,
    webhook_rejection,
)
from ptcompile.diagnostics import Path, Problems, problem_at
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kinds.model import Established, KindContext, Rejections, UnseenChanges
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mapping,
    as_mappings,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    object_name,
)
from ptcompile.operators.pytorchjob.pods import CONTAINER, PORT, PORT_NAME, pod_templates


def pytorch_job_rules(manifest: Json) -> Problems:
    """Check the workers' replicas as the API server does, since the scale subresource reads
    them.
    """
    worker = nested_map(manifest, "spec", "pytorchReplicaSpecs", "Worker")
    replicas = worker.get("replicas")
    if type(replicas) is int and replicas < 0:
        yield invalid_value(
            ("spec", "pytorchReplicaSpecs", "Worker", "replicas"),
            f"{replicas}: should be a non-negative integer",
            "write 0 or more",
        )


_RESTART_POLICIES = ("Always", "ExitCode", "Never", "OnFailure")


def check_children(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check each replica's template; the replica's own restartPolicy overwrites the template's."""
    replicas = nested_map(manifest, "spec", "pytorchReplicaSpecs")
    clean = None
    for template in pod_templates(manifest):
        clean = check_template(
            without_restart_policy(template.template),
            template.path,
            context,
            problems,
            frozenset(),
            clean,
        )

        finalizers = nested_value(template.template, "metadata", "finalizers")
        check_finalizers(finalizers, (*template.path, "metadata", "finalizers"), problems)
        policy = nested_value(replicas, template.role, "restartPolicy")
        if type(policy) is str and policy not in ("", *_RESTART_POLICIES):
            problems.unsupported((*template.path[:-1], "restartPolicy"), policy, _RESTART_POLICIES)


FIXED = (
    ("spec.runPolicy.schedulingPolicy.queue", "spec.runPolicy.schedulingPolicy.queue is immutable"),
)
"""Fields that the CRD makes immutable (training-operator 1.8 and later)."""

_UNSEEN_CHANGES = (
    (
        ("spec", "pytorchReplicaSpecs"),
        "running pods keep their template and the job's old size; later pods use the new one: "
        "suspend the job, apply, and resume it",
    ),
)


def unseen_changes(old: Json) -> UnseenChanges:
    """Return the changes that running pods do not see; a suspended job has no pods."""
    if nested_value(old, "spec", "runPolicy", "suspend") is True:
        return ()
    return _UNSEEN_CHANGES


_rejection = webhook_rejection("training-operator")
_SPECS: Path = ("spec", "pytorchReplicaSpecs")
_REPLICA_TYPES = ("Master", "Worker")
_MANAGERS = ("kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue")


def validate(manifest: Json, request: KindContext) -> Problems:
    """Yield the webhook's rejections. Before 1.8 the controller checked the same: accepted, then
    Failed (stage "pod").

    A controller gives no warnings, and in 1.7 spec.nprocPerNode is no alternative: workers without
    a Master never get it.
    """
    for problem in _check_job(manifest, request.established):
        if request.versions.training_operator >= (1, 8):
            yield problem
        elif problem.severity == "error":
            yield problem._replace(stage="pod")


def _check_job(manifest: Json, established: Established) -> Problems:
    spec = nested_map(manifest, "spec")
    if not established.decodes:
        yield from decode_problems(spec, _rejection, ("spec",))
    yield from _check_name(object_name(manifest))
    manager = nested_value(spec, "runPolicy", "managedBy")
    if isinstance(manager, str) and manager not in _MANAGERS:
        yield _rejection(
            ("spec", "runPolicy", "managedBy"),
            f'Unsupported value: "{manager}": supported values: {quote_names(_MANAGERS)}',
            "remove managedBy",
        )

    specs = spec.get("pytorchReplicaSpecs")
    if specs is None:
        yield _rejection(
            _SPECS, "Required value: must be required", "describe a Master, Workers, or both"
        )

    for key, replica in as_mapping(specs).items():
        if replica is not None:  # the server drops a null before it calls the webhook
            yield from _check_replica(str(key), as_mapping(replica))
    yield from _check_elastic_policy(spec)


def _check_name(name: str) -> Problems:
    # the API server rejects names that are not DNS subdomains
    if names.is_dns_subdomain(name) and (why := names.why_not_dns_1035_label(name)):
        yield _rejection(
            ("metadata", "name"),
            f'Invalid value: "{name}": {why}',
            "start with a letter, then use letters, digits and dashes: the name is part of "
            "Service names",
        )


def _check_replica(key: str, replica: Json) -> Problems:
    path = (*_SPECS, key)
    if key not in _REPLICA_TYPES:
        suggestion = key.capitalize() if key.capitalize() in _REPLICA_TYPES else "Worker"
        yield problem_at(
            "webhook-refusal",
            path,
            f'Unsupported value: "{key}": supported values: {quote_names(_REPLICA_TYPES)}',
            f"write {suggestion}",
            authority="training-operator",
            on_key=True,
        )

    count = replica.get("replicas")
    if key == "Master" and count != 1:
        help = "write `replicas: 1`: the webhook requires it even though 1 is the default"
        yield _rejection((*path, "replicas"), "Forbidden: must be 1", help)
    if key == "Worker" and isinstance(count, int) and count < 1:
        help = "use 1 or more, or remove the Worker"
        yield _rejection((*path, "replicas"), "Forbidden: must be at least 1", help)
    yield from _check_containers(nested_value(replica, "template", "spec", "containers"), path)


def _check_containers(containers: object, replica: Path) -> Problems:
    path = (*replica, "template", "spec", "containers")
    if not containers:
        yield _rejection(
            path, "Required value: must be specified", f"add a container named {CONTAINER}"
        )
        return

    container_list = as_mappings(containers)
    for i, container in enumerate(container_list):
        if not nested_string(container, "image"):
            yield _rejection(
                (*path, i, "image"),
                "Required value: must be required",
                "give every container an image",
            )

    if not any(c.get("name") == CONTAINER for c in container_list):
        yield _rejection(
            path,
            f"Required value: must have at least one container with name {CONTAINER}",
            f"name the container that trains {CONTAINER}",
        )


def _check_elastic_policy(spec: Json) -> Problems:
    policy = spec.get("elasticPolicy")
    if policy is None:
        return

    if (
        nested_value(spec, "pytorchReplicaSpecs", "Worker") is None
        and spec.get("pytorchReplicaSpecs") is not None
    ):
        help = "name the replicas Worker: an elastic job is made of them"
        yield _rejection(
            (*_SPECS, "Worker"),
            "Required value: must be configured if elastic policy is used",
            help,
        )

    path = ("spec", "elasticPolicy", "nProcPerNode")
    if nested_value(policy, "nProcPerNode") is None:
        return
    if spec.get("nprocPerNode") is not None:
        yield _rejection(
            path,
            "Forbidden: must not be used with spec.nprocPerNode",
            "keep spec.nprocPerNode alone",
        )
        return

    help = "write spec.nprocPerNode, as text"
    yield problem_at(
        "webhook-refusal",
        path,
        "deprecated, use spec.nprocPerNode instead",
        help,
        "warning",
        "style",
        "training-operator",
    )


def controller_errors(manifest: Json, request: KindContext) -> Problems:
    """Yield Services that the API server rejects, without which the pods have no DNS names, and
    controller panics.
    """
    del request
    spec = nested_map(manifest, "spec")
    replicas = {
        k: as_mapping(v)
        for k, v in nested_map(spec, "pytorchReplicaSpecs").items()
        if k in _REPLICA_TYPES and v is not None
    }
    suffixes = [
        f"-{key.lower()}-{max(0, nested_int(replica, 'replicas', default=1) - 1)}"
        for key, replica in replicas.items()
    ]
    yield from check_longest_name(
        object_name(manifest), suffixes, "Service", "the pods get no DNS name"
    )
    for key, replica in replicas.items():
        yield from _check_service_ports(replica, (*_SPECS, key, "template", "spec", "containers"))
        if key == "Worker" and "Master" in replicas:
            yield from _check_init_containers(replica)

    conf = nested_value(spec, "elasticPolicy", "rdzvConf")
    if isinstance(conf, list) and not conf:
        yield controller_failure(
            "training-operator",
            ("spec", "elasticPolicy", "rdzvConf"),
            "the controller panics on an empty list, and no pod is created",
            "remove rdzvConf, or give it an entry",
        )


def _check_service_ports(replica: Json, path: Path) -> Problems:
    """Check the Service's ports: those of the container `pytorch`, then the operator's own."""
    containers = nested_maps(replica, "template", "spec", "containers")
    container_index = next(
        (i for i, c in enumerate(containers) if c.get("name") == CONTAINER), None
    )
    if container_index is None:
        return

    ports = nested_maps(containers[container_index], "ports")
    numbers: set[int] = set()
    needs_names = len(ports) > 1
    if all(port.get("name") != PORT_NAME for port in ports):
        # the operator adds its port
        numbers.add(PORT)
        needs_names = bool(ports)
    for i, port in enumerate(ports):
        port_path = (*path, container_index, "ports", i)
        number = nested_int(port, "containerPort")
        if needs_names and not nested_string(port, "name"):
            why = "Required value: the replica's Service has several ports, and each needs a name"
            yield child_rejection((*port_path, "name"), why, "name the port")
        if number in numbers:
            why = f"Duplicate value: {number}: the replica's Service would have this port twice"
            yield child_rejection(
                (*port_path, "containerPort"),
                why,
                f"name the port {PORT_NAME}, or use another number",
            )

        numbers.add(number)


def _check_init_containers(replica: Json) -> Problems:
    init_containers = nested_maps(replica, "template", "spec", "initContainers")
    for i, container in enumerate(init_containers):
        if container.get("name") == "init-pytorch":
            yield child_rejection(
                (*_SPECS, "Worker", "template", "spec", "initContainers", i, "name"),
                'Duplicate value: "init-pytorch": the operator adds an init container of this name',
                "rename it",
            )


REJECTIONS = Rejections(
    crd_rules=pytorch_job_rules,
    validate=validate,
    controller_errors=controller_errors,
    check_children=check_children,
    immutable_fields=FIXED,
    unseen_changes=unseen_changes,
)
