"""What the training-operator and its CRD reject, at creation and on updates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.metadata import check_finalizers
from ptcompile.apiserver.validation.templates import check_template, without_restart_policy
from ptcompile.apiserver.webhooks import (
    child_rejection,
    controller_failure,
    decode_problems,
    invalid_value,
    quote_names,
    webhook_rejection,
)
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import as_int, as_mapping, as_mappings, as_string, nested_map, object_name
from ptcompile.operators.pytorchjob.pods import pod_templates
from ptcompile.registry.model import ApiServer, Established, KindContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json


def pytorch_job_rules(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """The scale subresource reads the workers' replicas, so the server holds them to its own bound."""
    worker = nested_map(nested_map(manifest, "spec", "pytorchReplicaSpecs"), "Worker")
    replicas = worker.get("replicas")
    if type(replicas) is int and replicas < 0:
        path = ("spec", "pytorchReplicaSpecs", "Worker", "replicas")
        yield invalid_value(path, f"{replicas}: should be a non-negative integer", "write 0 or more")


_RESTART: Final = ("Always", "ExitCode", "Never", "OnFailure")


def check_children(manifest: Mapping[str, Any], spec: dict[str, Any], context: ApiServer, found: f.Problems) -> None:
    """Each replica's template, whose restartPolicy the replica's own overwrites."""
    replicas = f.as_field_mapping(spec.get("pytorchReplicaSpecs"))
    clean: Any = None
    for one in pod_templates(manifest):
        clean = check_template(without_restart_policy(one.template), one.path, context, found, frozenset(), clean)
        finalizers = f.as_field_mapping(f.as_field_mapping(one.template).get("metadata")).get("finalizers")
        check_finalizers(finalizers, (*one.path, "metadata", "finalizers"), found)
        policy = f.as_field_mapping(replicas.get(one.role)).get("restartPolicy")
        if policy:
            f.check_choice(found, (*one.path[:-1], "restartPolicy"), policy, _RESTART)


FIXED: Final = (("spec.runPolicy.schedulingPolicy.queue", "spec.runPolicy.schedulingPolicy.queue is immutable"),)
"""What the CRD makes immutable (training-operator 1.8 and later)."""

_LATER: Final = (
    (
        ("spec", "pytorchReplicaSpecs"),
        "running pods keep their template and the job's old size; later pods use the new one: suspend the job, apply, "
        "and resume it",
    ),
)


def unseen_changes(old: Json) -> tuple[tuple[tuple[str, ...], str], ...]:
    """What running pods do not see of a change; those of a suspended job are gone."""
    return () if nested_map(old, "spec", "runPolicy").get("suspend") is True else _LATER


_say = webhook_rejection("training-operator")
_SPECS: Path = ("spec", "pytorchReplicaSpecs")
_KEYS = ("Master", "Worker")
_MANAGERS = ("kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue")
_CONTAINER = "pytorch"
_PORT_NAME = "pytorchjob-port"
_PORT = 23456


def validate(manifest: Json, request: KindContext) -> Iterator[Problem]:
    """Every condition of the webhook. Before 1.8 the controller asked the same: accepted, then Failed (stage "pod").

    A controller gives no warnings, and in 1.7 spec.nprocPerNode is no better: workers without a Master never see it.
    """
    for problem in _check(manifest, request.established):
        if request.versions.training_operator >= (1, 8):
            yield problem
        elif problem.severity == "error":
            yield problem._replace(stage="pod")


def _check(manifest: Json, known: Established) -> Iterator[Problem]:
    spec = nested_map(manifest, "spec")
    if not known.decodes:
        yield from decode_problems(spec, _say, ("spec",))
    yield from _name(object_name(manifest))
    manager = nested_map(spec, "runPolicy").get("managedBy")
    if isinstance(manager, str) and manager not in _MANAGERS:
        path = ("spec", "runPolicy", "managedBy")
        text = f'Unsupported value: "{manager}": supported values: {quote_names(_MANAGERS)}'
        yield _say(path, text, "remove managedBy")
    specs = spec.get("pytorchReplicaSpecs")
    if specs is None:
        yield _say(_SPECS, "Required value: must be required", "describe a Master, Workers, or both")
    for key, replica in as_mapping(specs).items():
        if replica is not None:  # the server drops a null before the webhook looks
            yield from _replica(str(key), as_mapping(replica))
    yield from _elastic(spec)


def _name(name: str) -> Iterator[Problem]:
    # What is no DNS subdomain either is the API server's to refuse.
    if names.is_dns_subdomain(name) and (why := names.why_not_dns_1035_label(name)):
        help = "start with a letter, then use letters, digits and dashes: the name is part of Service names"
        yield _say(("metadata", "name"), f'Invalid value: "{name}": {why}', help)


