"""A world as JSON, secrets masked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import cast
from ptcompile.diagnostics import Diagnostic, code_of
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import as_mappings, as_string, kind_of, nested_map, object_name
from ptcompile.simulator import amounts
from ptcompile.simulator.job import SimulatedJob, job_of
from ptcompile.simulator.meeting import claims, job_rendezvous
from ptcompile.simulator.pod import Pod, device_claims, owner_of
from ptcompile.source.secrets.scanner import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json


Masker = Callable[[str], str]


def shown_jobs(jobs: Sequence[SimulatedJob], mark: Masker | None = None) -> list[SimulatedJob]:
    """The same jobs, made of manifests whose secrets are masked; a job without any is the same object.

    `mark` is that of `without_secrets`.
    """
    given: dict[int, Objects] = {}
    out: list[SimulatedJob] = []
    for job in jobs:
        manifest: Any = without_secrets(job.manifest, mark)
        masked = job.given.changed(lambda one: without_secrets(one, mark), given)
        same = manifest is job.manifest and masked is job.given
        out.append(job if same else job_of(manifest, masked, job.versions, job.target))
    return out


def shown_pod(pod: Pod, job: SimulatedJob | None = None) -> Pod:
    """The same pod as its masked manifest gives it. `job` is the pod's job as `shown_jobs` gives it."""
    job = job or shown_jobs([cast("SimulatedJob", pod.job)])[0]
    if job is pod.job:
        return pod
    role = next((one for one in job.roles if one.name == pod.role), None)
    return pod if role is None else job.pod(role, pod.index)


def masked_places(pod: Pod, shown: Pod) -> list[str]:
    """What of a pod is masked: `env.HF_TOKEN`, `args[0]`, `annotations.x`."""
    out = [f"env.{name}" for name, value in pod.env.items() if shown.env.get(name) != value]
    for what, words, masked in (("command", pod.command, shown.command), ("args", pod.args, shown.args)):
        pairs = enumerate(zip(words or (), masked or (), strict=False))
        out += [f"{what}[{index}]" for index, (one, other) in pairs if one != other]
    for what, values, masked_values in (
        ("labels", pod.view.labels, shown.view.labels),
        ("annotations", pod.view.annotations, shown.view.annotations),
    ):
        out += [f"{what}.{name}" for name, value in values.items() if masked_values.get(name) != value]
    return out


VERSION = 1
LISTED: Final = 24 << 20
"""Characters of the pods that are listed. In memory they take seven times as much."""


def world_to_dict(
    jobs: Sequence[SimulatedJob],
    pods: Iterator[Pod],
    total: int,
    skipped: Sequence[str],
    diagnostics: Sequence[Diagnostic],
) -> dict[str, Any]:
    """The whole world, of whose pods, `total` in all, these are shown as far as `LISTED` goes; secrets hidden."""
    shown = shown_jobs(jobs)
    listed = _listed(pods, {id(job): one for job, one in zip(jobs, shown, strict=True)})
    cut = [_cut(len(listed), total)] if next(pods, None) is not None else []
    return {
        "version": VERSION,
        "jobs": [job_to_dict(job) for job in shown],
        "pods": listed,
        "podsTotal": total,
        "folded": len(listed) < total,
        "skipped": list(skipped),
        "diagnostics": [d.to_dict() for d in (*diagnostics, *cut)],
    }


def _listed(pods: Iterator[Pod], jobs: Mapping[int, SimulatedJob]) -> list[dict[str, Any]]:
    """The first pods in full, at least one. The first of a role is measured: the others are as large."""
    listed: list[dict[str, Any]] = []
    sizes: dict[tuple[int, str], int] = {}
    left = LISTED
    while left > 0 and (pod := next(pods, None)) is not None:
        listed.append(pod_to_dict(pod, jobs[id(pod.job)]))
        role = id(pod.job), pod.role
        if role not in sizes:
            sizes[role] = len(json.dumps(listed[-1], indent=2))
        left -= sizes[role]
    return listed


def _cut(listed: int, total: int) -> Diagnostic:
    """Say that the other pods are not listed."""
    return Diagnostic(
        code=code_of("too-large"),
        name="too-large",
        severity="warning",
        message=f"the list ends after {listed} of {total} pods, at {LISTED >> 20} MiB",
        help="ask for one with --pod NAME, or leave --all out for the first and last of each role",
        path=(),
        span=None,
        stage="run",
        authority="ptcompile",
    )


