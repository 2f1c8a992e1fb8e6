"""What a cluster must have before jobs run, as objects, Helm values and a list; and the same list for one job.

Pure: profiles and specs in, text and plain data out. Versions are those that ptcompile knows, or the profile's. The
operator's deployment values are those of the TKE page on PyTorch-Operator, with its defaults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ptcompile import emit

if TYPE_CHECKING:
    from ptcompile.cluster import ClusterProfile
    from ptcompile.spec import JobSpec, Spec

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Operator:
    """How the operator's chart is deployed. The fields and defaults are the TKE PyTorch-Operator chart's."""

    image_repository: str = "ccr.ccs.tencentyun.com/tke-market/pytorch-operator"
    image_tag: str = "latest"
    namespace_create: bool = True
    namespace_name: str = "pytorch-operator"

    def values(self) -> Json:
        """The chart's `values.yaml`, as far as these fields go."""
        return {
            "image": {"repository": self.image_repository, "tag": self.image_tag},
            "namespace": {"create": self.namespace_create, "name": self.namespace_name},
        }


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


class Needs(NamedTuple):
    """What a target needs in the cluster."""

    operator: str
    field: str
    """The operator's name among the profile's versions."""
    crds: tuple[str, ...]


NEEDS: dict[str, Needs] = {
    "pytorchjob": Needs("training-operator", "training_operator", ("pytorchjobs.kubeflow.org/v1",)),
    "volcano": Needs(
        "volcano",
        "volcano",
        (
            "jobs.batch.volcano.sh/v1alpha1",
            "podgroups.scheduling.volcano.sh/v1beta1",
            "queues.scheduling.volcano.sh/v1beta1",
        ),
    ),
    "trainjob": Needs(
        "trainer",
        "trainer",
        (
            "trainjobs.trainer.kubeflow.org/v1alpha1",
            "clustertrainingruntimes.trainer.kubeflow.org/v1alpha1",
            "trainingruntimes.trainer.kubeflow.org/v1alpha1",
        ),
    ),
    "jobset": Needs("jobset", "jobset", ("jobsets.jobset.x-k8s.io/v1alpha2",)),
}
"""Operators by target; `pod` and `job` need none. The CRDs are those of each operator's own release."""


def _kueue(cluster: ClusterProfile) -> Needs:
    crds = ("clusterqueues", "localqueues", "workloads")
    return Needs("kueue", "kueue", tuple(f"{name}.{_kueue_api(cluster)}" for name in crds))


def _kueue_api(cluster: ClusterProfile) -> str:
    """Kueue's API group and version: v1beta2 today (Kueue 0.19), v1beta1 before 0.15."""
    return f"kueue.x-k8s.io/v1beta{2 if cluster.versions().kueue >= (0, 15) else 1}"


BESIDE = {"trainjob": "jobset"}
"""Trainer 2.x makes JobSets, so a target may need another's operator too."""


def requires(spec: Spec, cluster: ClusterProfile, target: str | None = None) -> tuple[Requirement, ...]:
    """What a cluster must have for one job: operators, CRDs, objects that the job names, and node resources.

    `target` is the name of a target, the spec's own or what a job without one gets, where it is absent.
    """
    chosen = target or spec.spec.target or _default_target(spec, cluster)
    out = [*_software(chosen, cluster), *_queue_software(chosen, spec, cluster)]
    out += [Requirement("namespace", name) for name in _namespaces([spec])]
    out += _objects(spec, chosen, cluster)
    out += [Requirement("resource", name, "", "on its nodes") for name in _devices(spec, cluster)]
    return tuple(out)


@dataclass(frozen=True, slots=True)
class Setup:
    """What an administrator installs before the jobs run."""

    manifests: tuple[Json, ...]
    values: Json
    """Helm values of the PyTorch operator's chart."""
    requirements: tuple[Requirement, ...]

    def text(self) -> str:
        """One YAML stream for kubectl; the list and the Helm values stand above it as comments."""
        lines = ["What the cluster must have:", *map(str, self.requirements), ""]
        if self.values:
            lines += ["Helm values of the operator's chart:", *emit.emit(self.values).splitlines(), ""]
        head = "".join(f"# {line}".rstrip() + "\n" for line in lines[:-1])
        return head + (f"---\n{emit.emit_all(self.manifests)}" if self.manifests else "")


