"""What a cluster must have before jobs run, as objects, as Helm values and as a list.

Pure: a profile and specs in, text and plain data out. The operator's deployment values are those of the TKE page on
PyTorch-Operator, with its defaults; the profile may say others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Diagnostic
from ptcompile.registry.model import Operator, overrides
from ptcompile.registry.table import BY_QUEUE_SYSTEM, BY_TARGET
from ptcompile.requirements.jobs import (
    Requirement,
    kubernetes,
    namespaces,
    operators_of,
    pods_of,
    priority_classes,
    queue_of,
    queueing,
    requires_spec,
    software,
    target_of,
)
from ptcompile.source import emitter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.registry.model import QueueSystem
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


Json = dict[str, Any]


class Setup(NamedTuple):
    """What an administrator installs before the jobs run."""

    manifests: tuple[Json, ...]
    values: Json
    """Helm values of the PyTorch operator's chart; empty where nothing needs that operator."""
    requirements: tuple[Requirement, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is wrong with the profile or the specs; with an error among them there is nothing else."""

    @property
    def ok(self) -> bool:
        """Whether there is no error. Warnings are fine."""
        return not any(d.severity == "error" for d in self.diagnostics)

    def text(self) -> str:
        """One YAML stream for kubectl; the list and the Helm values stand above it as comments."""
        lines = ["What the cluster must have:", *map(str, self.requirements), ""]
        if self.values:
            lines += ["Helm values of the operator's chart:", *emitter.emit(self.values).splitlines(), ""]
        head = "".join(f"# {line}".rstrip() + "\n" for line in lines[:-1])
        return head + (f"---\n{emitter.emit_all(self.manifests)}" if self.manifests else "")


def platform(cluster: ClusterProfile, specs: Sequence[Spec] = (), *, targets: Iterable[str] = ()) -> Setup:
    """What a cluster must have before these jobs run. The specs must compile.

    `targets` are those of the platform, beside those of the specs; without either it is for PyTorchJobs.
    """
    jobs = [(target_of(one, cluster), one) for one in specs]
    wanted = list(dict.fromkeys((*targets, *(name for name, _ in jobs)))) or ["pytorchjob"]
    values = operator_values(cluster) if _runs_operator(wanted, cluster) else {}
    queues = _queues(jobs, cluster)
    manifests = (
        *_namespaces(specs, cluster, by_chart=bool(values)),
        *_priorities(jobs, cluster),
        *(queue for queue, _ in queues),
        *_of_targets(jobs, cluster),
    )
    needs = [kubernetes(operators_of(jobs, cluster, wanted), jobs, cluster)]
    needs += [one for name in wanted for one in software(name, cluster)]
    needs += [one for name, spec in jobs for one in _besides(requires_spec(spec, cluster, name), manifests)]
    needs += [Requirement("resource", name, "", "on its nodes") for name in _catalogue(cluster)]
    needs += list(_behind(queues))
    return Setup(manifests, values, tuple(dict.fromkeys(needs)))


def _besides(needs: Iterable[Requirement], manifests: Sequence[Json]) -> Iterator[Requirement]:
    """What a job needs, without the namespaces and objects that are made here; Kubernetes is said once for all jobs."""
    made = {f"{one['kind']}/{one['metadata']['name']}" for one in manifests}
    for one in needs:
        if one.kind not in ("kubernetes", "namespace") and not (one.kind == "object" and one.name in made):
            yield one


def operator_values(cluster: ClusterProfile) -> Json:
    """The `values.yaml` of the operator's chart, as far as TKE's page on PyTorch-Operator names its fields."""
    operator = cluster.spec.operator
    return {"image": operator.image.given(), "namespace": operator.namespace.given()}


def _runs_operator(targets: Iterable[str], cluster: ClusterProfile) -> bool:
    """Whether the operator is deployed: for PyTorchJobs, or because the profile speaks of it."""
    return "pytorchjob" in targets or "operator" in cluster.spec.model_fields_set


def _namespaces(specs: Sequence[Spec], cluster: ClusterProfile, *, by_chart: bool) -> list[Json]:
    chart = cluster.spec.operator.namespace
    made = {chart.name} if by_chart and chart.create else set()
    needed = {*namespaces(specs), *({chart.name} if by_chart else ())}
    return [_object("v1", "Namespace", name) for name in sorted(needed - made)]


def _priorities(jobs: Sequence[tuple[str, Spec]], cluster: ClusterProfile) -> Iterator[Json]:
    """Priority classes: the profile's, and those that jobs name, which get 0 and so change no order.

    The class of a job in Kueue's queue is a WorkloadPriorityClass (Kueue 0.19).
    """
    of_pods = priority_classes([pod for target, spec in jobs for pod in pods_of(spec, target, cluster)])
    of_jobs = {(queueing(target, cluster).queues(), spec.spec.priority) for target, spec in jobs if spec.spec.priority}
    named = [*of_pods, *(name for system, name in of_jobs if system.priority == "PriorityClass")]
    values = {**dict.fromkeys(named, 0), **cluster.spec.priorities}
    for name in sorted(values):
        yield {**_object("scheduling.k8s.io/v1", "PriorityClass", name), "value": values[name]}
    own = [(name, system) for system, name in of_jobs if system.priority != "PriorityClass"]
    for name, system in sorted(own, key=itemgetter(0)):
        workload = _object(system.api(cluster.versions()), system.priority, name)
        yield {**workload, "value": cluster.spec.priorities.get(name, 0)}


def _queues(jobs: Sequence[tuple[str, Spec]], cluster: ClusterProfile) -> list[tuple[Json, QueueSystem]]:
    """The queues that the jobs name: those of a namespace first, then those of the cluster."""
    found: dict[str, set[tuple[str, str]]] = {}
    for target, one in jobs:
        if queue := queue_of(one, cluster):
            operator = queueing(target, cluster)
            space = (one.metadata.namespace or "default") if operator.queues().namespaced else ""
            found.setdefault(operator.queue_system, set()).add((space, queue))
    systems = [(name, one.queues()) for name, one in BY_QUEUE_SYSTEM.items() if name in found]
    return [
        (_queue(system, space, queue, cluster), system)
        for name, system in sorted(systems, key=lambda one: not one[1].namespaced)
        for space, queue in sorted(found[name])
        if queue not in system.there
    ]


def _queue(system: QueueSystem, space: str, name: str, cluster: ClusterProfile) -> Json:
    made = _object(system.api(cluster.versions()), system.kind, name)
    if space:
        made["metadata"]["namespace"] = space
    return {**made, "spec": system.spec(name)}


def _behind(queues: Iterable[tuple[Json, QueueSystem]]) -> Iterator[Requirement]:
    """What must exist for the queues, and is not written here."""
    for queue, system in queues:
        if system.behind is not None:
            name, why = system.behind(queue)
            yield Requirement("object", name, "", why)


def _of_targets(jobs: Sequence[tuple[str, Spec]], cluster: ClusterProfile) -> list[Json]:
    """The objects that the jobs of a target need beside its operator, such as the runtimes that they name."""
    from ptcompile.compiler.pipeline import compile_document

    found: dict[tuple[str, str, str], Json] = {}
    for target, spec in jobs:
        operator = BY_TARGET[target]
        if overrides(operator, Operator.platform_objects):
            data = {"apiVersion": spec.api_version, "kind": spec.kind, **spec.document(given=True)}
            made = compile_document(data, cluster, target).manifests
            for one in operator.platform_objects(made, cluster.versions()):
                metadata = one["metadata"]
                found.setdefault((one["kind"], metadata.get("namespace", ""), metadata["name"]), one)
    return list(found.values())


def _catalogue(cluster: ClusterProfile) -> list[str]:
    own = {entry.resource_name for entry in cluster.spec.accelerators.values() if entry.resource_name}
    return sorted({cluster.spec.gpu.resource_name, *own})


def _object(version: str, kind: str, name: str) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}}