def job_to_dict(job: SimulatedJob) -> dict[str, Any]:
    """One job without its pods."""
    found = job_rendezvous(job)
    totals = job.totals()
    return {
        "apiVersion": kind_of(job.manifest)[0],
        "kind": job.kind,
        "name": job.name,
        "namespace": job.namespace,
        "target": job.target,
        "roles": [{"name": role.name, "count": role.count} for role in job.roles],
        "podsTotal": job.size,
        "rendezvous": None if found is None else found.to_dict(),
        "totals": amounts.as_text(totals),
        "accelerators": amounts.accelerators(totals),
        "services": [_service(service) for service in job.expansion.services],
        "podGroup": None if job.pod_group is None else dict(job.pod_group),
        "jobs": [dict(one) for one in job.expansion.jobs],
        "onFailure": list(job.failure),
        "notes": list(job.notes),
        "refused": list(job.expansion.refused),
    }


def _service(service: Json) -> dict[str, Any]:
    spec = nested_map(service, "spec")
    return {
        "name": object_name(service),
        "headless": spec.get("clusterIP") == "None",
        "publishNotReadyAddresses": spec.get("publishNotReadyAddresses") is True,
        "selector": dict(nested_map(spec, "selector")),
        "ports": [dict(port) for port in as_mappings(spec.get("ports"))],
    }


def pod_to_dict(real: Pod, job: SimulatedJob | None = None) -> dict[str, Any]:
    """One pod in full, secrets masked. `job` is its job as `hidden.shown_jobs` gives it."""
    pod = shown_pod(real, job)
    view = pod.view
    command, args = pod.command, pod.args
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
        "envFrom": env_from(pod),
        "command": command,
        "args": args,
        "resources": {str(k): v for k, v in pod.resources.items()},
        "requests": amounts.as_text(pod.requests),
        "nodeSelector": dict(view.node_selector),
        "tolerations": [dict(one) for one in view.tolerations],
        "nodeRequirements": list(node_requirements(view.spec)),
        "volumes": [{"name": n, "type": sort, "source": source} for n, sort, source in claims(view.spec)],
        "claims": [one._asdict() | {"devices": list(one.devices)} for one in device_claims(pod)],
        "rendezvous": pod.rendezvous.to_dict(),
        "containers": [_container(one.to_dict(), one.spec) for one in pod.containers],
        "masked": [] if pod is real else masked_places(real, pod),
    }


def _container(container: dict[str, Any], spec: Json) -> dict[str, Any]:
    """The container's own JSON form, its mounts with the names of their volumes."""
    mounts = [
        {"name": as_string(m.get("name")), "mountPath": as_string(m.get("mountPath"))}
        for m in as_mappings(spec.get("volumeMounts"))
    ]
    return {**container, "mounts": mounts}


def env_from(pod: Pod) -> list[str]:
    """Where further variables come from as a whole: `secret:NAME` or `configmap:NAME`, the prefix before."""
    if pod.main is None:
        return []
    out: list[str] = []
    for source in as_mappings(pod.main.spec.get("envFrom")):
        for key, word in (("secretRef", "secret"), ("configMapRef", "configmap")):
            if key in source:
                out.append(f"{as_string(source.get('prefix'))}{word}:{as_string(nested_map(source, key).get('name'))}")
    return out


def node_requirements(spec: Json) -> Iterator[str]:
    """What a node must have, in words: selector, required affinity, tolerated taints."""
    for name, wanted in nested_map(spec, "nodeSelector").items():
        yield f"{name} is {wanted}"
    required = nested_map(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = [" and ".join(_terms(term)) for term in as_mappings(required.get("nodeSelectorTerms"))]
    if terms:
        yield " or ".join(terms)
    for one in as_mappings(spec.get("tolerations")):
        taint = f"{as_string(one.get('key')) or 'any taint'}={as_string(one.get('value')) or '*'}"
        yield f"may be tainted {taint}" + (f":{as_string(one.get('effect'))}" if one.get("effect") else "")


def _terms(term: Json) -> Iterator[str]:
    for one in as_mappings(term.get("matchExpressions")) + as_mappings(term.get("matchFields")):
        values = one.get("values")
        shown = ", ".join(str(v) for v in values) if isinstance(values, list) else ""
        yield f"{as_string(one.get('key'))} {as_string(one.get('operator'))} {shown}".rstrip()
