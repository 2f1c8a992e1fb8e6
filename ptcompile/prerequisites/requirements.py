"""What a cluster must have for one job: software with its versions, CRDs, objects that the job names, node resources.

Pure: a spec and a profile in, plain data out. Versions of operators are those that ptcompile knows, or the profile's;
that of Kubernetes is the oldest that will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptcompile.kubernetes import untyped
from ptcompile.operators.all import BY_FOLDER, BY_GANG_SCHEDULER, BY_QUEUE_SYSTEM, BY_TARGET
from ptcompile.operators.common.referenced import referenced
from ptcompile.operators.record import Operator
from ptcompile.prerequisites import claims, oldest
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.job.model import Job
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.spec import Spec


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


def requires(spec: Spec, cluster: ClusterProfile, target: str | None = None) -> tuple[Requirement, ...]:
    """What a cluster must have for one job that compiles.

    `target` is the name of a target, the spec's own or what a job without one gets, where it is absent.
    """
    chosen = target_of(spec, cluster, target)
    out = [kubernetes(operators_of([(chosen, spec)], cluster), [(chosen, spec)], cluster)]
    classes = claimed(spec, chosen, cluster)
    out += [*software(chosen, cluster), *queue_software(chosen, spec, cluster), *gang_software(spec, cluster)]
    out += [requirement for one in claims.drivers(classes) for requirement in software_of(one, cluster)]
    out = list(dict.fromkeys(out))
    out += [Requirement("namespace", name) for name in namespaces([spec])]
    pods = pods_of(spec, chosen, cluster)
    out += [Requirement("object", f"{kind}/{name}") for kind, name in _objects(pods, spec, chosen, cluster)]
    admits = queueing(chosen, cluster).queues() if queue_of(spec, cluster) else None
    out += [Requirement(kind, name, "", why) for kind, name, why in claims.class_objects(classes, admits, cluster)]
    out += [Requirement("resource", name, "", "on its nodes") for name in devices(pods)]
    return tuple(out)


Jobs = Sequence[tuple[str, "Spec"]]
"""Jobs, each with the name of its target."""


def kubernetes(operators: Iterable[Operator], jobs: Jobs, cluster: ClusterProfile) -> Requirement:
    """The oldest Kubernetes that will do for these operators and jobs, as the profile's releases have them written."""
    asked = [version for one in operators if (version := oldest.asked_for(one, cluster)) is not None]
    taken = [oldest.taken_by(spec, cluster, target) for target, spec in jobs]
    major, minor = max([*asked, *taken, oldest.first_known()])
    return Requirement("kubernetes", "kubernetes", f"{major}.{minor}", "or newer")


def operators_of(jobs: Jobs, cluster: ClusterProfile, targets: Iterable[str] = ()) -> list[Operator]:
    """The operators that jobs, and targets without a job, need: their own, their queues' and their gang schedulers'."""
    found = [one for target in (*targets, *(name for name, _ in jobs)) for one in _operators(target)]
    for target, spec in jobs:
        if queue_of(spec, cluster):
            found.append(queueing(target, cluster))
        placer = _placer(spec, cluster)
        found += [placer] if placer is not None else []
        found += claims.drivers(claimed(spec, target, cluster))
    return list(dict.fromkeys(found))


def _operators(target: str) -> Iterator[Operator]:
    """A target's operator, and the one that it cannot work without."""
    operator = BY_TARGET[target]
    for one in (operator, BY_FOLDER.get(operator.install.requires)):
        if one is not None and one.install.software:
            yield one


def target_of(spec: Spec, cluster: ClusterProfile, target: str | None = None) -> str:
    """The target's name: the one given, else the spec's own, else what the job needs."""
    from ptcompile.frontends.spec import lower
    from ptcompile.operators.targets import default_target

    return target or spec.spec.target or default_target(lower(spec, cluster), cluster).name


def pods_of(spec: Spec, target: str, cluster: ClusterProfile) -> list[untyped.Json]:
    """The pods' specs that a job will have, one a role, with what the profile gives them."""
    from ptcompile.job import pod_template

    return [untyped.at(pod_template.write(role.template), "spec") for role in _job_of(spec, target, cluster).roles]


def claimed(spec: Spec, target: str, cluster: ClusterProfile) -> list[str]:
    """The DeviceClasses of which a job's pods claim devices."""
    from ptcompile.operators.common.device_objects import device_objects

    if spec.spec.fabric is None and cluster.spec.gpu.claim is None:
        return []
    return claims.device_classes(device_objects(_job_of(spec, target, cluster), cluster))


def _job_of(spec: Spec, target: str, cluster: ClusterProfile) -> Job:
    from ptcompile.compiling.build import build
    from ptcompile.frontends.spec import lower
    from ptcompile.job.model import Context
    from ptcompile.operators.targets import target_named

    return build(spec, lower(spec, cluster), Context(cluster, target_named(target))).job


def software(target: str, cluster: ClusterProfile) -> list[Requirement]:
    """The operators of a target, with their CRDs."""
    out = [requirement for one in _operators(target) for requirement in software_of(one, cluster)]
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
    from ptcompile.frontends.spec import lower
    from ptcompile.operators.common import queues

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


def priority_classes(pods: Sequence[untyped.Json]) -> list[str]:
    """The priority classes that pods name; Kubernetes brings its own, `system-` in front."""
    found = {untyped.text(pod.get("priorityClassName")) for pod in pods}
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
    pods: Sequence[untyped.Json], spec: Spec, target: str, cluster: ClusterProfile
) -> dict[tuple[str, str], None]:
    """Objects that a job names and does not make: classes, accounts, claims, Secrets, ConfigMaps, the queue."""
    out = [("PriorityClass", name) for name in priority_classes(pods)]
    if queue := queue_of(spec, cluster):
        out.append((queueing(target, cluster).queues().kind, queue))
    if spec.spec.priority:
        out.append((queueing(target, cluster).queues().priority, spec.spec.priority))
    out += [one for pod in pods for one in referenced(pod)]
    return dict.fromkeys(out)


def devices(pods: Sequence[untyped.Json]) -> list[str]:
    """Extended resources that nodes must offer."""
    words = ("initContainers", "containers")
    containers = (one for pod in pods for word in words for one in untyped.items(pod.get(word)))
    limits = (name for one in containers for name in untyped.at(one, "resources", "limits"))
    return sorted({name for name in limits if "/" in name})
