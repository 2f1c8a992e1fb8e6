"""What a cluster must have for a job, from a spec or from manifests.

What ptcompile writes depends on the releases that the profile names, so the answer is for that profile.

Pure: a spec and a profile in, plain data out. Versions of operators are those that ptcompile knows, or the profile's;
that of Kubernetes is the oldest that will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.kinds import versions
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes import unstructured
from ptcompile.kubernetes.unstructured import (
    as_int,
    as_mapping,
    as_mappings,
    as_string,
    kind_of,
    nested_map,
    object_name,
)
from ptcompile.kubernetes.versions import Version, parse_version
from ptcompile.registry.model import Operator, QueueSystem
from ptcompile.registry.references import referenced
from ptcompile.registry.table import (
    BY_FOLDER,
    BY_GANG_SCHEDULER,
    BY_QUEUE_SYSTEM,
    BY_TARGET,
    KINDS,
    RUNS_PODS,
    templates_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.ir.job import Job
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


DRIVER: Final = BY_FOLDER["nvidia_dra"]
CHANNELS: Final = "compute-domain-default-channel.nvidia.com"
"""The DeviceClass of the channels of ComputeDomains, whose template the driver makes."""


def device_classes(manifests: Iterable[Mapping[str, Any]]) -> list[str]:
    """The DeviceClasses that the templates and ComputeDomains among some manifests ask for, each once."""
    found: dict[str, None] = {}
    for one in manifests:
        kind = as_string(one.get("kind"))
        if kind == "ComputeDomain":
            found[CHANNELS] = None
        elif kind in {"ResourceClaimTemplate", "ResourceClaim"}:
            spec = nested_map(one, "spec", "spec") if kind == "ResourceClaimTemplate" else nested_map(one, "spec")
            for request in as_mappings(nested_map(spec, "devices").get("requests")):
                for exact in (request, nested_map(request, "exactly"), *as_mappings(request.get("firstAvailable"))):
                    if name := as_string(exact.get("deviceClassName")):
                        found[name] = None
    return list(found)


def drivers(classes: Iterable[str]) -> Iterator[Operator]:
    """The drivers of DeviceClasses, of those that are known."""
    if any(name.endswith(".nvidia.com") for name in classes):
        yield DRIVER


def class_objects(
    classes: Iterable[str], queues: QueueSystem | None, cluster: ClusterProfile
) -> Iterator[tuple[str, str, str]]:
    """Kind, name and reason of what stands for DeviceClasses in the cluster; `queues` are of what admits the job."""
    for name in classes:
        yield "object", f"DeviceClass/{name}", "of its DRA driver"
        if queues is not None and queues.devices is not None:
            yield "object", *queues.devices(name, cluster.versions())


def asked_for(operator: Operator, cluster: ClusterProfile) -> Version | None:
    """The oldest Kubernetes that an operator's documentation asks for, in the release that the profile names."""
    release = operator.release_in(cluster.versions())
    rows = [kubernetes for since, kubernetes in operator.install.kubernetes if since <= release]
    return rows[-1] if rows else None


def taken_by(spec: Spec, cluster: ClusterProfile, target: str) -> Version:
    """The oldest Kubernetes for which a job compiles to the same manifests, of the releases that have a schema here."""
    from ptcompile.compiler.pipeline import compile_document

    data = {"apiVersion": spec.api_version, "kind": spec.kind, **spec.document(given=True)}
    manifests, oldest = compile_document(data, cluster, target).manifests, cluster.versions().kubernetes
    for known in reversed(versions()):
        if parse_version(known) >= oldest:
            continue
        older = cluster.but(spec=cluster.spec.but(versions=cluster.spec.versions.but(kubernetes=known)))
        if compile_document(data, older, target).manifests != manifests:
            break
        oldest = parse_version(known)
    return oldest


def first_known() -> Version:
    """The first release of Kubernetes that has a schema here: what an older one accepts is unknown."""
    return parse_version(versions()[0])


