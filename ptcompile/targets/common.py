"""What the targets share: object metadata, the refusals that several of them make, name budgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptcompile import names
from ptcompile.cluster import ClusterProfile
from ptcompile.diagnostics import Authority, Path, Problem, field_path
from ptcompile.ir import Job, Json, Role

KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
"""Kueue 0.19 reads the queue from this label of the object it admits, never from an annotation."""

COMPLETION_INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""Where a pod of an Indexed Job finds its index (Kubernetes 1.36)."""

SPEC = ("spec",)
RUN_POLICY = ("spec", "runPolicy")


def plain_env(job: Job, host: str, rank: str = COMPLETION_INDEX) -> tuple[Json, ...]:
    """What a plain command reads to meet the others, counting nodes; `rank` is the field path of the pod's own."""
    return (
        {"name": "MASTER_ADDR", "value": host},
        {"name": "MASTER_PORT", "value": str(job.master_port)},
        {"name": "WORLD_SIZE", "value": str(job.nodes)},
        {"name": "RANK", "valueFrom": {"fieldRef": {"fieldPath": rank}}},
    )


def object_metadata(job: Job, *, queue: bool = False) -> dict[str, Any]:
    """Metadata of the object with the job's name; with Kueue's label where `queue` says so and the job has one."""
    labels = dict(job.labels)
    if queue and job.queue:
        labels[KUEUE_QUEUE] = job.queue
    out: dict[str, Any] = {"name": job.name}
    if job.namespace:
        out["namespace"] = job.namespace
    if labels:
        out["labels"] = labels
    if job.annotations:
        out["annotations"] = dict(job.annotations)
    return out


def cannot(path: Path, message: str, help: str | None = None, authority: Authority = "ptcompile") -> Problem:
    """A refusal: this target has no way to say what the spec says at `path`."""
    return Problem("unsupported-by-target", path, f"{field_path(path)}: {message}", help, authority=authority)


def volcano_queue(job: Job, cluster: ClusterProfile, kind: str) -> Iterator[Problem]:
    """A refusal where the cluster's queues are Volcano's and the kind is no gang there (Volcano 1.16)."""
    if job.queue and cluster.spec.queue_system == "volcano":
        yield cannot(("spec", "queue"), f"{kind} is no member of a Volcano queue by itself", "use the target volcano")


def role_path(role: Role) -> Path:
    """Where the spec speaks of a role: its own block, or the job for a job of equal nodes.

    What the block leaves to the job is found there when the problem is placed (`frontends.origin.settle`).
    """
    if not role.trains:
        return ("spec", "roles", role.name)
    return SPEC if role.name == "node" else ("spec", role.name)


def restart_policies(job: Job, allowed: tuple[str, ...], why: str) -> Iterator[Problem]:
    """A refusal for each role whose restart policy the target does not have."""
    for role in job.roles:
        if role.restart_policy is not None and role.restart_policy not in allowed:
            yield cannot(
                (*role_path(role), "restartPolicy"),
                f"restartPolicy {role.restart_policy} is not possible here: {why}",
                f"use {' or '.join(allowed)}",
            )


def only_trainers(job: Job, kind: str) -> Iterator[Problem]:
    """A refusal of each role beside the trainers, for a kind whose pods are all nodes."""
    for role in job.beside:
        why = f"{kind} has no pods beside those that train"
        yield cannot(role_path(role), why, "use the target volcano, trainjob or jobset")._replace(on_key=True)


def hosts_beside(job: Job, between: str = "") -> dict[str, tuple[str, ...]]:
    """The names of the pods of each role beside the trainers, in the job's headless Service; `between` stands in front
    of the index."""
    return {
        role.name: tuple(f"{job.name}-{role.name}{between}-{i}.{job.name}" for i in range(role.replicas))
        for role in job.beside
    }


def too_long(job: Job, suffix: str, what: str, *, limit: int = 63) -> Iterator[Problem]:
    """A refusal where the job's name with its longest derived suffix is over the limit of characters."""
    room = limit - len(suffix)
    if len(job.name) > room:
        yield Problem(
            "name-too-long",
            ("metadata", "name"),
            f"metadata.name: {job.name!r} has {len(job.name)} characters and leaves no room for {what} "
            f"<name>{suffix}, which may have {limit}",
            f"at most {room} characters, such as {job.name[:room].rstrip('-.')!r}",
        )


def dns_1035(job: Job, what: str) -> Iterator[Problem]:
    """A refusal where the name cannot be that of a Service (DNS-1035: a letter first)."""
    if not names.is_dns_1035_label(job.name) and len(job.name) <= 63:
        yield Problem(
            "spec-invalid-value",
            ("metadata", "name"),
            f"metadata.name: {job.name!r} cannot name {what}: "
            "lower-case letters, digits and '-', a letter first, no '-' at the end",
            "such as 'llama-sft'",
        )


def equal_roles(job: Job, kind: str) -> Iterator[Problem]:
    """A refusal where the roles' templates differ and the kind has one template."""
    first, *others = job.trainers
    for role in others:
        if role.template != first.template or role.restart_policy != first.restart_policy:
            yield cannot(
                ("spec", role.name),
                f"{kind} has one pod template, and {role.name} differs from {first.name}",
                "use the target pytorchjob, volcano or jobset, or say the same for both",
            )


def own_host_names(job: Job, giver: str) -> Iterator[Problem]:
    """A refusal of a pod template's host name or subdomain where `giver` names each pod."""
    for role in job.roles:
        for field in ("hostname", "subdomain"):
            if field in role.template.extra:
                path = (*role_path(role), "podTemplate", "spec", field)
                yield cannot(
                    path,
                    f"a pod template's {field} takes the names away that {giver} gives each pod",
                    f"remove {field}",
                )
