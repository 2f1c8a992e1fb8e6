"""What a cluster must have for manifests that are there already: their operators, and the objects that they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.untyped import at, integer, kind_of, mapping, object_name, text
from ptcompile.operators.all import BY_FOLDER, BY_QUEUE_SYSTEM, KINDS
from ptcompile.operators.common.referenced import referenced
from ptcompile.operators.common.templates import templates_of
from ptcompile.operators.pods import RUNS_PODS
from ptcompile.operators.record import Operator
from ptcompile.prerequisites import claims
from ptcompile.prerequisites.requirements import (
    Requirement,
    devices,
    kubernetes,
    priority_classes,
    software_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.vocabulary.cluster.model import ClusterProfile


def requires(manifests: Sequence[Json], cluster: ClusterProfile) -> tuple[Requirement, ...]:
    """What the jobs among these manifests need, each thing once; what the manifests themselves bring is left out."""
    jobs = [one for one in manifests if kind_of(one) in RUNS_PODS]
    classes = claims.device_classes(manifests)
    operators = list(dict.fromkeys((*(one for job in jobs for one in _operators(job)), *claims.drivers(classes))))
    brought = {(kind_of(one)[1], object_name(one)) for one in manifests}
    out = [kubernetes(operators, (), cluster)] if jobs else []
    out += [requirement for one in operators for requirement in software_of(one, cluster)]
    spaces = {text(at(job, "metadata").get("namespace")) for job in jobs} - {"", "default"}
    out += [Requirement("namespace", name) for name in sorted(spaces)]
    named = [one for job in jobs for one in _named(job)]
    out += [_requirement(kind, name) for kind, name in dict.fromkeys(named) if (kind, name) not in brought]
    admits = next((one.queues() for job in jobs for one, _ in _admitting(job)), None)
    out += [Requirement(kind, name, "", why) for kind, name, why in claims.class_objects(classes, admits, cluster)]
    pods = [pod for job in jobs for pod in _pods(job)]
    out += [Requirement("resource", name, "", "on its nodes") for name in devices(pods)]
    return tuple(dict.fromkeys(out))


def _operators(job: Json) -> Iterator[Operator]:
    own = KINDS[kind_of(job)][0]
    for one in (own, BY_FOLDER.get(own.install.requires), *(one for one, _ in _admitting(job))):
        if one is not None and one.install.software:
            yield one


def _admitting(job: Json) -> Iterator[tuple[Operator, str]]:
    """The queue system of another operator's that has to admit a job, and the queue that the job names."""
    for one in BY_QUEUE_SYSTEM.values():
        named_by = one.queues().named_by
        if named_by is not None and (name := named_by(at(job, "metadata"))):
            yield one, name


def _named(job: Json) -> Iterator[tuple[str, str]]:
    """Kind and name of what a job names: its runtime, its queue, the classes and objects of its pods."""
    runtime = at(job, "spec", "runtimeRef")
    if runtime:
        yield text(runtime.get("kind")) or "ClusterTrainingRuntime", text(runtime.get("name"))
    yield from ((one.queues().kind, name) for one, name in _admitting(job))
    pods = list(_pods(job))
    yield from (("PriorityClass", name) for name in priority_classes(pods))
    for pod in pods:
        yield from referenced(pod)


def _pods(job: Json) -> Iterator[Json]:
    """The pods' specs as they are written, of a TrainJob what it says of its trainer."""
    trainer = at(job, "spec", "trainer")
    if trainer:
        yield {"containers": [{**trainer, "resources": at(trainer, "resourcesPerNode")}]}
    for one in templates_of(kind_of(job), job):
        if integer(one.replicas, 1) > 0:
            yield at(mapping(one.template), "spec")


def _requirement(kind: str, name: str) -> Requirement:
    is_runtime = kind.endswith("TrainingRuntime")
    return Requirement("runtime", name, "", kind) if is_runtime else Requirement("object", f"{kind}/{name}")
