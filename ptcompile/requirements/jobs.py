"""Requirements of a job on its cluster, from a spec or from manifests.

Emitted manifests depend on the releases in the profile, so the requirements hold for that profile.

Pure: a spec and a profile in, plain data out. Operator releases are those in the profile or the
newest supported ones; the Kubernetes release is the oldest that works.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.kinds import other_kind, versions
from ptcompile.diagnostics import Problems, own_problem
from ptcompile.kinds.model import Operator, QueueSystem
from ptcompile.kinds.references import needed_objects
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    kind_of,
    nested_map,
    nested_maps,
    nested_string,
    object_name,
)
from ptcompile.kubernetes.versions import Version, parse_version, version_text
from ptcompile.linter.devices import CHANNEL_CLASS, requested_classes
from ptcompile.operators.queues.gangs import needed_groups
from ptcompile.operators.table import (
    BY_FOLDER,
    BY_GANG_SCHEDULER,
    BY_QUEUE_SYSTEM,
    BY_TARGET,
    GROUP_MARKS,
    JOB_KINDS,
    main_kind,
    operator_of,
)
from ptcompile.world.workload import Stream, Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.compiler.build import Built
    from ptcompile.ir.job import Job
    from ptcompile.kubernetes.requests import GroupVersionKind
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


_RUNTIME_KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")
DRIVER = BY_FOLDER["nvidia_dra"]


def device_classes(manifests: Iterable[Json]) -> list[str]:
    """Return the DeviceClasses that claim templates and ComputeDomains among the manifests
    request, each once.
    """
    classes: dict[str, None] = {}
    for manifest in manifests:
        api_version, kind = kind_of(manifest)
        if kind == "ComputeDomain" and api_version.startswith("resource.nvidia.com/"):
            # NVIDIA's DRA driver creates the claim template of a ComputeDomain
            classes[CHANNEL_CLASS] = None
        classes |= dict.fromkeys(requested_classes(manifest))
    return list(classes)


def drivers(classes: Iterable[str]) -> Iterator[Operator]:
    """Yield the known drivers of the DeviceClasses."""
    if any(name.endswith(".nvidia.com") for name in classes):
        yield DRIVER


def class_objects(
    classes: Iterable[str], queues: QueueSystem | None, cluster: ClusterProfile
) -> Iterator[Requirement]:
    """Yield the objects that a DeviceClass needs; `queues` is the queue system that admits the
    job.
    """
    for name in classes:
        yield Requirement("object", f"DeviceClass/{name}", "", "of its DRA driver")
        if queues is not None and queues.devices is not None:
            configuration, why = queues.devices(name, cluster.versions())
            yield Requirement("object", configuration, "", why)


def framework_objects(
    kinds: Iterable[GroupVersionKind], queues: QueueSystem | None, cluster: ClusterProfile
) -> Iterator[Requirement]:
    """Yield each configuration that lets the queue system manage queued jobs of these kinds."""
    if queues is not None and queues.framework is not None:
        for kind in dict.fromkeys(kinds):
            configuration = queues.framework(kind, cluster.versions(), ())
            if configuration is not None:
                name, why = configuration
                yield Requirement("object", name, "", why)


def required_kubernetes(operator: Operator, cluster: ClusterProfile) -> Version | None:
    """Return the oldest Kubernetes that the operator documents for the release in the profile, or
    None if it names none.
    """
    release = operator.release_in(cluster.versions())
    rows = [kubernetes for since, kubernetes in operator.install.kubernetes if since <= release]
    return rows[-1] if rows else None


def document_of(spec: Spec) -> JsonDict:
    """Return a spec as a file would have it, with the fields that it sets."""
    return {"apiVersion": spec.api_version, "kind": spec.kind, **spec.document(only_set=True)}


def oldest_kubernetes(spec: Spec, cluster: ClusterProfile, target: str) -> Version:
    """Return the oldest Kubernetes with a schema for which the job compiles to the same
    manifests.
    """
    from ptcompile.compiler.pipeline import compile_document

    data = document_of(spec)
    manifests = compile_document(data, cluster, target).manifests
    oldest = cluster.versions().kubernetes
    for release in reversed(versions()):
        if parse_version(release) >= oldest:
            continue
        older = cluster.replace(
            spec=cluster.spec.replace(versions=cluster.spec.versions.replace(kubernetes=release))
        )
        if compile_document(data, older, target).manifests != manifests:
            break
        oldest = parse_version(release)

    return oldest


def first_schema() -> Version:
    """Return the oldest Kubernetes release with a schema; what older releases accept is unknown."""
    return parse_version(versions()[0])


def kubernetes_too_old(operators: Iterable[Operator], cluster: ClusterProfile) -> Problems:
    """Yield a warning for each operator that requires a newer Kubernetes than the profile names."""
    current = cluster.versions().kubernetes
    for operator in dict.fromkeys(operators):
        required = required_kubernetes(operator, cluster)
        if required is not None and current < required:
            release = version_text(operator.release_in(cluster.versions()))
            software = operator.install.software
            yield own_problem(
                "kubernetes-too-old",
                ("spec", "versions", "kubernetes"),
                f"{software} {release} requires Kubernetes {version_text(required)} "
                f"or newer, but the profile names {version_text(current)}",
                f"name Kubernetes {version_text(required)}, or the older {software} that the "
                "cluster runs",
                severity="warning",
                stage="style",
            )


class Requirement(NamedTuple):
    """One required thing. `kind` is kubernetes, operator, crd, api, gate, namespace, object,
    resource or runtime.

    Of the pods of a job: pods (how many, with which requests), image (of a container that the
    operator adds), label, taint (tolerated), or nodes (that take them).
    """

    kind: str
    """What sort of thing it is."""
    name: str
    """Such as `training-operator` or `queue research`."""
    version: str = ""
    """The release, if one is needed."""
    why: str = ""
    """What needs it."""

    def __str__(self) -> str:
        """Return the requirement as one line of text."""
        version = f" {self.version}" if self.version else ""
        return f"{self.kind:<10} {self.name}{version}" + (f"  ({self.why})" if self.why else "")


def requires_spec(
    spec: Spec, cluster: ClusterProfile, target: str | None = None
) -> tuple[Requirement, ...]:
    """Return the requirements of one job that compiles.

    `target` is a target's name; by default, it is the spec's own or the one that fits the job.
    """
    target_name = target_of(spec, cluster, target)
    jobs = [(target_name, spec)]
    out = [kubernetes_requirement(operators_of(jobs, cluster), jobs, cluster)]

    classes = claimed_classes(spec, target_name, cluster)
    needed = software(target_name, cluster)
    if BY_TARGET[target_name].install.brings and _brings_own_runtime(spec, target_name, cluster):
        # the job needs no runtime of the cluster, nor its CRD
        cluster_runtime = _RUNTIME_KINDS[0].lower()
        needed = [
            item
            for item in needed
            if item.kind != "runtime" and not item.name.startswith(cluster_runtime)
        ]

    queue_system = queue_operator(target_name, cluster) if queue_of(spec, cluster) else None
    admitting = [
        operator
        for operator in (queue_system, _gang_scheduler(spec, cluster))
        if operator is not None and operator.install.software
    ]
    out += [*needed, *_software_of_all(admitting, cluster)]
    out += gang_settings(spec, cluster, target_name)
    out += _software_of_all(drivers(classes), cluster)
    # two operators may need the same software
    out = list(dict.fromkeys(out))

    out += [Requirement("namespace", name) for name in namespaces([spec])]
    pods = pods_of(spec, target_name, cluster)
    out += [
        Requirement("object", f"{kind}/{name}")
        for kind, name in _referenced_objects(pods, spec, target_name, cluster)
    ]
    queues = queue_system.queues() if queue_system is not None else None
    out += class_objects(classes, queues, cluster)
    kinds = [main_kind(BY_TARGET[target_name]).key]
    out += framework_objects(kinds, queues, cluster)
    out += [Requirement("resource", name, "", "on its nodes") for name in extended_resources(pods)]

    return tuple(out)


Jobs = Sequence[tuple[str, "Spec"]]
"""Jobs with the names of their targets."""


def kubernetes_requirement(
    operators: Iterable[Operator],
    jobs: Jobs,
    cluster: ClusterProfile,
    manifests: Iterable[Json] = (),
) -> Requirement:
    """Return the oldest Kubernetes that works for these operators, jobs and built-in kinds, in the
    releases of the profile.
    """
    kinds = [other_kind(kind_of(manifest)) for manifest in manifests]
    served = [parse_version(kind.since) for kind in kinds if kind is not None and kind.since]
    required = [
        version
        for operator in operators
        if (version := required_kubernetes(operator, cluster)) is not None
    ]
    accepted = [oldest_kubernetes(spec, cluster, target) for target, spec in jobs]
    oldest = max([*required, *accepted, *served, first_schema()])

    return Requirement("kubernetes", "kubernetes", version_text(oldest), "or newer")


def operators_of(
    jobs: Jobs, cluster: ClusterProfile, targets: Iterable[str] = ()
) -> list[Operator]:
    """Return the operators that jobs, and targets without a job, need, including queue systems
    and gang schedulers.
    """
    operators = [
        op
        for target in (*targets, *(name for name, _ in jobs))
        for op in _installed_operators(BY_TARGET[target])
    ]
    for target, spec in jobs:
        if queue_of(spec, cluster):
            operators.append(queue_operator(target, cluster))
        scheduler = _gang_scheduler(spec, cluster)
        if scheduler is not None:
            operators.append(scheduler)
        operators += drivers(claimed_classes(spec, target, cluster))

    return list(dict.fromkeys(operators))


def _installed_operators(*operators: Operator) -> Iterator[Operator]:
    """Yield the operators that must be installed; the one that the first operator requires follows
    it.
    """
    first, *others = operators
    for operator in (first, BY_FOLDER.get(first.install.requires), *others):
        if operator is not None and operator.install.software:
            yield operator


def target_of(spec: Spec, cluster: ClusterProfile, target: str | None = None) -> str:
    """Return the target's name: the given one, else the spec's, else the one that fits the job."""
    from ptcompile.compiler.frontend.lowering import lower
    from ptcompile.operators.targets import default_target

    return target or spec.spec.target or default_target(lower(spec, cluster), cluster).name


def pods_of(spec: Spec, target: str, cluster: ClusterProfile) -> list[Json]:
    """Return the pod specs of a job, one per role, with the profile's additions."""
    from ptcompile.ir import pods as pod_template

    return [
        nested_map(pod_template.write(role.template), "spec")
        for role in _job_of(spec, target, cluster).roles
    ]