def platform(
    cluster: ClusterProfile,
    specs: Sequence[Spec] = (),
    *,
    operator: Operator | None = None,
    targets: Iterable[str] = (),
    priorities: Mapping[str, int] | None = None,
    runtimes: Sequence[Json] = (),
) -> Setup:
    """What a cluster must have before these jobs run: objects to apply, Helm values, and everything else as a list.

    `targets` are those of the platform, beside those of the specs; without either it is for PyTorchJobs.
    `priorities` are values of priority classes; one
    that only a spec names gets 0, which changes no order. `runtimes` are TrainingRuntimes to hand over.
    """
    chosen = [one.spec.target or _default_target(one, cluster) for one in specs]
    wanted = list(dict.fromkeys((*targets, *chosen))) or ["pytorchjob"]
    operator = operator or (Operator() if "pytorchjob" in wanted else None)
    classes = {**dict.fromkeys(_priorities(specs), 0), **(priorities or {})}
    spaces = _namespaces(specs)
    if operator is not None and operator.namespace_create:
        spaces = [name for name in spaces if name != operator.namespace_name]  # the chart creates this one
    manifests = [
        *(_object("v1", "Namespace", name) for name in spaces),
        *(
            {**_object("scheduling.k8s.io/v1", "PriorityClass", name), "value": classes[name]}
            for name in sorted(classes)
        ),
        *_queues(specs, cluster),
        *runtimes,
    ]
    needs = [one for name in wanted for one in _software(name, cluster)]
    needs += [one for name, spec in zip(chosen, specs, strict=True) for one in _queue_software(name, spec, cluster)]
    needs += [Requirement("resource", name, "", "on its nodes") for name in _catalogue(cluster)]
    return Setup(tuple(manifests), operator.values() if operator else {}, tuple(dict.fromkeys(needs)))


def _default_target(spec: Spec, cluster: ClusterProfile) -> str:
    from ptcompile.frontends.spec import lower
    from ptcompile.targets import default_target

    return default_target(lower(spec, cluster), cluster).name


def _software(target: str, cluster: ClusterProfile) -> list[Requirement]:
    out = [Requirement("kubernetes", "kubernetes", _version(cluster, "kubernetes"))]
    for name in (target, BESIDE.get(target)):
        if name in NEEDS:
            out += _of(NEEDS[name], cluster)
    if target == "trainjob":
        out.append(Requirement("runtime", "torch-distributed", "", "a ClusterTrainingRuntime of Trainer's release"))
    return out


def _queue_software(target: str, spec: Spec, cluster: ClusterProfile) -> list[Requirement]:
    if not _queue(spec, cluster):
        return []
    return _of(NEEDS["volcano"] if _by_volcano(target, cluster) else _kueue(cluster), cluster)


def _by_volcano(target: str, cluster: ClusterProfile) -> bool:
    """Whose queue it is. Only pytorchjob leaves the choice to the profile."""
    return target == "volcano" or (target == "pytorchjob" and cluster.spec.queue_system == "volcano")


def _of(needs: Needs, cluster: ClusterProfile) -> list[Requirement]:
    operator = Requirement("operator", needs.operator, _version(cluster, needs.field))
    return [operator, *(Requirement("crd", crd, "", needs.operator) for crd in needs.crds)]


def _version(cluster: ClusterProfile, field: str) -> str:
    major, minor = getattr(cluster.versions(), field)
    return f"{major}.{minor}"


def _queue(spec: Spec, cluster: ClusterProfile) -> str | None:
    return spec.spec.queue or cluster.spec.defaults.queue


def _namespaces(specs: Sequence[Spec]) -> list[str]:
    return sorted({one.metadata.namespace for one in specs if one.metadata.namespace} - {"default"})


def _blocks(job: JobSpec) -> list[Any]:
    return [one for one in (job, job.master, job.worker) if one is not None]


