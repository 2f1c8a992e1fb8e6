"""JSON forms of a world, a job and a pod, with secrets masked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, cast
from ptcompile._internal.secret_formats import mask_formats
from ptcompile.diagnostics import Diagnostic, code_of
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.nodes import NodeGroup
from ptcompile.kubernetes.pod_spec import terms_of
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_map,
    nested_maps,
    nested_string,
    object_name,
)
from ptcompile.simulator.job import SimulatedJob, job_of
from ptcompile.simulator.pod import Pod, device_claims, owner_of
from ptcompile.simulator.rendezvous import volume_sources
from ptcompile.source.secrets.scanner import without_secrets

Masker = Callable[[str], str]


def mask_jobs(jobs: Sequence[SimulatedJob], masker: Masker | None = None) -> list[SimulatedJob]:
    """Return the jobs simulated from manifests whose secrets are masked. A job without secrets is
    returned unchanged.

    `masker` is passed to `without_secrets`.
    """
    masked_objects: dict[int, Objects] = {}
    masked_jobs: list[SimulatedJob] = []
    for job in jobs:
        manifest: Any = without_secrets(job.manifest, masker)
        masked = job.stream.with_change(
            lambda related: without_secrets(related, masker), masked_objects
        )
        is_unchanged = manifest is job.manifest and masked is job.stream
        masked_jobs.append(
            job
            if is_unchanged
            else job_of(manifest, masked, job.versions, job.target, job.frameworks)
        )

    return masked_jobs


def mask_pod(pod: Pod, job: SimulatedJob | None) -> Pod:
    """Return the pod simulated from its masked manifest. `job` is the pod's job as `mask_jobs`
    returns it.
    """
    job = job or mask_jobs([cast("SimulatedJob", pod.job)])[0]
    if job is pod.job:
        return pod
    role = next((candidate for candidate in job.roles if candidate.name == pod.role), None)
    return pod if role is None else job.pod(role, pod.index)


def masked_fields(pod: Pod, masked: Pod) -> list[str]:
    """Return the masked fields of a pod: `env.HF_TOKEN`, `args[0]`, `annotations.x`."""
    fields = [f"env.{name}" for name, value in pod.env.items() if masked.env.get(name) != value]
    for field, original, masked_words in (
        ("command", pod.command, masked.command),
        ("args", pod.args, masked.args),
    ):
        pairs = enumerate(zip(original or (), masked_words or (), strict=False))
        fields += [f"{field}[{index}]" for index, (a, b) in pairs if a != b]

    for field, values, masked_values in (
        ("labels", pod.view.labels, masked.view.labels),
        ("annotations", pod.view.annotations, masked.view.annotations),
    ):
        fields += [
            f"{field}.{name}" for name, value in values.items() if masked_values.get(name) != value
        ]

    return [*map(mask_formats, fields)]


VERSION = 1
MAX_LISTED_CHARACTERS = 24 << 20
"""Maximum number of characters of all listed pods. In memory they take seven times as much."""


def world_to_dict(
    jobs: Sequence[SimulatedJob],
    pods: Iterator[Pod],
    total: int,
    skipped: Sequence[str],
    diagnostics: Sequence[Diagnostic],
    nodes: Sequence[NodeGroup],
) -> JsonDict:
    """Return the JSON form of the world with secrets masked.

    `pods` yields the pods to list, up to `MAX_LISTED_CHARACTERS`; `total` is the number of pods in
    the world.
    """
    masked_jobs = mask_jobs(jobs)
    listed = _list_pods(
        pods, {id(job): masked for job, masked in zip(jobs, masked_jobs, strict=True)}
    )
    truncation = [_truncation_warning(len(listed), total)] if next(pods, None) is not None else []

    return {
        "version": VERSION,
        "jobs": [job_to_dict(job, nodes) for job in masked_jobs],
        "pods": listed,
        "podsTotal": total,
        "folded": len(listed) < total,
        "skipped": list(skipped),
        "diagnostics": [d.to_dict() for d in (*diagnostics, *truncation)],
    }


def _list_pods(pods: Iterator[Pod], jobs: Mapping[int, SimulatedJob]) -> list[JsonDict]:
    """Return the first pods in full, at least one. Only the first pod of each role is measured."""
    listed: list[JsonDict] = []
    sizes: dict[tuple[int, str], int] = {}
    remaining = MAX_LISTED_CHARACTERS
    while remaining > 0 and (pod := next(pods, None)) is not None:
        listed.append(pod_to_dict(pod, jobs[id(pod.job)]))
        role = id(pod.job), pod.role
        if role not in sizes:
            sizes[role] = len(json.dumps(listed[-1], indent=2))
        remaining -= sizes[role]

    return listed


def _truncation_warning(listed: int, total: int) -> Diagnostic:
    """Return the warning that the remaining pods are not listed."""
    return Diagnostic(
        code=code_of("too-large"),
        name="too-large",
        severity="warning",
        message=f"the list ends after {listed} of {total} pods, at {MAX_LISTED_CHARACTERS >> 20} MiB",
        help="request one pod with --pod NAME, or omit --all for the first and last pods of each "
        "role",
        path=(),
        span=None,
        stage="run",
        authority="ptcompile",
    )


def job_to_dict(job: SimulatedJob, nodes: Sequence[NodeGroup]) -> JsonDict:
    """Return the JSON form of a job without its pods."""
    rendezvous = job.rendezvous
    totals = job.totals()

    return {
        "apiVersion": nested_string(job.manifest, "apiVersion"),
        "kind": job.kind,
        "name": job.name,
        "namespace": job.namespace,
        "target": job.target,
        "roles": [{"name": role.name, "count": role.count} for role in job.roles],
        "podsTotal": job.size,
        "rendezvous": None if rendezvous is None else rendezvous.to_dict(),
        "totals": amounts.as_text(totals),
        "accelerators": amounts.accelerators(totals),
        "services": [_service_to_dict(service) for service in job.expansion.services],
        "podGroup": None if job.pod_group is None else dict(job.pod_group),
        "jobs": [dict(child) for child in job.expansion.jobs],
        "where": job.where(nodes),
        "onFailure": list(job.failure),
        "notes": list(job.notes),
        "refused": list(job.expansion.refused),
    }


def _service_to_dict(service: Json) -> JsonDict:
    spec = nested_map(service, "spec")
    return {
        "name": object_name(service),
        "headless": spec.get("clusterIP") == "None",
        "publishNotReadyAddresses": spec.get("publishNotReadyAddresses") is True,
        "selector": dict(nested_map(spec, "selector")),
        "ports": [dict(port) for port in nested_maps(spec, "ports")],
    }


def pod_to_dict(original: Pod, job: SimulatedJob | None = None) -> JsonDict:
    """Return the JSON form of one pod with secrets masked. `job` is its job as `mask_jobs`
    returns it.
    """
    pod = mask_pod(original, job)
    view = pod.view

    return {
        "name": pod.name,
        "randomSuffix": pod.random_suffix,
        "owner": owner_of(pod),
        "job": pod.job.title,
        "target": pod.job.target,
        "namespace": view.namespace,
        "hostname": pod.hostname,
        "subdomain": view.subdomain,
        "dns": pod.dns,
        "role": pod.role,
        "index": pod.index,
        "labels": dict(view.labels),
        "annotations": dict(view.annotations),
        "restartPolicy": view.restart_policy,
        "qosClass": pod.qos,
        "mainContainer": pod.main.name if pod.main else None,
        "env": pod.env,
        "envFrom": env_sources(pod),
        "command": pod.command,
        "args": pod.args,
        "resources": {str(k): v for k, v in pod.resources.items()},
        "requests": amounts.as_text(pod.requests),
        "nodeSelector": dict(view.node_selector),
        "tolerations": [dict(toleration) for toleration in view.tolerations],
        "nodeRequirements": list(node_requirements(view.spec)),
        "volumes": [
            {"name": name, "type": volume_type, "source": source}
            for name, volume_type, source in volume_sources(view.spec)
        ],
        "claims": [
            claim._asdict() | {"devices": list(claim.devices)} for claim in device_claims(pod)
        ],
        "rendezvous": pod.rendezvous.to_dict(),
        "containers": [
            _container_to_dict(container.to_dict(), container.spec) for container in pod.containers
        ],
        "masked": [] if pod is original else masked_fields(original, pod),
    }


def _container_to_dict(container: JsonDict, spec: Json) -> JsonDict:
    """Return the container's JSON form, with the volume name of each mount."""
    mounts = [
        {"name": nested_string(m, "name"), "mountPath": nested_string(m, "mountPath")}
        for m in nested_maps(spec, "volumeMounts")
    ]
    return {**container, "mounts": mounts}