def claimed_classes(spec: Spec, target: str, cluster: ClusterProfile) -> list[str]:
    """Return the DeviceClasses from which a job's pods claim devices."""
    from ptcompile.operators.shared.emitting import device_objects

    if spec.spec.fabric is None and cluster.spec.gpu.claim is None:
        return []
    return device_classes(device_objects(_job_of(spec, target, cluster), cluster))


def _brings_own_runtime(spec: Spec, target: str, cluster: ClusterProfile) -> bool:
    return any(
        kind_of(manifest).name in _RUNTIME_KINDS
        for manifest in _build_spec(spec, target, cluster).emitted
    )


def _job_of(spec: Spec, target: str, cluster: ClusterProfile) -> Job:
    return _build_spec(spec, target, cluster).job


def _build_spec(spec: Spec, target: str, cluster: ClusterProfile) -> Built:
    from ptcompile.compiler.build import build
    from ptcompile.compiler.frontend.lowering import lower
    from ptcompile.ir.job import Context
    from ptcompile.operators.targets import target_named

    return build(spec, lower(spec, cluster), Context(cluster, target_named(target)))


def software(target: str, cluster: ClusterProfile) -> list[Requirement]:
    """Return the operators of a target, with their CRDs."""
    out = _software_of_all(_installed_operators(BY_TARGET[target]), cluster)
    out += [
        Requirement(kind, name, "", why) for kind, name, why in BY_TARGET[target].install.brings
    ]
    return out


