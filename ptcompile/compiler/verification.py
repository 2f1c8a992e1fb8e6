"""What is wrong with our own output: idle words, nulls, launchers alone, Pod Security.

torchrun is told of the other nodes only where it is started by `script` or `module`, or where the operator hands
PET_* variables over (training-operator 1.9, Trainer 2.3). What a command line says is read by the rules that read it
in manifests, so both say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile.apiserver import validate
from ptcompile.compiler.build import Built, build
from ptcompile.compiler.checks import devices as checks_fabric
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.location import POD_SECURITY, SERVER, SPEC, TARGET, PlacedProblem
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.ir.job import Job, Target, map_templates
from ptcompile.spec.objects import yaml_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.spec.training_job import JobSpec


def _name(value: str) -> tuple[str, ...]:
    return ("x" if value != "x" else "y",)


def _backend(value: str) -> tuple[str, ...]:
    return tuple(one for one in ("c10d", "static") if one != value)


_OTHERS: Final[dict[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]] = {
    ("master_port",): lambda value: (value % 65535 + 1,),
    ("names", "node"): _name,
    ("names", "master"): _name,
    ("names", "worker"): _name,
    ("elastic", "rdzv_backend"): _backend,
    ("elastic", "rdzv_id"): _name,
}
"""Words that count for some targets and shapes only, and what else each might say. The others are always carried or
told by their target: tests/test_every_word.py tries all."""


def without_effect(built: Built) -> Iterator[PlacedProblem]:
    """Yield a note for each word that might say anything else without a change in what was emitted."""
    spec, context = built.spec, built.context
    for words, others in _OTHERS.items():
        value = _given(spec.spec, words)
        if value is None:
            continue
        variants = (spec.replace(spec=_with(spec.spec, words, other)) for other in others(value))
        again = (build(one, lower(one, context.cluster), context, built.passes) for one in variants)
        if all(one.emitted == built.emitted for one in again):
            yield PlacedProblem(_idle(("spec", *map(yaml_name, words)), context.target))


def _idle(path: Path, target: Target) -> Problem:
    message = f"{field_path(path)}: has no effect: the target {target.name} does not use it for this job"
    return Problem("word-without-effect", path, message, "remove it", "note", "style", "ptcompile")


def _given(fields: Any, words: tuple[str, ...]) -> Any:
    """What the user wrote; None for nothing."""
    for word in words:
        if fields is None or word not in fields.model_fields_set:
            return None
        fields = getattr(fields, word)
    return fields


def _with(fields: Any, words: tuple[str, ...], value: Any) -> JobSpec:
    first, *rest = words
    changed: JobSpec = fields.replace(**{first: _with(getattr(fields, first), tuple(rest), value) if rest else value})
    return changed


_LAUNCHERS = ("torchrun", "torch.distributed", "accelerate", "deepspeed")
_RULES = frozenset({"worlds-apart", "standalone-on-many-pods", "launcher-alone"})
_HELP = "use script or module instead, so that torchrun knows the other pods"


def isolated_launchers(built: Built) -> Iterator[PlacedProblem]:
    """Yield what the rules find against a launcher in the spec's own command; nothing for other commands."""
    job = built.job
    if job.launch is not None or job.nodes < 2 or not any(_speaks(word) for word in _words(job)):
        return
    from ptcompile import linter

    versions = built.context.cluster.versions()
    for index, manifest in enumerate(built.named):
        for problem in linter.run(manifest, versions=versions, others=built.named, only=_RULES):
            yield PlacedProblem(problem._replace(help=_HELP), index, "launcher")


def _words(job: Job) -> Iterator[str]:
    for role in job.training_roles:
        yield from (*(role.template.main.command or ()), *(role.template.main.args or ()))


def _speaks(word: str) -> bool:
    return any(name in word for name in _LAUNCHERS)


def nulls_the_target_needs(built: Built) -> Iterator[PlacedProblem]:
    """Yield an error for each null of a job, after its passes, that takes away what the target itself writes."""
    job, target = built.job, built.context.target
    if not any(role.template.nulls for role in job.roles):
        return
    free = map_templates(job, lambda template: template._replace(nulls={}))
    lost = _lost(target.emit(free, built.context.cluster), built.emitted)
    for path in dict.fromkeys(path for role in job.roles for path in _leaves(role.template.nulls)):
        if path[-1] in lost:
            text = f"{field_path(path)}: the target {target.name} needs {path[-1]}, and null would remove it"
            help = "remove this line"
            yield PlacedProblem(Problem("unsupported-by-target", path, text, help, authority="ptcompile", on_key=True))


