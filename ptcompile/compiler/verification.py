"""Checks of the built manifests: unused fields, nulls, isolated launchers, Pod Security.

torchrun knows the other nodes only if `script` or `module` starts it, or if the operator sets PET_*
variables (training-operator 1.9, Trainer 2.3). Command lines are checked by the same rules as in
manifests, so the verdicts agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile.apiserver import validate
from ptcompile.compiler.build import Built, build
from ptcompile.compiler.checks import devices as checks_fabric
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.location import ADMISSION, SERVER, SPEC, TARGET, PlacedProblem, at_source
from ptcompile.diagnostics import Path, field_path, has_error, own_problem
from ptcompile.ir.job import Job, map_templates
from ptcompile.kubernetes.index import objects
from ptcompile.kubernetes.unstructured import Json, JsonDict, placed_values
from ptcompile.operators.queues.queues import gang_system, queue_of
from ptcompile.operators.targets import TARGETS
from ptcompile.spec.objects import yaml_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.training_job import JobSpec


def _other_name(value: str) -> str:
    return "x" if value != "x" else "y"


_ALTERNATIVES = {
    ("master_port",): lambda value: value % 65535 + 1,
    ("min_available",): lambda value: value + 1,
    ("names", "node"): _other_name,
    ("names", "master"): _other_name,
    ("names", "worker"): _other_name,
    ("names", "master_container"): _other_name,
    ("names", "worker_container"): _other_name,
    ("names", "service"): _other_name,
    ("names", "task"): _other_name,
    # static is no alternative: only jobs of one node would be written differently
    ("elastic", "rdzv_backend"): lambda value: "etcd-v2" if value == "c10d" else "c10d",
    ("elastic", "rdzv_id"): _other_name,
}
"""Fields that have an effect only for some targets and job shapes, and another value to try. All
other fields are always written or reported by their target: tests/test_every_word.py tries them
all.
"""
_FIRST_KEYS = frozenset([first for first, *_ in _ALTERNATIVES])


def unused_fields(built: Built) -> Iterator[PlacedProblem]:
    """Yield a note for each field whose other values would not change the emitted manifests."""
    spec = built.spec
    context = built.context
    if _FIRST_KEYS.isdisjoint(spec.spec.model_fields_set):
        return

    for field, alternative in _ALTERNATIVES.items():
        value = _user_value(spec.spec, field)
        if value is None:
            continue

        variant = spec.replace(spec=_replace_field(spec.spec, field, alternative(value)))
        rebuilt = build(variant, lower(variant, context.cluster), context, built.passes)
        if rebuilt.emitted == built.emitted:
            path = ("spec", *map(yaml_name, field))
            text = f"has no effect: the target {context.target.name} does not use it for this job"
            yield PlacedProblem(
                own_problem("word-without-effect", path, text, "remove it", "note", "style")
            )


def _user_value(fields: Any, path: tuple[str, ...]) -> Any:
    """Return the value that the user set, or None."""
    for name in path:
        if fields is None or name not in fields.model_fields_set:
            return None
        fields = getattr(fields, name)
    return fields


def _replace_field(fields: Any, path: tuple[str, ...], value: Any) -> JobSpec:
    first, *rest = path
    changed: JobSpec = fields.replace(
        **{first: _replace_field(getattr(fields, first), tuple(rest), value) if rest else value}
    )
    return changed


_LAUNCHERS = ("torchrun", "torch.distributed", "accelerate", "deepspeed")
_RULES = frozenset({"worlds-apart", "standalone-on-many-pods", "launcher-alone"})
_HELP = "use script or module instead, so that torchrun knows the other pods"
_HELP_FOR_VARIABLES = (
    "use script or module instead, or set elastic: {}, so that torchrun knows the other pods"
)
"""With `elastic`, a torchrun in the command gets its options as PET_* variables."""


def isolated_launchers(built: Built) -> Iterator[PlacedProblem]:
    """Yield the rules' findings about a launcher in the spec's own command."""
    job = built.job
    if (
        job.launch is not None
        or job.nodes < 2
        or not any(name in token for token in _tokens(job) for name in _LAUNCHERS)
    ):
        return

    from ptcompile import linter

    versions = built.context.cluster.versions()
    for index, manifest in enumerate(built.named):
        for problem in linter.run(manifest, versions=versions, stream=built.named, only=_RULES):
            reads_variables = problem.name == "worlds-apart" and not any(
                "nnodes" in token for token in _tokens(job)
            )
            help = _HELP_FOR_VARIABLES if reads_variables else _HELP
            yield at_source(problem._replace(help=help), index, built.named)._replace(
                stage="launcher"
            )


def _tokens(job: Job) -> Iterator[str]:
    for role in job.training_roles:
        yield from (*(role.template.main.command or ()), *(role.template.main.args or ()))


def nulls_the_target_needs(built: Built) -> Iterator[PlacedProblem]:
    """Yield an error for each null that removes a field that the target itself writes."""
    job = built.job
    target = built.context.target
    if not any(role.template.nulls for role in job.roles):
        return

    without_nulls = map_templates(job, lambda template: template._replace(nulls={}))
    lost = _lost_keys(target.emit(without_nulls, built.context.cluster), built.emitted)
    for path in dict.fromkeys(path for role in job.roles for path in _leaves(role.template.nulls)):
        if path[-1] in lost:
            text = f"the target {target.name} needs {path[-1]}, but null would remove it"
            help = "remove this line"
            yield PlacedProblem(own_problem("unsupported-by-target", path, text, help, on_key=True))


def _leaves(nulls: Json) -> Iterator[Path]:
    for inside in nulls.values():
        if isinstance(inside, tuple):
            yield inside
        else:
            yield from _leaves(inside)


def _lost_keys(whole: Any, rest: Any) -> set[str]:
    """Return the keys, and the values of list items, that only `whole` has."""
    if isinstance(whole, Mapping) and isinstance(rest, Mapping):
        both = whole.keys() & rest.keys()
        return (whole.keys() - rest.keys()).union(
            *(_lost_keys(whole[key], rest[key]) for key in both)
        )
    if not isinstance(whole, Sequence) or not isinstance(rest, Sequence) or isinstance(whole, str):
        return set()
    if len(whole) == len(rest):
        return set().union(*map(_lost_keys, whole, rest))
    return {str(value) for item in whole if isinstance(item, Mapping) for value in item.values()}


def admission_rejections(built: Built) -> Iterator[PlacedProblem]:
    """Yield what admission plugins reject, by the level of Pod Security, the objects of the
    profile, and fields that only a priority class may set.
    """
    cluster = built.context.cluster
    level = built.job.pod_security or cluster.spec.pod_security
    existing = cluster.spec.objects
    decides = level or existing or cluster.spec.platform
    if not decides and all(
        _PRIORITY_FIELDS.isdisjoint(role.template.extra) for role in built.job.roles
    ):
        return

    from ptcompile.apiserver.admission import ClusterState, admission_problems

    state = ClusterState(built.named, cluster.versions(), level, existing=existing)
    for index, manifest in enumerate(built.named):
        for problem in admission_problems(manifest, state):
            yield PlacedProblem(problem, index, ADMISSION)


_PRIORITY_FIELDS = frozenset({"priority", "preemptionPolicy"})
"""Fields of a pod that its priority class sets."""


def incomplete_fabric(built: Built) -> Iterator[PlacedProblem]:
    """Yield a warning for each part of a fabric in a role that lacks the rest."""
    fallback = SPEC if built.spec.spec.fabric is None else (*SPEC, "fabric")
    for role, problem in checks_fabric.incomplete_fabrics(built.job):
        yield PlacedProblem(problem, role, fallback=fallback)


def pool_problems(built: Built) -> Iterator[PlacedProblem]:
    """Yield the errors of the profile's node pools: no pool fits, or the pools have too few
    nodes.
    """
    profile = built.context.cluster.spec
    if profile.node_pools or profile.objects:
        from ptcompile.compiler.checks import machines as checks_pools

        fallback = SPEC
        if "accelerator" in built.spec.spec.model_fields_set:
            fallback = (*SPEC, "accelerator")
        for role, problem in checks_pools.pool_misfits(built.job, built.context.cluster):
            yield PlacedProblem(problem, role, stage=TARGET, fallback=fallback)


def rejections(built: Built) -> Iterator[PlacedProblem]:
    """Yield the offline API server's errors about the built manifests."""
    cluster = built.context.cluster
    others = objects(built.named)
    is_labeled = _is_labeled(built)
    versions = cluster.versions()
    reported = _CLAIM_FIELDS | gang_system(built.job, cluster).gated_fields
    for index, manifest in enumerate(built.named):
        for problem in validate(manifest, versions=versions, others=others, foreign=is_labeled):
            if problem.name != "gate-off" or problem.path[-1] not in reported:
                yield PlacedProblem(problem, index, SERVER)