def env_sources(pod: Pod) -> list[str]:
    """Return the sources of `envFrom` as `secret:NAME` or `configmap:NAME`, after their prefix
    if they have one.
    """
    if pod.main is None:
        return []

    sources: list[str] = []
    for source in nested_maps(pod.main.spec, "envFrom"):
        for key, source_type in (("secretRef", "secret"), ("configMapRef", "configmap")):
            if key in source:
                sources.append(
                    f"{nested_string(source, 'prefix')}{source_type}:{nested_string(source, key, 'name')}"
                )

    return sources


def node_requirements(spec: Json) -> Iterator[str]:
    """Yield what a node must have as text: node selector, required affinity and tolerated
    taints.
    """
    for name, value in nested_map(spec, "nodeSelector").items():
        yield f"{name} is {value}"
    terms = [" and ".join(_match_expressions(term)) for term in terms_of(spec)]
    if terms:
        yield " or ".join(terms)
    for toleration in nested_maps(spec, "tolerations"):
        taint = f"{nested_string(toleration, 'key') or 'any taint'}={nested_string(toleration, 'value') or '*'}"
        yield f"may be tainted {taint}" + (
            f":{nested_string(toleration, 'effect')}" if toleration.get("effect") else ""
        )


def _match_expressions(term: Json) -> Iterator[str]:
    for expression in nested_maps(term, "matchExpressions") + nested_maps(term, "matchFields"):
        values = expression.get("values")
        value_text = ", ".join(str(v) for v in values) if isinstance(values, list) else ""
        yield (
            f"{nested_string(expression, 'key')} {nested_string(expression, 'operator')} "
            f"{value_text}"
        ).rstrip()
