"""The spec of an imported job for another target: without what import wrote for the first
operator alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ptcompile._internal.spelling import is_short_number
from ptcompile.converter.settings import set_values
from ptcompile.diagnostics import Diagnostic, Path, field_path
from ptcompile.importer.lifting import lift_launch
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    get,
    has,
    nested_map,
    nested_maps,
    nested_value,
    without_keys,
    without_path,
)
from ptcompile.operators.table import BY_TARGET
from ptcompile.simulator.meeting import dns_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.simulator.world import World


_MAX_PORT_NAME = 15
_FAILURE_POLICY = "podFailurePolicy"
_JOB_FIELDS = (_FAILURE_POLICY, "podReplacementPolicy")
"""Fields of a Job for which a spec has no field, and that do not depend on the Job's own
backoffLimit.
"""
_THREADS = "OMP_NUM_THREADS"


def is_absence(document: Json, path: Path) -> bool:
    """Return whether the spec has a null at `path`: import wrote it because the manifest does
    not have the value.
    """
    return has(document, path) and get(document, path) is None


def with_dropped_fields(diagnostic: Diagnostic, document: JsonDict) -> Diagnostic:
    """Return the finding for a block that is dropped, with the fields of that block."""
    block = get(document, diagnostic.path)
    if not isinstance(block, Mapping) or not block:
        return diagnostic
    listed = ", ".join(field_path(path) for path, _ in set_values(block, diagnostic.path))
    return diagnostic._replace(message=f"{diagnostic.message}; dropped: {listed}")


def candidates(
    document: JsonDict, inlined: JsonDict | None, target: str, world: World
) -> Iterator[JsonDict]:
    """Yield the specs to try for another target, the best first.

    `inlined` is the document with the pods of its runtime, if it has one; `world` is that of the
    imported job.
    """
    if inlined is not None:
        document = _without_thread_count(inlined)
        lifted = lift_launch(document, world.jobs[0]) if world.jobs else None
        if lifted is not None:
            yield for_target(lifted, target, world)
    # the runtime that runtimeRef names is in no file
    job = without_path(document["spec"], ("runtimeRef",))
    yield for_target({**document, "spec": job}, target, world)


def _without_thread_count(document: JsonDict) -> JsonDict:
    """Return the document without the thread count that compile adds: torchrun sets it for its
    processes.
    """
    job = document["spec"]
    env = nested_map(job, "env")
    if _THREADS in env:
        return document
    return {**document, "spec": {**job, "env": {**env, _THREADS: None}}}


def for_target(document: JsonDict, target: str, world: World) -> JsonDict:
    """Return the document for a target, without the rendezvous host and port that the target
    sets itself.
    """
    # the names under which the pods reach one another
    hosts = frozenset(name for pod in world.pods.folded() for name in dns_names(pod.view))
    job = _without_own_address({**document["spec"], "target": target}, hosts)
    job = _with_job_settings(job, target)
    endpoint = nested_value(job, "elastic", "rdzvEndpoint")
    host, _, port = str(endpoint or "").rpartition(":")
    if host and host in hosts:  # the target's own pod answers there, under another name
        job = without_path(job, ("elastic", "rdzvEndpoint"))
        if is_short_number(port):
            job = {"masterPort": int(port), **job}

    for operator in BY_TARGET.values():
        if name := operator.conversion.port_name:
            job = _without_operator_port(job, name, names_each=operator.target_name == target)

    return {**document, "spec": job}


def job_settings(job: Json, target: str) -> JsonDict:
    """Return the settings of a batch/v1 Job, by field, that the Jobs of another target have too."""
    templates = BY_TARGET[target].conversion.job_templates
    patch = nested_map(job, "manifest", "job", "spec")
    if templates is None:
        return {}

    settings = {field: patch[field] for field in _JOB_FIELDS if patch.get(field) is not None}
    has_own_rules = "activeDeadlineSeconds" in job.get("runPolicy", {}) or "roles" in job
    # the patch would replace the failure rules that compile writes
    if has_own_rules and _fails_job(settings):
        del settings[_FAILURE_POLICY]
    if templates.container and _FAILURE_POLICY in settings:
        names = {nested_value(job, "names", "container"): templates.container}
        settings[_FAILURE_POLICY] = _with_container_names(settings[_FAILURE_POLICY], names)

    return settings


def _fails_job(settings: JsonDict) -> bool:
    """Return whether a failure of a pod may fail its Job, whatever retries it has left."""
    rules = nested_maps(settings, _FAILURE_POLICY, "rules")
    return any(rule.get("action") in ("FailJob", "FailIndex") for rule in rules)


def _with_container_names(policy: Any, names: Mapping[Any, str]) -> Any:
    """Return a podFailurePolicy with the new names of containers."""
    if isinstance(policy, list):
        return [_with_container_names(item, names) for item in policy]
    if not isinstance(policy, Mapping):
        return policy
    return {
        key: names.get(value, value)
        if key == "containerName"
        else _with_container_names(value, names)
        for key, value in policy.items()
    }


def _with_job_settings(job: JsonDict, target: str) -> JsonDict:
    """Return the job with these settings in the patch of the target's object."""
    settings = job_settings(job, target)
    templates = BY_TARGET[target].conversion.job_templates
    if not settings or templates is None:
        return job

    patch: JsonDict = {"replicatedJobs": [{"name": "node", "template": {"spec": settings}}]}
    if _fails_job(settings):
        patch |= templates.without_restart
    for key in reversed(templates.path):
        patch = {key: patch}
    rest = without_job_settings(job, target)

    return {**rest, "manifest": {**rest.get("manifest", {}), templates.patch: patch}}


