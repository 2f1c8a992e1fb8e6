"""Setup of a cluster before jobs run: objects, Helm values and a list of requirements.

Pure: a profile and specs in, text and plain data out. The operator's deployment values are those of
TKE's page on PyTorch-Operator, with its defaults; the profile may override them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Diagnostic, has_error
from ptcompile.kinds.model import Operator, QueueSystem, is_overridden
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.operators.table import BY_QUEUE_SYSTEM, BY_TARGET
from ptcompile.report.layout import join_escaped
from ptcompile.requirements.jobs import (
    Requirement,
    document_of,
    kubernetes_requirement,
    namespaces,
    operators_of,
    pods_of,
    priority_classes,
    queue_of,
    queue_operator,
    requires_spec,
    software,
    target_of,
)
from ptcompile.source import emitter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


class Setup(NamedTuple):
    """Everything an administrator installs before the jobs run."""

    manifests: tuple[JsonDict, ...]
    """The objects to apply before any job."""
    values: JsonDict
    """Helm values of the PyTorch operator's chart; empty if nothing needs that operator."""
    requirements: tuple[Requirement, ...]
    """What else the cluster must have."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Problems with the profile or the specs. With an error among them, the other fields are
    empty.
    """

    @property
    def ok(self) -> bool:
        """Whether all diagnostics are warnings or notes."""
        return not has_error(self.diagnostics)

    def text(self) -> str:
        """Return one YAML stream for kubectl, with the requirements and Helm values as comments
        at the top.
        """
        lines = ["What the cluster must have:", *map(str, self.requirements), ""]
        if self.values:
            lines += [
                "Helm values of the operator's chart:",
                *emitter.emit(self.values).splitlines(),
                "",
            ]
        head = join_escaped(f"# {line}" for line in lines[:-1])
        return head + (f"---\n{emitter.emit_all(self.manifests)}" if self.manifests else "")


def plan_setup(cluster: ClusterProfile, specs: Sequence[Spec] = ()) -> Setup:
    """Return the setup of a cluster for these jobs, or for PyTorchJobs if there are none. The
    specs must compile.
    """
    jobs = [(target_of(spec, cluster), spec) for spec in specs]
    target_names = list(dict.fromkeys(name for name, _ in jobs)) or ["pytorchjob"]
    # the PyTorch operator is deployed for PyTorchJobs, or because the profile configures it
    is_deployed = "pytorchjob" in target_names or "operator" in cluster.spec.model_fields_set
    values = operator_values(cluster) if is_deployed else {}
    queues = _queue_objects(jobs, cluster)
    manifests = (
        *_namespace_objects(specs, cluster, by_chart=bool(values)),
        *_priority_objects(jobs, cluster),
        *(queue for queue, _ in queues),
        *_target_objects(jobs, cluster),
    )
    needs = [kubernetes_requirement(operators_of(jobs, cluster, target_names), jobs, cluster)]
    needs += [requirement for name in target_names for requirement in software(name, cluster)]
    needs += [
        need
        for name, spec in jobs
        for need in _remaining_requirements(requires_spec(spec, cluster, name), manifests)
    ]
    needs += [
        Requirement("resource", name, "", "on its nodes") for name in _catalog_resources(cluster)
    ]
    needs += list(_queue_requirements(queues))

    return Setup(manifests, values, tuple(dict.fromkeys(needs)))


def _remaining_requirements(
    needs: Iterable[Requirement], manifests: Sequence[JsonDict]
) -> Iterator[Requirement]:
    """Yield a job's requirements except Kubernetes, which is listed once, and the namespaces and
    objects in `manifests`.
    """
    included = {
        f"{requirement['kind']}/{requirement['metadata']['name']}" for requirement in manifests
    }
    for requirement in needs:
        if requirement.kind not in ("kubernetes", "namespace") and not (
            requirement.kind == "object" and requirement.name in included
        ):
            yield requirement


def operator_values(cluster: ClusterProfile) -> JsonDict:
    """Return the `values.yaml` of the operator's chart, with the fields that TKE's page on
    PyTorch-Operator names.
    """
    operator = cluster.spec.operator
    return {
        "image": operator.image.non_null_fields(),
        "namespace": operator.namespace.non_null_fields(),
    }