def gang_settings(spec: Spec, cluster: ClusterProfile, target: str) -> list[Requirement]:
    """Return the APIs and feature gates without which the cluster schedules no gang of this job."""
    from ptcompile.operators.shared.emitting import pod_group

    return _settings(pod_group(_job_of(spec, target, cluster), cluster, target))


def _settings(manifests: Iterable[Json]) -> list[Requirement]:
    """Return the APIs and feature gates that the PodGroups among the manifests need."""
    systems = [
        (operator_of(kind_of(group)), dict(group))
        for group in manifests
        if kind_of(group) in GROUP_MARKS
    ]
    rows = [
        row
        for operator, group in systems
        if operator.gang_scheduler
        for row in operator.gangs().needs(group)
    ]

    return [Requirement(kind, name, "", why) for kind, name, why in dict.fromkeys(rows)]


def _gang_scheduler(spec: Spec, cluster: ClusterProfile) -> Operator | None:
    from ptcompile.compiler.frontend.lowering import lower
    from ptcompile.operators.queues import queues

    return BY_GANG_SCHEDULER.get(queues.gang_scheduler_of(lower(spec, cluster), cluster))


def queue_operator(target: str, cluster: ClusterProfile) -> Operator:
    """Return the operator whose queues the job uses: the target's own if it has queues, else the
    profile's.
    """
    operator = BY_TARGET[target]
    if operator.queue_system:
        return operator
    return BY_QUEUE_SYSTEM[cluster.spec.queue_system]