def too_old(operators: Iterable[Operator], cluster: ClusterProfile) -> Iterator[Problem]:
    """The operators that ask for a newer Kubernetes than the profile names."""
    have = cluster.versions().kubernetes
    for one in dict.fromkeys(operators):
        wanted = asked_for(one, cluster)
        if wanted is not None and have < wanted:
            release, software = _text(one.release_in(cluster.versions())), one.install.software
            yield Problem(
                "kubernetes-too-old",
                ("spec", "versions", "kubernetes"),
                f"spec.versions.kubernetes: {software} {release} requires Kubernetes {_text(wanted)} or newer, "
                f"and this is {_text(have)}",
                f"name Kubernetes {_text(wanted)}, or the older {software} that the cluster runs",
                severity="warning",
                stage="style",
                authority="ptcompile",
            )


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


class Requirement(NamedTuple):
    """One thing that must be there. `kind` is kubernetes, operator, crd, namespace, object, resource or runtime."""

    kind: str
    name: str
    version: str = ""
    why: str = ""

    def __str__(self) -> str:
        """One line for people."""
        version = f" {self.version}" if self.version else ""
        return f"{self.kind:<10} {self.name}{version}" + (f"  ({self.why})" if self.why else "")


def requires_spec(spec: Spec, cluster: ClusterProfile, target: str | None = None) -> tuple[Requirement, ...]:
    """What a cluster must have for one job that compiles.

    `target` is the name of a target, the spec's own or what a job without one gets, where it is absent.
    """
    chosen = target_of(spec, cluster, target)
    out = [kubernetes(operators_of([(chosen, spec)], cluster), [(chosen, spec)], cluster)]
    classes = claimed(spec, chosen, cluster)
    out += [*software(chosen, cluster), *queue_software(chosen, spec, cluster), *gang_software(spec, cluster)]
    out += [requirement for one in drivers(classes) for requirement in software_of(one, cluster)]
    out = list(dict.fromkeys(out))
    out += [Requirement("namespace", name) for name in namespaces([spec])]
    pods = pods_of(spec, chosen, cluster)
    out += [Requirement("object", f"{kind}/{name}") for kind, name in _objects(pods, spec, chosen, cluster)]
    admits = queueing(chosen, cluster).queues() if queue_of(spec, cluster) else None
    out += [Requirement(kind, name, "", why) for kind, name, why in class_objects(classes, admits, cluster)]
    out += [Requirement("resource", name, "", "on its nodes") for name in devices(pods)]
    return tuple(out)


Jobs = Sequence[tuple[str, "Spec"]]
"""Jobs, each with the name of its target."""


def kubernetes(operators: Iterable[Operator], jobs: Jobs, cluster: ClusterProfile) -> Requirement:
    """The oldest Kubernetes that will do for these operators and jobs, as the profile's releases have them written."""
    asked = [version for one in operators if (version := asked_for(one, cluster)) is not None]
    taken = [taken_by(spec, cluster, target) for target, spec in jobs]
    major, minor = max([*asked, *taken, first_known()])
    return Requirement("kubernetes", "kubernetes", f"{major}.{minor}", "or newer")


def operators_of(jobs: Jobs, cluster: ClusterProfile, targets: Iterable[str] = ()) -> list[Operator]:
    """The operators that jobs, and targets without a job, need: their own, their queues' and their gang schedulers'."""
    found = [one for target in (*targets, *(name for name, _ in jobs)) for one in _operators_of_spec(target)]
    for target, spec in jobs:
        if queue_of(spec, cluster):
            found.append(queueing(target, cluster))
        placer = _placer(spec, cluster)
        found += [placer] if placer is not None else []
        found += drivers(claimed(spec, target, cluster))
    return list(dict.fromkeys(found))


def _operators_of_spec(target: str) -> Iterator[Operator]:
    """A target's operator, and the one that it cannot work without."""
    operator = BY_TARGET[target]
    for one in (operator, BY_FOLDER.get(operator.install.requires)):
        if one is not None and one.install.software:
            yield one