def _namespace_objects(
    specs: Sequence[Spec], cluster: ClusterProfile, *, by_chart: bool
) -> list[JsonDict]:
    chart = cluster.spec.operator.namespace
    chart_namespaces = {chart.name} if by_chart and chart.create else set()
    needed = {*namespaces(specs), *({chart.name} if by_chart else ())}
    return [_make_object("v1", "Namespace", name) for name in sorted(needed - chart_namespaces)]


def _priority_objects(
    jobs: Sequence[tuple[str, Spec]], cluster: ClusterProfile
) -> Iterator[JsonDict]:
    """Yield the priority classes of the profile, and those that jobs name, with value 0, which
    changes no order.

    The class of a job in Kueue's queue is a WorkloadPriorityClass (Kueue 0.19).
    """
    of_pods = priority_classes(
        [pod for target, spec in jobs for pod in pods_of(spec, target, cluster)]
    )
    of_jobs = {
        (queue_operator(target, cluster).queues(), spec.spec.priority)
        for target, spec in jobs
        if spec.spec.priority
    }
    named = [*of_pods, *(name for system, name in of_jobs if system.priority == "PriorityClass")]
    values = {**dict.fromkeys(named, 0), **cluster.spec.priorities}
    for name in sorted(values):
        yield {**_make_object("scheduling.k8s.io/v1", "PriorityClass", name), "value": values[name]}

    workload_classes = [
        (name, system) for system, name in of_jobs if system.priority != "PriorityClass"
    ]
    for name, system in sorted(workload_classes, key=itemgetter(0)):
        workload = _make_object(system.api(cluster.versions()), system.priority, name)
        yield {**workload, "value": cluster.spec.priorities.get(name, 0)}


def _queue_objects(
    jobs: Sequence[tuple[str, Spec]], cluster: ClusterProfile
) -> list[tuple[JsonDict, QueueSystem]]:
    """Return the queues that the jobs name: namespaced ones first, then those of the cluster."""
    queues: dict[str, set[tuple[str, str]]] = {}
    for target, spec in jobs:
        if queue := queue_of(spec, cluster):
            operator = queue_operator(target, cluster)
            space = (spec.metadata.namespace or "default") if operator.queues().namespaced else ""
            queues.setdefault(operator.queue_system, set()).add((space, queue))

    systems = [
        (name, operator.queues()) for name, operator in BY_QUEUE_SYSTEM.items() if name in queues
    ]

    return [
        (_queue_object(system, space, queue, cluster), system)
        for name, system in sorted(systems, key=lambda pair: not pair[1].namespaced)
        for space, queue in sorted(queues[name])
        if queue not in system.built_in_queues
    ]


def _queue_object(system: QueueSystem, space: str, name: str, cluster: ClusterProfile) -> JsonDict:
    queue = _make_object(system.api(cluster.versions()), system.kind, name)
    if space:
        queue["metadata"]["namespace"] = space
    return {**queue, "spec": system.spec(name)}


def _queue_requirements(queues: Iterable[tuple[JsonDict, QueueSystem]]) -> Iterator[Requirement]:
    """Yield the objects that the queues depend on and that the setup does not contain."""
    for queue, system in queues:
        if system.backing_object is not None:
            name, why = system.backing_object(queue)
            yield Requirement("object", name, "", why)


def _target_objects(jobs: Sequence[tuple[str, Spec]], cluster: ClusterProfile) -> list[JsonDict]:
    """Return the objects besides the operator that a target's jobs need, such as the runtimes
    they name.
    """
    from ptcompile.compiler.pipeline import compile_document

    objects: dict[tuple[str, str, str], JsonDict] = {}
    for target, spec in jobs:
        operator = BY_TARGET[target]
        if is_overridden(operator, Operator.platform_objects):
            manifests = compile_document(document_of(spec), cluster, target).manifests
            for obj in operator.platform_objects(manifests, cluster.versions()):
                metadata = obj["metadata"]
                objects.setdefault(
                    (obj["kind"], metadata.get("namespace", ""), metadata["name"]), obj
                )

    return list(objects.values())


def _catalog_resources(cluster: ClusterProfile) -> list[str]:
    names = {
        entry.resource_name for entry in cluster.spec.accelerators.values() if entry.resource_name
    }
    return sorted({cluster.spec.gpu.resource_name, *names})


def _make_object(version: str, kind: str, name: str) -> JsonDict:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}}