def _replica(key: str, replica: Json) -> Iterator[Problem]:
    path = (*_SPECS, key)
    if key not in _KEYS:
        meant = key.capitalize() if key.capitalize() in _KEYS else "Worker"
        text_ = f'Unsupported value: "{key}": supported values: {quote_names(_KEYS)}'
        yield Problem("webhook-refusal", path, f"{field_path(path)}: {text_}", f"write {meant}",
                      authority="training-operator", on_key=True)  # fmt: skip
    count = replica.get("replicas")
    if key == "Master" and count != 1:
        help = "write `replicas: 1`: the webhook requires it even though 1 is the default"
        yield _say((*path, "replicas"), "Forbidden: must be 1", help)
    if key == "Worker" and isinstance(count, int) and count < 1:
        help = "use 1 or more, or remove the Worker"
        yield _say((*path, "replicas"), "Forbidden: must be at least 1", help)
    yield from _containers(nested_map(replica, "template", "spec").get("containers"), path)


def _containers(containers: object, replica: Path) -> Iterator[Problem]:
    path: Path = (*replica, "template", "spec", "containers")
    if not containers:
        yield _say(path, "Required value: must be specified", f"add a container named {_CONTAINER}")
        return
    found = as_mappings(containers)
    for i, container in enumerate(found):
        if not as_string(container.get("image")):
            yield _say((*path, i, "image"), "Required value: must be required", "give every container an image")
    if not any(c.get("name") == _CONTAINER for c in found):
        help = f"name the container that trains {_CONTAINER}"
        yield _say(path, f"Required value: must have at least one container with name {_CONTAINER}", help)


def _elastic(spec: Json) -> Iterator[Problem]:
    policy = spec.get("elasticPolicy")
    if policy is None:
        return
    if nested_map(spec, "pytorchReplicaSpecs").get("Worker") is None and spec.get("pytorchReplicaSpecs") is not None:
        help = "name the replicas Worker: an elastic job is made of them"
        yield _say((*_SPECS, "Worker"), "Required value: must be configured if elastic policy is used", help)
    path = ("spec", "elasticPolicy", "nProcPerNode")
    if as_mapping(policy).get("nProcPerNode") is None:
        return
    if spec.get("nprocPerNode") is not None:
        yield _say(path, "Forbidden: must not be used with spec.nprocPerNode", "keep spec.nprocPerNode alone")
        return
    message = f"{field_path(path)}: deprecated, use spec.nprocPerNode instead"
    help = "write spec.nprocPerNode, as text"
    yield Problem("webhook-refusal", path, message, help, "warning", "style", "training-operator")


def controller_errors(manifest: Json, request: KindContext) -> Iterator[Problem]:
    """Services that the API server refuses, and where the controller panics. The job then sticks without DNS."""
    del request
    spec = nested_map(manifest, "spec")
    replicas = {
        k: as_mapping(v) for k, v in nested_map(spec, "pytorchReplicaSpecs").items() if k in _KEYS and v is not None
    }
    yield from _long_name(object_name(manifest), replicas)
    for key, replica in replicas.items():
        yield from _ports(replica, (*_SPECS, key, "template", "spec", "containers"))
        if key == "Worker" and "Master" in replicas:
            yield from _init(replica)
    conf = nested_map(spec, "elasticPolicy").get("rdzvConf")
    if isinstance(conf, list) and not conf:
        path = ("spec", "elasticPolicy", "rdzvConf")
        why = "the controller panics on an empty list, and no pod is created"
        yield controller_failure("training-operator", path, why, "remove rdzvConf, or give it an entry")


def _long_name(name: str, replicas: dict[str, Json]) -> Iterator[Problem]:
    suffixes = [f"-{key.lower()}-{max(0, as_int(r.get('replicas'), 1) - 1)}" for key, r in replicas.items()]
    limit = names.longest_name(suffixes)
    if suffixes and limit < len(name) <= names.DNS_LABEL_MAX:
        longest = name + max(suffixes, key=len)
        why = (
            f"the Service {longest} would have {len(longest)} characters, and 63 are allowed: the pods get no DNS name"
        )
        yield child_rejection(("metadata", "name"), why, f"use at most {limit} characters")


def _ports(replica: Json, path: Path) -> Iterator[Problem]:
    """The Service's ports are those of the container `pytorch`, with the operator's own behind them."""
    containers = as_mappings(nested_map(replica, "template", "spec").get("containers"))
    at_index = next((i for i, c in enumerate(containers) if c.get("name") == _CONTAINER), None)
    if at_index is None:
        return
    ports = as_mappings(containers[at_index].get("ports"))
    own = any(p.get("name") == _PORT_NAME for p in ports)
    seen = set() if own else {_PORT}
    many = len(ports) + (not own) > 1
    for i, port in enumerate(ports):
        here = (*path, at_index, "ports", i)
        number = as_int(port.get("containerPort"))
        if many and not as_string(port.get("name")):
            why = "Required value: the replica's Service has several ports, and each needs a name"
            yield child_rejection((*here, "name"), why, "name the port")
        if number in seen:
            why = f"Duplicate value: {number}: the replica's Service would have this port twice"
            yield child_rejection((*here, "containerPort"), why, f"name the port {_PORT_NAME}, or use another number")
        seen.add(number)


def _init(replica: Json) -> Iterator[Problem]:
    inits = as_mappings(nested_map(replica, "template", "spec").get("initContainers"))
    for i, container in enumerate(inits):
        if container.get("name") == "init-pytorch":
            path = (*_SPECS, "Worker", "template", "spec", "initContainers", i, "name")
            why = 'Duplicate value: "init-pytorch": the operator adds an init container of this name'
            yield child_rejection(path, why, "rename it")