def _is_labeled(built: Built) -> bool:
    """Return whether an object or its pods may have a label or annotation that the webhooks of a
    queue system check: the user's, that of a queue, or one that a plugin's target writes.
    """
    job = built.job
    context = built.context

    return bool(
        queue_of(job, context.cluster)
        or job.labels
        or job.annotations
        or any(role.template.labels or role.template.annotations for role in job.roles)
        or built.spec.spec.manifest
        or context.target.name not in TARGETS
    )


_CLAIM_FIELDS = frozenset({"claims", "resourceClaims"})
"""Fields of which `emitting.check_claim_support` reports on the spec that the server drops them."""


_NAME = ("metadata", "name")
_GENERATE = ("metadata", "generateName")

VERIFICATIONS: tuple[Callable[[Built], Iterator[PlacedProblem]], ...] = (
    incomplete_fabric,
    pool_problems,
    nulls_the_target_needs,
    unused_fields,
    rejections,
    admission_rejections,
    isolated_launchers,
)


def verify(built: Built, *, notes: bool) -> list[PlacedProblem]:
    """Run all verifications of a build, without `notes` except for unused fields, and last check
    whether the server may complete the name.
    """
    checks = [check for check in VERIFICATIONS if notes or check is not unused_fields]
    findings = [finding for check in checks for finding in check(built)]
    if has_error(finding.problem for finding in findings):
        return findings
    return [*findings, *name_carriers(built)]


def name_carriers(built: Built) -> Iterator[PlacedProblem]:
    """Yield an error if an object contains the job's name, which only the server knows."""
    spec = built.spec
    if spec.metadata.generate_name is None:
        return

    carrier = next(_places_of_name(built.named, spec.metadata.name), None)
    if carrier is not None:
        message = (
            f"{carrier} contains the job's name, which is unknown until the server creates the job"
        )
        help = "set metadata.name, or pass --name for this run"
        yield PlacedProblem(own_problem("unsupported-by-target", _GENERATE, message, help))


def _places_of_name(manifests: Sequence[JsonDict], name: str) -> Iterator[str]:
    """Yield each object and field that contains the name, except the name of the last object,
    which is the job.
    """
    for index, manifest in enumerate(manifests):
        for path, value in placed_values(manifest):
            is_name = path == _NAME and index == len(manifests) - 1
            if isinstance(value, str) and name in value and not is_name:
                yield f"{manifest['kind']} {field_path(path)}"