def queue_of(spec: Spec, cluster: ClusterProfile) -> str | None:
    """Return the job's queue: its own, else the profile's, or None if the spec says null."""
    is_set = "queue" in spec.spec.model_fields_set
    return spec.spec.queue if is_set else cluster.spec.defaults.queue


def namespaces(specs: Sequence[Spec]) -> list[str]:
    """Return the namespaces that the specs name, except `default`."""
    return sorted(
        {spec.metadata.namespace for spec in specs if spec.metadata.namespace} - {"default"}
    )


def priority_classes(pods: Sequence[Json]) -> list[str]:
    """Return the priority classes that pods name, except the built-in `system-` ones."""
    names = {nested_string(pod, "priorityClassName") for pod in pods}
    return sorted(name for name in names if name and not name.startswith("system-"))


def software_of(operator: Operator, cluster: ClusterProfile) -> list[Requirement]:
    """Return an operator in the release that the cluster runs, and its CRDs."""
    api = operator.queues().api(cluster.versions()) if operator.queue_system else ""
    crds = (crd.format(api=api) for crd in operator.install.crds)
    is_released = operator.release != "kubernetes"
    release = version_text(getattr(cluster.versions(), operator.release)) if is_released else ""
    requirement = Requirement(
        "operator", operator.install.software, release, operator.install.purpose
    )
    return [requirement, *(Requirement("crd", crd, "", operator.install.software) for crd in crds)]


def _software_of_all(operators: Iterable[Operator], cluster: ClusterProfile) -> list[Requirement]:
    return [item for operator in operators for item in software_of(operator, cluster)]


def _referenced_objects(
    pods: Sequence[Json], spec: Spec, target: str, cluster: ClusterProfile
) -> dict[tuple[str, str], None]:
    """Return the objects that a job references but does not create: classes, accounts, claims,
    Secrets, ConfigMaps, its queue.
    """
    out = [("PriorityClass", name) for name in priority_classes(pods)]
    if queue := queue_of(spec, cluster):
        out.append((queue_operator(target, cluster).queues().kind, queue))
    if spec.spec.priority:
        out.append((queue_operator(target, cluster).queues().priority, spec.spec.priority))
    out += [item for pod in pods for item in needed_objects(pod)]
    return dict.fromkeys(out)


