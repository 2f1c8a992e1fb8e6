"""What the targets share: object metadata, the refusals that several of them make, name budgets."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.job.model import Job, Role
from ptcompile.kubernetes import names
from ptcompile.operators.common import queues
from ptcompile.operators.common.queue_marks import MULTI_KUEUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.findings.terms import Authority
    from ptcompile.job.pods import Json
    from ptcompile.vocabulary.cluster.model import ClusterProfile

COMPLETION_INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""Where a pod of an Indexed Job finds its index (Kubernetes 1.36)."""

SPEC = ("spec",)
RUN_POLICY = ("spec", "runPolicy")


def rank_of(field: str) -> Json:
    """A variable's source: a field of the pod that holds its rank."""
    return {"valueFrom": {"fieldRef": {"fieldPath": field}}}


def plain_env(job: Job, host: str, rank: str | None = COMPLETION_INDEX) -> tuple[Json, ...]:
    """What a plain command reads to meet the others, counting nodes; `rank` is the field path of the pod's own, None
    for a pod alone.

    Nothing where torchrun starts the job.
    """
    if job.launch is not None:
        return ()
    return (
        {"name": "MASTER_ADDR", "value": host},
        {"name": "MASTER_PORT", "value": str(job.master_port)},
        {"name": "WORLD_SIZE", "value": str(job.nodes)},
        {"name": "RANK", **({"value": "0"} if rank is None else rank_of(rank))},
    )


def object_metadata(job: Job, cluster: ClusterProfile | None = None, target: str = "") -> dict[str, Any]:
    """Metadata of an object with the job's name; with a cluster, of the one that Kueue or KAI admits on a target."""
    out: dict[str, Any] = {"name": job.name}
    if job.namespace:
        out["namespace"] = job.namespace
    labels = queues.object_labels(job, cluster) if cluster is not None else {}
    annotations = queues.object_annotations(job, cluster, target) if cluster is not None else {}
    for field, own, added in (("labels", job.labels, labels), ("annotations", job.annotations, annotations)):
        if not own and not added:
            continue
        whole = {**own, **added}
        if given := {name: text for name, text in whole.items() if text is not None and own.get(name, "") is not None}:
            out[field] = given
    return out


def managed_by(job: Job, cluster: ClusterProfile) -> dict[str, str]:
    """The field by which a kind's own controller leaves an object to Kueue, on a MultiKueue manager (Kueue 0.19).

    Kueue writes it itself where the queue is one of MultiKueue's; said here, nothing starts while its webhook is away.
    """
    dispatched = cluster.spec.multi_kueue and queues.queue_of(job, cluster) is not None
    return {"managedBy": MULTI_KUEUE} if dispatched else {}


def cannot(path: Path, message: str, help: str | None = None, authority: Authority = "ptcompile") -> Problem:
    """A refusal: this target has no way to say what the spec says at `path`."""
    return Problem("unsupported-by-target", path, f"{field_path(path)}: {message}", help, authority=authority)


def role_path(role: Role) -> Path:
    """Where the spec speaks of a role: its own block, or the job for a job of equal nodes.

    What the block leaves to the job is found there when the problem is placed (`frontends.lines.settle`).
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
    """A refusal of each auxiliary role, for a kind whose pods are all nodes."""
    for role in job.beside:
        why = f"{kind} has no pods other than those that train"
        yield cannot(role_path(role), why, "use the target volcano, trainjob or jobset")._replace(on_key=True)


def hosts_beside(job: Job, between: str = "") -> dict[str, tuple[str, ...]]:
    """The names of the pods of each auxiliary role, in the job's headless Service; `between` stands in front
    of the index."""
    return {
        role.name: tuple(f"{job.name}-{role.name}{between}-{i}.{job.name}" for i in range(role.replicas))
        for role in job.beside
    }


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


def other_container(job: Job, name: str, kind: str) -> Iterator[Problem]:
    """A warning where the spec has another name for the container that trains than the kind wants."""
    if job.names.container not in {None, name}:
        path: Path = (*SPEC, "names", "container")
        message = f"{field_path(path)}: {kind} requires the name {name!r} for the container that trains, and gets it"
        yield Problem("done-differently", path, message, f"write {name}, or remove it", "warning", "run")


def equal_roles(job: Job, kind: str) -> Iterator[Problem]:
    """A refusal where the roles' templates differ and the kind has one template."""
    first, *others = job.trainers
    for role in others:
        if role.template != first.template or role.restart_policy != first.restart_policy:
            yield cannot(
                ("spec", role.name),
                f"{kind} has one pod template, and {role.name} differs from {first.name}",
                "use the target pytorchjob, volcano or jobset, or set the same for both",
            )


def own_host_names(job: Job, giver: str) -> Iterator[Problem]:
    """A refusal of a pod template's host name or subdomain where `giver` names each pod."""
    for role in job.roles:
        for field in ("hostname", "subdomain"):
            if field in role.template.extra:
                path = (*role_path(role), "podTemplate", "spec", field)
                yield cannot(
                    path,
                    f"a pod template's {field} overrides the names that {giver} gives each pod",
                    f"remove {field}",
                )
