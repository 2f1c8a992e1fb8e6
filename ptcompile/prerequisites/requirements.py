"""What a cluster must have for one job: software with its versions, CRDs, objects that the job names, node resources.

Pure: a spec and a profile in, plain data out. Versions of operators are those that ptcompile knows, or the profile's;
that of Kubernetes is the oldest that will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptcompile.kubernetes import untyped
from ptcompile.operators.all import BY_FOLDER, BY_GANG_SCHEDULER, BY_QUEUE_SYSTEM, BY_TARGET
from ptcompile.operators.common.queue_system import QueueSystem
from ptcompile.operators.common.referenced import referenced
from ptcompile.operators.record import Operator, resolve
from ptcompile.prerequisites import claims, oldest
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.compiling.build import Built
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


def built_for(spec: Spec, cluster: ClusterProfile, target: str | None = None) -> Built:
    """Build a spec that compiles for a target: the one named here, else the spec's own, else what the job needs."""
    from ptcompile.compiling.build import build
    from ptcompile.frontends.spec import lower
    from ptcompile.job.model import Context
    from ptcompile.operators.targets import default_target, target_named

    job, name = lower(spec, cluster), target or spec.spec.target
    chosen = target_named(name) if name is not None else default_target(job, cluster)
    return build(spec, job, Context(cluster, chosen))


def requires(built: Built) -> tuple[Requirement, ...]:
    """Return what a cluster must have for one job."""
    cluster, target = built.context.cluster, built.context.target.name
    out = [kubernetes(operators_of([built], cluster), [built], cluster)]
    classes = claimed(built)
    out += [*software(target, cluster), *queue_software(built), *gang_software(built)]
    out += [requirement for one in claims.drivers(classes) for requirement in software_of(one, cluster)]
    out = list(dict.fromkeys(out))
    out += [Requirement("namespace", name) for name in namespaces([built])]
    pods = pods_of(built)
    out += [Requirement("object", f"{kind}/{name}") for kind, name in _objects(pods, built)]
    admits = queues_of(queueing(built)) if queue_of(built) else None
    out += [Requirement(kind, name, "", why) for kind, name, why in claims.class_objects(classes, admits, cluster)]
    out += [Requirement("resource", name, "", "on its nodes") for name in devices(pods)]
    return tuple(out)


def kubernetes(operators: Iterable[Operator], jobs: Iterable[Built], cluster: ClusterProfile) -> Requirement:
    """The oldest Kubernetes that will do for these operators and jobs, as the profile's releases have them written."""
    asked = [version for one in operators if (version := oldest.asked_for(one, cluster)) is not None]
    taken = [oldest.taken_by(one.spec, cluster, one.context.target.name) for one in jobs]
    major, minor = max([*asked, *taken, oldest.first_known()])
    return Requirement("kubernetes", "kubernetes", f"{major}.{minor}", "or newer")


def operators_of(jobs: Sequence[Built], cluster: ClusterProfile, targets: Iterable[str] = ()) -> list[Operator]:
    """The operators that jobs, and targets without a job, need: their own, their queues' and their gang schedulers'."""
    found = [one for target in (*targets, *(job.context.target.name for job in jobs)) for one in _operators(target)]
    for job in jobs:
        if queue_of(job):
            found.append(queueing(job))
        placer = _placer(job)
        found += [placer] if placer is not None else []
        found += claims.drivers(claimed(job))
    return list(dict.fromkeys(found))


def _operators(target: str) -> Iterator[Operator]:
    """A target's operator, and the one that it cannot work without."""
    operator = BY_TARGET[target]
    for one in (operator, BY_FOLDER.get(operator.beside)):
        if one is not None and one.software:
            yield one


def pods_of(built: Built) -> list[untyped.Json]:
    """The pods' specs that a job will have, one a role, with what the profile gives them."""
    from ptcompile.job import pod_template

    return [untyped.at(pod_template.write(role.template), "spec") for role in built.job.roles]


