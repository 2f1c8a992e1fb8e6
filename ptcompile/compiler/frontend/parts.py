"""The blocks of a spec that describe pods, with their amounts, and the fields of these blocks, each
with its path in a pod template.

Lowering and its null handling, the checks of Kubernetes fields, the tracing of problems to lines and
import all read the table of fields.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Path, Problem
from ptcompile.ir import pods
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import Json, as_mapping, get
from ptcompile.spec import devices as hardware
from ptcompile.spec.objects import AuxiliaryRole, typed_nullable_amounts
from ptcompile.spec.reader import python_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.spec.base import Resources
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import JobSpec, PodFields, Spec

    Holder = Literal["metadata", "spec", "main"]
    """Owner of a field: the template's metadata, its pod spec, or its main container."""


class PodField(NamedTuple):
    """A spec field and the field of a pod template that it becomes."""

    spec_field: str
    attribute: str
    holder: Holder
    field: str
    is_kubernetes: bool = False
    """Whether the value is a Kubernetes object, which Kubernetes' decoder must check."""
    nullable: bool = False
    """Whether null is a valid value of the field or of its entries."""


POD_FIELDS = tuple(
    PodField(attribute=python_name(row["spec_field"]), **row)
    for row in load_table("compiler/frontend/pod_fields.json")["fields"]
)
"""restartPolicy is missing because the target sets it for the kind that it writes."""


def spec_fields_in(holder: Holder) -> dict[str, str]:
    """Return the spec fields of one holder, keyed by the template field that they become."""
    return {row.field: row.spec_field for row in POD_FIELDS if row.holder == holder}


class SpecPart(NamedTuple):
    """A block of a spec that describes pods: the job, or a role that the spec sets."""

    path: Path
    fields: PodFields
    own_amounts: pods.Resources
    """The amounts that the block sets."""
    amounts: pods.Resources
    """The same with the defaults of the job and the profile, as the pass `resources` will set
    them.
    """

    @property
    def is_auxiliary(self) -> bool:
        """Whether the block is an auxiliary role, whose pods are not nodes."""
        return isinstance(self.fields, AuxiliaryRole)


def program_fields(job: JobSpec) -> list[str]:
    """Return which of the fields that name a program the spec sets."""
    return [name for name in ("script", "module", "command") if getattr(job, name) is not None]


def blocks(job: JobSpec) -> list[tuple[Path, PodFields]]:
    """Return the blocks of a spec that describe pods, with their paths: the job, then the roles
    that it sets.
    """
    path_and_fields: list[tuple[Path, PodFields]] = [(("spec",), job)]
    if job.master is not None:
        path_and_fields.append((("spec", "master"), job.master))
    if job.worker is not None:
        path_and_fields.append((("spec", "worker"), job.worker))
    path_and_fields += [(("spec", "roles", name), role) for name, role in job.roles.items()]
    return path_and_fields


class SpecParts(NamedTuple):
    """A spec and its blocks, computed once for all checks and lowering."""

    spec: Spec
    cluster: ClusterProfile
    every: tuple[SpecPart, ...]
    """The job, then the roles that the spec sets."""
    nodes: tuple[SpecPart, ...]
    """The blocks that define a node: the training roles, or the job if there are none."""

    @property
    def job(self) -> JobSpec:
        """The spec's own `spec`."""
        return self.spec.spec


def parts_of(spec: Spec, cluster: ClusterProfile) -> SpecParts:
    """Compute the blocks of a spec and their amounts."""
    defaults = cluster.spec.defaults
    profile = pods.resources(
        typed_nullable_amounts(defaults.requests), typed_nullable_amounts(defaults.limits)
    )
    parts: list[SpecPart] = []
    for path, fields in blocks(spec.spec):
        own_amounts = lower_resources(fields.resources)
        is_node = parts and not isinstance(fields, AuxiliaryRole)  # the job's amounts are per node
        parts.append(
            SpecPart(
                path,
                fields,
                own_amounts,
                own_amounts.over(parts[0].amounts if is_node else profile),
            )
        )

    nodes = tuple([part for part in parts[1:] if not part.is_auxiliary]) or (parts[0],)
    return SpecParts(spec, cluster, tuple(parts), nodes)


def lower_resources(resources: Resources) -> pods.Resources:
    """Return the spec's resources as requests and limits: a plain amount sets both, null sets
    neither.
    """
    flat = resources.amounts_by_name()
    requests = resources.requests.amounts_by_name()
    limits = resources.limits.amounts_by_name()
    return pods.resources(
        {**flat, **requests} if requests else flat, {**flat, **limits} if limits else flat
    )


def gpus_per_node(part: SpecPart, cluster: ClusterProfile) -> int:
    """Return the number of accelerators of a node of this part; 0 if it requests none."""
    return hardware.count_accelerators(cluster, part.amounts.limits)


def total_quantity(text: str) -> quantity.Quantity:
    """Parse a quantity that the spec's models have already validated."""
    return quantity.parse(text) or quantity.Quantity(0)


NOT_INHERITED = frozenset({"command", "args", "resources", "restartPolicy", "podTemplate"})
"""Fields that an auxiliary role does not inherit from the job."""


def with_path(problem: Problem, path: Path) -> Problem:
    """Return the problem at another path. If its message began with the field, it begins with that
    of the new path.

    The fix is kept if it edits only the problem's own path and the key is the same at the new path.
    """
    fix = problem.fix
    if fix is not None:
        is_movable = [edit.path for edit in fix.edits] == [problem.path] and path[
            -1:
        ] == problem.path[-1:]
        fix = fix._replace(edits=(fix.edits[0]._replace(path=path),)) if is_movable else None
    return problem._replace(path=path, field=problem.field and None, fix=fix)


def to_source_field(problem: Problem, spec: Json) -> Problem:
    """Return a problem of an inherited field at the job's field, and one of `nodes` at the field
    that sets it.
    """
    path = problem.path
    job = spec.get("spec")
    if path == ("spec", "nodes") and isinstance(job, Mapping) and "nodes" not in job:
        field = ("worker",) if "worker" in job else ("elastic", "nnodes")
        return with_path(problem, ("spec", *field))

    depth = 3 if path[1:2] == ("roles",) else 2
    if len(path) <= depth or path[0] != "spec" or path[1] not in {"master", "worker", "roles"}:
        return problem

    in_role = path[depth] in as_mapping(get(job, path[1:depth]))
    in_job = path[depth] in as_mapping(job) and not (depth == 3 and path[depth] in NOT_INHERITED)
    if in_job and not in_role:
        return with_path(problem, ("spec", *path[depth:]))

    return problem