def without_job_settings(job: Json, target: str) -> JsonDict:
    """Return the job without these settings in the patch for the target job."""
    rest = {**job}
    for field in job_settings(job, target):
        rest = without_path(rest, ("manifest", "job", "spec", field))
    return rest


def _without_own_address(job: JsonDict, hosts: Collection[str]) -> JsonDict:
    """Return the job without a patch that sets MASTER_ADDR to one of its pods, as each target
    does.
    """
    template = nested_map(job, "podTemplate")
    pod = nested_map(template, "spec")
    containers = nested_maps(pod, "containers")
    changed = [_without_address(container, hosts) for container in containers]
    if changed == containers:
        return job

    kept = [container for container in changed if container.keys() > {"name"}]
    rest: JsonDict = without_path(job, ("podTemplate", "spec", "containers"))
    if kept:
        return {**job, "podTemplate": {**template, "spec": {**pod, "containers": kept}}}

    return rest


def _without_address(container: Json, hosts: Collection[str]) -> Json:
    variables = nested_maps(container, "env")
    kept = [
        item
        for item in variables
        if item.get("name") != "MASTER_ADDR" or item.get("value") not in hosts
    ]
    if kept == variables:
        return container

    rest = without_keys(container, "env")
    return {**rest, "env": kept} if kept else rest


def _without_operator_port(job: JsonDict, name: str, *, names_each: bool) -> JsonDict:
    """Return the job without the port that an operator adds itself, by name or by number.

    `names_each`: whether that operator runs the job, so that each other port needs a name.
    """
    changed = {
        field: _without_operator_port(
            {"masterPort": job.get("masterPort"), **job[field]}, name, names_each=names_each
        )
        for field in ("master", "worker")
        if isinstance(job.get(field), Mapping)
    }
    for block in changed.values():
        block.pop("masterPort", None)
    job = {**job, **changed}
    ports = [port for port in nested_maps(job, "ports") if port.get("name") != name]
    if names_each:
        ports = [
            {
                **port,
                "name": port.get("name") or f"port-{port.get('containerPort')}"[:_MAX_PORT_NAME],
            }
            for port in ports
            if port.get("containerPort") != job.get("masterPort")
        ]

    rest = without_keys(job, "ports")
    return {**rest, "ports": ports} if ports else rest
