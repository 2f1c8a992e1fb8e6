"""The blocks of a spec that describe pods, with their amounts."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.paths import get
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.ir import pods
from ptcompile.kubernetes import quantity
from ptcompile.spec import devices as hardware
from ptcompile.spec.objects import AuxiliaryRole, typed_nullable_amounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.base import Resources
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import JobSpec, PodFields, Spec


class SpecPart(NamedTuple):
    """A part of a spec that describes pods: the job, or a role that is written."""

    path: Path
    fields: PodFields
    own: pods.Resources
    """The amounts that it gives."""
    amounts: pods.Resources
    """Those over the job's and the profile's defaults, as the pass `resources` will decide them."""

    @property
    def auxiliary(self) -> bool:
        """Whether it is an auxiliary role, whose pods are no nodes."""
        return isinstance(self.fields, AuxiliaryRole)


def blocks(job: JobSpec) -> list[tuple[Path, PodFields]]:
    """The parts of a spec that describe pods, with their paths: the job, then the roles that are written."""
    out: list[tuple[Path, PodFields]] = [(("spec",), job)]
    if job.master is not None:
        out.append((("spec", "master"), job.master))
    if job.worker is not None:
        out.append((("spec", "worker"), job.worker))
    out += [(("spec", "roles", name), role) for name, role in job.roles.items()]
    return out


class SpecParts(NamedTuple):
    """A spec and its parts, worked out once: the view of a spec that every check and lowering share."""

    spec: Spec
    cluster: ClusterProfile
    every: tuple[SpecPart, ...]
    """The job, then the roles that are written."""
    nodes: tuple[SpecPart, ...]
    """Those that decide what a node has: the roles that train, or the job where there are none."""

    @property
    def job(self) -> JobSpec:
        """The spec's own `spec`."""
        return self.spec.spec


def parts_of(spec: Spec, cluster: ClusterProfile) -> SpecParts:
    """Work out the parts of a spec and their amounts."""
    defaults = cluster.spec.defaults
    profile = pods.resources(typed_nullable_amounts(defaults.requests), typed_nullable_amounts(defaults.limits))
    parts: list[SpecPart] = []
    for path, fields in blocks(spec.spec):
        own = lower_resources(fields.resources)
        of_a_node = parts and not isinstance(fields, AuxiliaryRole)  # the job's amounts are those of a node
        parts.append(SpecPart(path, fields, own, own.over(parts[0].amounts if of_a_node else profile)))
    nodes = tuple([part for part in parts[1:] if not part.auxiliary]) or (parts[0],)
    return SpecParts(spec, cluster, tuple(parts), nodes)


def lower_resources(resources: Resources) -> pods.Resources:
    """The spec's resources as requests and limits: a plain amount is both, and a null half none."""
    flat, requests, limits = (
        resources.amounts_by_name(),
        resources.requests.amounts_by_name(),
        resources.limits.amounts_by_name(),
    )
    return pods.resources({**flat, **requests} if requests else flat, {**flat, **limits} if limits else flat)


def gpus_per_node(part: SpecPart, cluster: ClusterProfile) -> int:
    """How many accelerators a node of this part has; 0 where it asks for none."""
    return hardware.count_accelerators(cluster, part.amounts.limits)


def total_quantity(text: str) -> quantity.Quantity:
    """The quantity of a text that the vocabulary has already taken as one."""
    return quantity.parse(text) or quantity.Quantity(0)


_OWN = frozenset({"command", "args", "resources", "restartPolicy", "podTemplate"})
"""What an auxiliary role does not have from the job."""


def at_job_field(problem: Problem, path: Path) -> Problem:
    """The same problem at another place, which its message then begins with.

    A fix goes along where it is about nothing but that place, and that has the same name there.
    """
    head, colon, rest = problem.message.partition(": ")
    message = f"{field_path(path)}: {rest}" if colon and " " not in head else problem.message
    fix = problem.fix
    if fix is not None:
        here = [edit.path for edit in fix.edits] == [problem.path] and path[-1:] == problem.path[-1:]
        fix = fix._replace(edits=(fix.edits[0]._replace(path=path),)) if here else None
    return problem._replace(path=path, message=message, fix=fix)


def to_job_field(problem: Problem, spec: Mapping[str, Any]) -> Problem:
    """A problem of a role's field at the job's, where the role leaves it to the job; of `nodes` where they are said."""
    path, job = problem.path, spec.get("spec")
    if path == ("spec", "nodes") and isinstance(job, Mapping) and "nodes" not in job:
        where = ("worker",) if "worker" in job else ("elastic", "nnodes")
        return at_job_field(problem, ("spec", *where))
    depth = 3 if path[1:2] == ("roles",) else 2
    if len(path) <= depth or path[0] != "spec" or path[1] not in {"master", "worker", "roles"}:
        return problem
    role = get(job, path[1:depth])
    said = isinstance(role, Mapping) and path[depth] in role
    left = isinstance(job, Mapping) and path[depth] in job and not (depth == 3 and path[depth] in _OWN)
    return at_job_field(problem, ("spec", *path[depth:])) if left and not said else problem