_SYSTEM = "system-"


def _priorities(specs: Sequence[Spec]) -> set[str]:
    """The priority classes that specs name; Kubernetes brings its own."""
    found = {block.priority_class_name for one in specs for block in _blocks(one.spec)}
    return {name for name in found if name and not name.startswith(_SYSTEM)}


def _objects(spec: Spec, target: str, cluster: ClusterProfile) -> list[Requirement]:
    """Objects that a job names and does not make: classes, accounts, claims, Secrets, ConfigMaps, the queue."""
    out: list[tuple[str, str]] = [("PriorityClass", name) for name in sorted(_priorities([spec]))]
    if queue := _queue(spec, cluster):
        out.append(("Queue" if _by_volcano(target, cluster) else "LocalQueue", queue))
    for block in _blocks(spec.spec):
        if block.service_account_name:
            out.append(("ServiceAccount", block.service_account_name))
        out += [("Secret", str(one.get("name"))) for one in block.image_pull_secrets]
        out += [one for source in block.env.values() for one in _env_source(source)]
        for source in block.env_from:
            out += [
                (kind, str(ref.get("name")))
                for key, kind in _FROM.items()
                if (ref := _ref(source, key)) and not ref.get("optional")
            ]
        for volume in block.volumes:
            out += [(kind, str(ref[name])) for key, kind, name in _VOLUMES if name in (ref := _ref(volume, key))]
    return [Requirement("object", f"{kind}/{name}") for kind, name in dict.fromkeys(out)]


_FROM = {"configMapRef": "ConfigMap", "secretRef": "Secret"}
_VOLUMES = (
    ("persistentVolumeClaim", "PersistentVolumeClaim", "claimName"),
    ("secret", "Secret", "secretName"),
    ("configMap", "ConfigMap", "name"),
)


def _env_source(source: Any) -> list[tuple[str, str]]:
    if isinstance(source, str):
        return []
    pairs = (("Secret", source.secret_key_ref), ("ConfigMap", source.config_map_key_ref))
    return [(kind, str(ref.get("name"))) for kind, ref in pairs if ref is not None]


def _ref(value: Json, key: str) -> Json:
    ref = value.get(key)
    return ref if isinstance(ref, dict) else {}


def _devices(spec: Spec, cluster: ClusterProfile) -> list[str]:
    """Extended resources that nodes must offer, by the names that the manifests will have."""
    entry = cluster.spec.accelerators.get(spec.spec.accelerator or "")
    gpu = (entry and entry.resource_name) or cluster.spec.gpu.resource_name
    lists = [
        one
        for block in _blocks(spec.spec)
        for one in (block.resources, block.resources.requests, block.resources.limits)
    ]
    names = {gpu if name == "gpu" else name for one in lists for name in one.by_name()}
    return sorted(name for name in names if "/" in name)


def _catalogue(cluster: ClusterProfile) -> list[str]:
    own = {entry.resource_name for entry in cluster.spec.accelerators.values() if entry.resource_name}
    return sorted({cluster.spec.gpu.resource_name, *own})


def _queues(specs: Sequence[Spec], cluster: ClusterProfile) -> list[Json]:
    """The queues that the specs name: Kueue's in each namespace, Volcano's once for the cluster."""
    local: set[tuple[str, str]] = set()
    volcano: set[str] = set()
    for one in specs:
        queue = _queue(one, cluster)
        if queue and _by_volcano(one.spec.target or _default_target(one, cluster), cluster):
            volcano.add(queue)
        elif queue:
            local.add((one.metadata.namespace or "default", queue))
    return [
        *(
            {
                "apiVersion": _kueue_api(cluster),
                "kind": "LocalQueue",
                "metadata": {"name": name, "namespace": namespace},
                "spec": {"clusterQueue": name},
            }
            for namespace, name in sorted(local)
        ),
        *(
            {**_object("scheduling.volcano.sh/v1beta1", "Queue", name), "spec": {"weight": 1}}
            for name in sorted(volcano - {"default"})
        ),
    ]


def _object(version: str, kind: str, name: str) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}}