def target_of(spec: Spec, cluster: ClusterProfile, target: str | None = None) -> str:
    """The target's name: the one given, else the spec's own, else what the job needs."""
    from ptcompile.compiler.frontend.lowering import lower
    from ptcompile.registry.targets import default_target

    return target or spec.spec.target or default_target(lower(spec, cluster), cluster).name


def pods_of(spec: Spec, target: str, cluster: ClusterProfile) -> list[unstructured.Json]:
    """The pods' specs that a job will have, one a role, with what the profile gives them."""
    from ptcompile.ir import pods as pod_template

    return [
        unstructured.nested_map(pod_template.write(role.template), "spec")
        for role in _job_of(spec, target, cluster).roles
    ]


def claimed(spec: Spec, target: str, cluster: ClusterProfile) -> list[str]:
    """The DeviceClasses of which a job's pods claim devices."""
    from ptcompile.registry.emitting import device_objects

    if spec.spec.fabric is None and cluster.spec.gpu.claim is None:
        return []
    return device_classes(device_objects(_job_of(spec, target, cluster), cluster))


def _job_of(spec: Spec, target: str, cluster: ClusterProfile) -> Job:
    from ptcompile.compiler.build import build
    from ptcompile.compiler.frontend.lowering import lower
    from ptcompile.ir.job import Context
    from ptcompile.registry.targets import target_named

    return build(spec, lower(spec, cluster), Context(cluster, target_named(target))).job


def software(target: str, cluster: ClusterProfile) -> list[Requirement]:
    """The operators of a target, with their CRDs."""
    out = [requirement for one in _operators_of_spec(target) for requirement in software_of(one, cluster)]
    out += [Requirement(kind, name, "", why) for kind, name, why in BY_TARGET[target].install.brings]
    return out


def queue_software(target: str, spec: Spec, cluster: ClusterProfile) -> list[Requirement]:
    """Who admits the job, where it has a queue."""
    if not queue_of(spec, cluster):
        return []
    return software_of(queueing(target, cluster), cluster)


def gang_software(spec: Spec, cluster: ClusterProfile) -> list[Requirement]:
    """Who places the job's pods together, where the profile names a gang scheduler."""
    placer = _placer(spec, cluster)
    return software_of(placer, cluster) if placer is not None else []


def _placer(spec: Spec, cluster: ClusterProfile) -> Operator | None:
    from ptcompile.compiler.frontend.lowering import lower
    from ptcompile.registry import queues

    return BY_GANG_SCHEDULER.get(queues.gang(lower(spec, cluster), cluster))


def queueing(target: str, cluster: ClusterProfile) -> Operator:
    """Whose queue it is: the operator's own, where it has queues, else the profile's to say."""
    own = BY_TARGET[target]
    return own if own.queue_system else BY_QUEUE_SYSTEM[cluster.spec.queue_system]


def queue_of(spec: Spec, cluster: ClusterProfile) -> str | None:
    """The queue of a job: its own, else the profile's; None where it says null."""
    own = "queue" in spec.spec.model_fields_set
    return spec.spec.queue if own else cluster.spec.defaults.queue


def namespaces(specs: Sequence[Spec]) -> list[str]:
    """The namespaces that specs name, without the one that every cluster has."""
    return sorted({one.metadata.namespace for one in specs if one.metadata.namespace} - {"default"})


def priority_classes(pods: Sequence[unstructured.Json]) -> list[str]:
    """The priority classes that pods name; Kubernetes brings its own, `system-` in front."""
    found = {unstructured.as_string(pod.get("priorityClassName")) for pod in pods}
    return sorted(name for name in found if name and not name.startswith("system-"))


def software_of(one: Operator, cluster: ClusterProfile) -> list[Requirement]:
    """An operator in the release that the cluster runs, and its CRDs."""
    api = one.queues().api(cluster.versions()) if one.queue_system else ""
    crds = (crd.format(api=api) for crd in one.install.crds)
    release = _version(cluster, one.release) if one.release != "kubernetes" else ""
    operator = Requirement("operator", one.install.software, release, one.install.purpose)
    return [operator, *(Requirement("crd", crd, "", one.install.software) for crd in crds)]