def extended_resources(pods: Sequence[Json]) -> list[str]:
    """Return the extended resources that nodes must offer."""
    fields = ("initContainers", "containers")
    containers = (item for pod in pods for field in fields for item in nested_maps(pod, field))
    limits = (name for item in containers for name in nested_map(item, "resources", "limits"))
    return sorted({name for name in limits if "/" in name})


def requires_manifests(
    manifests: Sequence[Json], cluster: ClusterProfile
) -> tuple[Requirement, ...]:
    """Return the requirements of the jobs among the manifests, each once, except those that the
    manifests provide.
    """
    jobs = [manifest for manifest in manifests if kind_of(manifest) in JOB_KINDS]
    stream = Stream(manifests, cluster.versions())
    # the pod specs after controllers and admission have changed them
    pods_by_job = [
        [
            template.spec
            for template in Workload(job, stream=stream).templates
            if template.replicas > 0
        ]
        for job in jobs
    ]
    classes = device_classes(manifests)
    operators = list(
        dict.fromkeys(
            (*(operator for job in jobs for operator in _operators_of_job(job)), *drivers(classes))
        )
    )
    provided = {(kind_of(manifest).name, object_name(manifest)) for manifest in manifests}
    out = [kubernetes_requirement(operators, (), cluster, manifests)] if jobs else []
    named = [
        reference
        for job, pods in zip(jobs, pods_by_job, strict=True)
        for reference in _referenced_by(job, pods)
    ]
    kinds = {kind for kind, _ in (*named, *provided)}
    # the beginnings of the names of CRDs for runtimes to which no job refers
    unused = tuple(f"{kind.lower()}s." for kind in _RUNTIME_KINDS if kind not in kinds)
    installed = _software_of_all(operators, cluster)
    out += [item for item in installed if not item.name.startswith(unused)]
    out += _settings(manifests)
    spaces = {nested_string(job, "metadata", "namespace") for job in jobs} - {"", "default"}
    out += [Requirement("namespace", name) for name in sorted(spaces)]
    out += [
        _requirement(kind, name)
        for kind, name in dict.fromkeys(named)
        if (kind, name) not in provided
    ]
    queues = next(
        (operator.queues() for job in jobs for operator, _ in _admitting_systems(job)), None
    )
    out += class_objects(classes, queues, cluster)
    queued = [kind_of(job) for job in jobs if any(_admitting_systems(job))]
    out += framework_objects(queued, queues, cluster)
    resources = extended_resources([pod for pods in pods_by_job for pod in pods])
    out += [Requirement("resource", name, "", "on its nodes") for name in resources]

    return tuple(dict.fromkeys(out))


def _operators_of_job(job: Json) -> Iterator[Operator]:
    systems = (system for system, _ in _admitting_systems(job))
    return _installed_operators(operator_of(kind_of(job)), *systems)


def _admitting_systems(job: Json) -> Iterator[tuple[Operator, str]]:
    """Yield the other operators' queue systems that must admit the job, each with the queue that
    the job names.
    """
    for operator in BY_QUEUE_SYSTEM.values():
        named_by = operator.queues().named_by
        if named_by is not None and (name := named_by(job)):
            yield operator, name


def _referenced_by(job: Json, pods: Sequence[Json]) -> Iterator[tuple[str, str]]:
    """Yield kind and name of what a job references: its runtime, its queue, and the classes and
    objects of its pods.
    """
    runtime = nested_map(job, "spec", "runtimeRef")
    if runtime:
        yield nested_string(runtime, "kind") or _RUNTIME_KINDS[0], nested_string(runtime, "name")
    yield from ((operator.queues().kind, name) for operator, name in _admitting_systems(job))
    yield from (("PriorityClass", name) for name in priority_classes(pods))
    for pod in pods:
        yield from needed_objects(pod)
        yield from needed_groups(pod)


def _requirement(kind: str, name: str) -> Requirement:
    if kind in _RUNTIME_KINDS:
        return Requirement("runtime", name, "", kind)
    return Requirement("object", f"{kind}/{name}")
