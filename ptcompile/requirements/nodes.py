"""Needs of jobs for nodes: how many pods with which resources, labels and taints, and whether the
cluster has them.

Pure: manifests and node pools in, requirements out. What fits is the answer of kube-scheduler's
filters, as for `lint`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.nodes import choices_of, requirement_text
from ptcompile.kubernetes.unstructured import (
    Json,
    kind_of,
    nested_maps,
    nested_string,
    nested_string_map,
    object_name,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter.placement import gang_misfits, placements_of
from ptcompile.linter.rule import Subject, subject_of
from ptcompile.operators.table import JOB_KINDS
from ptcompile.requirements.jobs import Requirement
from ptcompile.world.nodes import Pools
from ptcompile.world.workload import Stream, WorkloadRole


def requires_of_nodes(
    manifests: Sequence[Json], versions: Versions, pools: Pools | None
) -> Iterator[Requirement]:
    """Yield what the pods of the jobs among the manifests need of nodes, and which of the pools
    give it.
    """
    stream = Stream(manifests, versions, pools=pools)
    for manifest in manifests:
        if kind_of(manifest) in JOB_KINDS:
            yield from _needs_of_job(subject_of(manifest, stream), pools)


def _needs_of_job(subject: Subject, pools: Pools | None) -> Iterator[Requirement]:
    job = f"{subject.kind.name}/{object_name(subject.manifest)}"
    waiting = {
        id(role.template) for role in subject.roles if role.expanded.name in subject.waiting_roles
    }
    pools = pools or Pools(())
    for template, placement in placements_of(subject, pools):
        if not template.replicas:
            continue

        role = " of ".join(filter(None, [template.role, job]))
        needs = [
            f"{amount} {resource}"
            for resource, amount in placement.pod.requests
            if resource != "pods"
        ]
        size = f"{template.replicas} with {', '.join(needs) or 'no requests'}"
        gang = f", {subject.min_nodes_to_start} at once" if id(template) in waiting else ""
        yield Requirement("pods", size, "", role + gang)
        yield from _marks(placement.pod.spec, role)
        if pools.groups:
            yield Requirement("nodes", placement.text(), "", role)

    for workload_role in subject.roles:
        yield from _images(workload_role, job)
    for misfit in gang_misfits(subject, pools):
        yield Requirement("nodes", misfit.text, "", job)


def _images(role: WorkloadRole, job: str) -> Iterator[Requirement]:
    """Yield the images of the containers that the operator adds to the pods of a role."""
    written = role.template.containers if role.template is not None else ()
    names = {container.name for container in written}
    for container in role.pod.view.containers:
        if container.name not in names:
            image = nested_string(container.spec, "image")
            yield Requirement(
                "image", image, "", f"{container.name}, added to {role.expanded.name} of {job}"
            )


def _marks(spec: Json, role: str) -> Iterator[Requirement]:
    """Yield the labels that a pod requires of its node, and the taints that it tolerates."""
    for key, value in nested_string_map(spec, "nodeSelector").items():
        yield Requirement("label", f"{key}={value}", "", role)
    choices = choices_of({**spec, "nodeSelector": None})
    required = [" and ".join(map(requirement_text, choice)) for choice in choices]
    if any(required):
        yield Requirement("label", " or ".join(required), "", role)
    for toleration in nested_maps(spec, "tolerations"):
        key, value, effect = (
            nested_string(toleration, field) for field in ("key", "value", "effect")
        )
        named = "=".join(filter(None, [key or "any", value]))
        yield Requirement(
            "taint", ":".join(filter(None, [named, effect])), "", f"tolerated by {role}"
        )