def claimed(built: Built) -> list[str]:
    """The DeviceClasses of which a job's pods claim devices."""
    from ptcompile.operators.common.device_objects import device_objects

    cluster = built.context.cluster
    if built.spec.spec.fabric is None and cluster.spec.gpu.claim is None:
        return []
    return claims.device_classes(device_objects(built.job, cluster))


def software(target: str, cluster: ClusterProfile) -> list[Requirement]:
    """The operators of a target, with their CRDs."""
    out = [requirement for one in _operators(target) for requirement in software_of(one, cluster)]
    out += [Requirement(kind, name, "", why) for kind, name, why in BY_TARGET[target].brings]
    return out


def queue_software(built: Built) -> list[Requirement]:
    """Who admits the job, where it has a queue."""
    return software_of(queueing(built), built.context.cluster) if queue_of(built) else []


def gang_software(built: Built) -> list[Requirement]:
    """Who places the job's pods together, where the profile names a gang scheduler."""
    placer = _placer(built)
    return software_of(placer, built.context.cluster) if placer is not None else []


def _placer(built: Built) -> Operator | None:
    from ptcompile.operators.common import queues

    return BY_GANG_SCHEDULER.get(queues.gang(built.lowered, built.context.cluster))


def queueing(built: Built) -> Operator:
    """Whose queue it is: the operator's own, where it has queues, else the profile's to say."""
    own = BY_TARGET[built.context.target.name]
    return own if own.queues else BY_QUEUE_SYSTEM[built.context.cluster.spec.queue_system]


def queues_of(one: Operator) -> QueueSystem:
    """The objects of a queue system."""
    found: QueueSystem = resolve(one.folder, one.queues)
    return found


def queue_of(built: Built) -> str | None:
    """The queue of a job: its own, else the profile's; None where it says null."""
    job = built.spec.spec
    return job.queue if "queue" in job.model_fields_set else built.context.cluster.spec.defaults.queue


def namespaces(jobs: Iterable[Built]) -> list[str]:
    """The namespaces that jobs name, without the one that every cluster has."""
    named = (one.spec.metadata.namespace for one in jobs)
    return sorted({name for name in named if name} - {"default"})


def priority_classes(pods: Sequence[untyped.Json]) -> list[str]:
    """The priority classes that pods name; Kubernetes brings its own, `system-` in front."""
    found = {untyped.text(pod.get("priorityClassName")) for pod in pods}
    return sorted(name for name in found if name and not name.startswith("system-"))


def software_of(one: Operator, cluster: ClusterProfile) -> list[Requirement]:
    """An operator in the release that the cluster runs, and its CRDs."""
    api = queues_of(one).api(cluster.versions()) if one.queues else ""
    crds = (crd.format(api=api) for crd in one.crds)
    release = _version(cluster, one.version) if one.version != "kubernetes" else ""
    operator = Requirement("operator", one.software, release, one.purpose)
    return [operator, *(Requirement("crd", crd, "", one.software) for crd in crds)]


def _version(cluster: ClusterProfile, field: str) -> str:
    major, minor = getattr(cluster.versions(), field)
    return f"{major}.{minor}"


def _objects(pods: Sequence[untyped.Json], built: Built) -> dict[tuple[str, str], None]:
    """Objects that a job names and does not make: classes, accounts, claims, Secrets, ConfigMaps, the queue."""
    out = [("PriorityClass", name) for name in priority_classes(pods)]
    if queue := queue_of(built):
        out.append((queues_of(queueing(built)).kind, queue))
    if priority := built.spec.spec.priority:
        out.append((queues_of(queueing(built)).priority, priority))
    out += [one for pod in pods for one in referenced(pod)]
    return dict.fromkeys(out)


def devices(pods: Sequence[untyped.Json]) -> list[str]:
    """Extended resources that nodes must offer."""
    words = ("initContainers", "containers")
    containers = (one for pod in pods for word in words for one in untyped.items(pod.get(word)))
    limits = (name for one in containers for name in untyped.at(one, "resources", "limits"))
    return sorted({name for name in limits if "/" in name})