def _leaves(nulls: Mapping[str, Any]) -> Iterator[Path]:
    for inside in nulls.values():
        if isinstance(inside, tuple):
            yield inside
        else:
            yield from _leaves(inside)


def _lost(whole: Any, left: Any) -> set[str]:
    """The keys, and the values of items of lists, that only the whole has."""
    if isinstance(whole, Mapping) and isinstance(left, Mapping):
        both = whole.keys() & left.keys()
        return (whole.keys() - left.keys()).union(*(_lost(whole[key], left[key]) for key in both))
    if not isinstance(whole, Sequence) or not isinstance(left, Sequence) or isinstance(whole, str):
        return set()
    if len(whole) == len(left):
        return set().union(*map(_lost, whole, left))
    return {str(value) for item in whole if isinstance(item, Mapping) for value in item.values()}


def violations(built: Built) -> Iterator[PlacedProblem]:
    """Yield what Pod Security Admission would reject."""
    cluster = built.context.cluster
    level = built.job.pod_security or cluster.spec.pod_security
    if not level:
        return
    from ptcompile.apiserver.admission.pod_security import pod_security_problems

    server = cluster.versions().kubernetes
    for index, manifest in enumerate(built.named):
        for problem in pod_security_problems(manifest, (), level, server):
            yield PlacedProblem(problem, index, POD_SECURITY)


def incomplete_fabric(built: Built) -> Iterator[PlacedProblem]:
    """Yield a warning for what a role has of a fabric without the rest of it."""
    instead = SPEC if built.spec.spec.fabric is None else (*SPEC, "fabric")
    for role, problem in checks_fabric.incomplete_fabrics(built.job):
        yield PlacedProblem(problem, role, instead=instead)


def pools(built: Built) -> Iterator[PlacedProblem]:
    """Yield what no node pool of the profile takes, or has room for."""
    if built.context.cluster.spec.node_pools:
        from ptcompile.compiler.checks import machines as checks_pools

        for problem in checks_pools.pool_misfits(built.job, built.spec.spec, built.context.cluster):
            yield PlacedProblem(problem, by=TARGET)


def refusals(built: Built) -> Iterator[PlacedProblem]:
    """Yield what the offline API server says of our own manifests."""
    versions = built.context.cluster.versions()
    for index, manifest in enumerate(built.named):
        for problem in validate(manifest, versions=versions, others=built.named):
            yield PlacedProblem(problem, index, SERVER)


_NAME: Path = ("metadata", "name")
_GENERATE: Path = ("metadata", "generateName")

VERIFICATIONS: tuple[Callable[[Built], Iterator[PlacedProblem]], ...] = (
    incomplete_fabric,
    pools,
    nulls_the_target_needs,
    without_effect,
    refusals,
    violations,
    isolated_launchers,
)


def verify(built: Built) -> list[PlacedProblem]:
    """Ask every question about what was built, and last whether the name may be left to the server."""
    findings = [finding for ask in VERIFICATIONS for finding in ask(built)]
    refused = any(finding.problem.severity == "error" for finding in findings)
    return findings if refused else [*findings, *name_carriers(built)]


def name_carriers(built: Built) -> Iterator[PlacedProblem]:
    """Yield an error if an object carries the job's name, which only the server knows."""
    spec = built.spec
    carrier = None if spec.metadata.generate_name is None else next(_carriers(built.named, spec.metadata.name), None)
    if carrier is not None:
        text = f"{field_path(_GENERATE)}: {carrier} carries the job's name, which is not known before it is created"
        help = "give metadata.name, or --name for this run"
        yield PlacedProblem(Problem("unsupported-by-target", _GENERATE, text, help, authority="ptcompile"))


def _carriers(manifests: Sequence[dict[str, Any]], name: str) -> Iterator[str]:
    """Where the name stands, in words, other than as the name of the last object, which is the job."""
    for index, manifest in enumerate(manifests):
        for path, text in _texts(manifest, ()):
            if name in text and not (path == _NAME and index == len(manifests) - 1):
                yield f"{manifest['kind']} {field_path(path)}"


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*path, index))
    elif isinstance(value, str):
        yield path, value