def _version(cluster: ClusterProfile, field: str) -> str:
    major, minor = getattr(cluster.versions(), field)
    return f"{major}.{minor}"


def _objects(
    pods: Sequence[unstructured.Json], spec: Spec, target: str, cluster: ClusterProfile
) -> dict[tuple[str, str], None]:
    """Objects that a job names and does not make: classes, accounts, claims, Secrets, ConfigMaps, the queue."""
    out = [("PriorityClass", name) for name in priority_classes(pods)]
    if queue := queue_of(spec, cluster):
        out.append((queueing(target, cluster).queues().kind, queue))
    if spec.spec.priority:
        out.append((queueing(target, cluster).queues().priority, spec.spec.priority))
    out += [one for pod in pods for one in referenced(pod)]
    return dict.fromkeys(out)


def devices(pods: Sequence[unstructured.Json]) -> list[str]:
    """Extended resources that nodes must offer."""
    words = ("initContainers", "containers")
    containers = (one for pod in pods for word in words for one in unstructured.as_mappings(pod.get(word)))
    limits = (name for one in containers for name in unstructured.nested_map(one, "resources", "limits"))
    return sorted({name for name in limits if "/" in name})


def requires(manifests: Sequence[Json], cluster: ClusterProfile) -> tuple[Requirement, ...]:
    """What the jobs among these manifests need, each thing once; what the manifests themselves bring is left out."""
    jobs = [one for one in manifests if kind_of(one) in RUNS_PODS]
    classes = device_classes(manifests)
    operators = list(dict.fromkeys((*(one for job in jobs for one in _operators(job)), *drivers(classes))))
    brought = {(kind_of(one)[1], object_name(one)) for one in manifests}
    out = [kubernetes(operators, (), cluster)] if jobs else []
    out += [requirement for one in operators for requirement in software_of(one, cluster)]
    spaces = {as_string(nested_map(job, "metadata").get("namespace")) for job in jobs} - {"", "default"}
    out += [Requirement("namespace", name) for name in sorted(spaces)]
    named = [one for job in jobs for one in _named(job)]
    out += [_requirement(kind, name) for kind, name in dict.fromkeys(named) if (kind, name) not in brought]
    admits = next((one.queues() for job in jobs for one, _ in _admitting(job)), None)
    out += [Requirement(kind, name, "", why) for kind, name, why in class_objects(classes, admits, cluster)]
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
        if named_by is not None and (name := named_by(nested_map(job, "metadata"))):
            yield one, name


def _named(job: Json) -> Iterator[tuple[str, str]]:
    """Kind and name of what a job names: its runtime, its queue, the classes and objects of its pods."""
    runtime = nested_map(job, "spec", "runtimeRef")
    if runtime:
        yield as_string(runtime.get("kind")) or "ClusterTrainingRuntime", as_string(runtime.get("name"))
    yield from ((one.queues().kind, name) for one, name in _admitting(job))
    pods = list(_pods(job))
    yield from (("PriorityClass", name) for name in priority_classes(pods))
    for pod in pods:
        yield from referenced(pod)


def _pods(job: Json) -> Iterator[Json]:
    """The pods' specs as they are written, of a TrainJob what it says of its trainer."""
    trainer = nested_map(job, "spec", "trainer")
    if trainer:
        yield {"containers": [{**trainer, "resources": nested_map(trainer, "resourcesPerNode")}]}
    for one in templates_of(kind_of(job), job):
        if as_int(one.replicas, 1) > 0:
            yield nested_map(as_mapping(one.template), "spec")


def _requirement(kind: str, name: str) -> Requirement:
    is_runtime = kind.endswith("TrainingRuntime")
    return Requirement("runtime", name, "", kind) if is_runtime else Requirement("object", f"{kind}/{name}")
