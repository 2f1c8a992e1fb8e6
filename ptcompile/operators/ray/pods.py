"""Pods of a Ray cluster: templates, the pods that KubeRay makes of them, and how it starts Ray in
them.

Source: KubeRay 1.7, ray-operator/controllers/ray/common/pod.go; docs/facts/ray.md#pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from shlex import quote

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.diagnostics import Path
from ptcompile.kinds import templates
from ptcompile.kinds.pods import ExpandedRole, Expansion, PodView, template_parts
from ptcompile.kinds.templates import Template, indexed_mappings
from ptcompile.kubernetes.pod_spec import SHM_PATH
from ptcompile.kubernetes.resources import count
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
    nested_value,
    object_name,
)

_CLUSTER_PATHS: dict[str, Path] = {
    "RayCluster": ("spec",),
    "RayJob": ("spec", "rayClusterSpec"),
    "RayService": ("spec", "rayClusterConfig"),
}
"""Path of the specification of the cluster, by kind."""

GPU = "nvidia.com/gpu"
"""The resource that KubeRay passes to Ray as GPUs, in addition to those that end in `gpu`."""


class RayGroup(NamedTuple):
    """The head, or one group of workers."""

    path: Path
    name: str
    spec: Json
    is_head: bool

    @property
    def template(self) -> Json:
        """The pod template."""
        return nested_map(self.spec, "template")

    @property
    def container(self) -> Json:
        """The Ray container, which is the first one."""
        return next(iter(nested_maps(self.template, "spec", "containers")), {})

    @property
    def parameters(self) -> dict[str, str]:
        """The rayStartParams."""
        return nested_string_map(self.spec, "rayStartParams")

    @property
    def devices(self) -> int:
        """Number of GPUs in the limits of the Ray container."""
        limits = nested_map(self.container, "resources", "limits")
        return sum(count(limits[name]) for name in limits if str(name).endswith("gpu"))

    @property
    def gpus(self) -> int:
        """Number of GPUs that Ray offers in each pod: num-gpus, else those of the limits."""
        gpus = self.parameters.get("num-gpus") or nested_value(self.spec, "resources", "GPU")
        return self.devices if gpus is None else count_of(str(gpus))

    @property
    def started_pods(self) -> int:
        """Number of pods without an autoscaler."""
        return max(1, nested_int(self.spec, "numOfHosts", default=1)) * self.replicas

    @property
    def max_pods(self) -> int:
        """The largest number of pods: with an autoscaler, maxReplicas."""
        if self.is_head:
            return 1
        high = nested_int(self.spec, "maxReplicas", default=2**31 - 1)
        return max(1, nested_int(self.spec, "numOfHosts", default=1)) * max(self.replicas, high)

    @property
    def replicas(self) -> int:
        """The number of replicas that KubeRay starts: within the limits of the group."""
        if self.is_head:
            return 1
        low = nested_int(self.spec, "minReplicas")
        high = nested_int(self.spec, "maxReplicas", default=2**31 - 1)
        replicas = max(low, nested_int(self.spec, "replicas", default=low))
        return max(0, min(replicas, high))


def count_of(text: str) -> int:
    """Return the number that a text of up to nine digits is, or 0."""
    text = text.strip()
    return int(text) if is_short_number(text) else 0


def cluster_path(manifest: Json) -> Path:
    """Return the path of the specification of the cluster."""
    return _CLUSTER_PATHS.get(nested_string(manifest, "kind"), ("spec",))


def cluster_of(manifest: Json) -> Json:
    """Return the specification of the cluster, or an empty mapping."""
    return nested_map(manifest, *map(str, cluster_path(manifest)))


def groups_of(manifest: Json) -> Iterator[RayGroup]:
    """Yield the head, then the groups of workers."""
    path = cluster_path(manifest)
    cluster = cluster_of(manifest)
    if cluster.get("headGroupSpec") is not None:
        yield RayGroup((*path, "headGroupSpec"), "head", nested_map(cluster, "headGroupSpec"), True)
    for i, group in indexed_mappings(cluster.get("workerGroupSpecs")):
        yield RayGroup(
            (*path, "workerGroupSpecs", i), nested_string(group, "groupName"), group, False
        )


def has_autoscaler(manifest: Json) -> bool:
    """Return whether Ray's autoscaler changes the number of workers."""
    return cluster_of(manifest).get("enableInTreeAutoscaling") is True


def pod_templates(manifest: Json) -> Iterator[Template]:
    """Yield the templates of the head, the workers and a RayJob's submitter."""
    for group in groups_of(manifest):
        yield Template(
            (*group.path, "template"), group.spec.get("template"), group.name, group.started_pods
        )
    spec = nested_map(manifest, "spec")
    if spec.get("submitterPodTemplate") is not None and manifest.get("kind") == "RayJob":
        yield Template(
            ("spec", "submitterPodTemplate"), spec.get("submitterPodTemplate"), "submitter", 1
        )


def expand(manifest: Json) -> Expansion:
    """Return the head, the workers and the head's Service, but not the submitter of a RayJob."""
    name = object_name(manifest)
    space = namespace_of(manifest)
    cluster = name if manifest.get("kind") == "RayCluster" else f"{name}-*****"
    roles = [
        ExpandedRole(group.name, group.started_pods, partial(_pod, group, cluster, space))
        for group in groups_of(manifest)
    ]
    service = {
        "metadata": {"name": f"{cluster}-head-svc", "namespace": space},
        "spec": {"selector": {"ray.io/cluster": cluster, "ray.io/node-type": "head"}},
    }

    return Expansion(tuple(roles), (service,))


def _pod(group: RayGroup, cluster: str, namespace: str, index: int) -> PodView:
    metadata, spec = template_parts(group.spec.get("template"))
    name = f"{cluster}-head" if group.is_head else f"{cluster}-{group.name}-worker"
    labels = {
        "ray.io/cluster": cluster,
        "ray.io/node-type": "head" if group.is_head else "worker",
        "ray.io/group": "headgroup" if group.is_head else group.name,
        "ray.io/is-ray-node": "yes",
    }
    first, *sidecars = nested_maps(spec, "containers") or [{}]
    host = templates.cluster_host_name(f"{cluster}-head-svc", None, namespace)
    changed: JsonDict = {**spec, "containers": [_ray_container(group, first, host), *sidecars]}
    if not _mounts_shm(first):
        volume = {"name": "shared-mem", "emptyDir": {"medium": "Memory"}}
        changed = templates.with_items(changed, "volumes", [volume])

    return PodView(
        name=name,
        role=group.name,
        index=index,
        namespace=namespace,
        random_suffix=True,
        labels={**nested_string_map(metadata, "labels"), **labels},
        annotations=nested_string_map(metadata, "annotations"),
        spec=changed,
    )


def _ray_container(group: RayGroup, first: Json, host: str) -> JsonDict:
    """Return the Ray container with KubeRay's variables and its command, which runs the user's
    first.
    """
    user_command = " ".join([*nested_strings(first, "command"), *nested_strings(first, "args")])
    env = [
        ("RAY_ADDRESS", "127.0.0.1:6379" if group.is_head else f"{host}:6379"),
        ("RAY_PORT", "6379"),
    ]
    if not group.is_head:
        env.append(("FQ_RAY_IP", host))
    names = {nested_string(entry, "name") for entry in nested_maps(first, "env")}
    added = [templates.env_value(name, value) for name, value in env if name not in names]
    container: JsonDict = {**first, "env": [*nested_maps(first, "env"), *added]}
    if not _mounts_shm(first):
        mount = {"name": "shared-mem", "mountPath": SHM_PATH}
        container["volumeMounts"] = [*nested_maps(first, "volumeMounts"), mount]
    if "ray start" in user_command:
        return container

    start = _start_command(group, host)
    if user_command:
        start = f"{user_command} && {start}"
    return {**container, "command": ["/bin/bash", "-c", "--"], "args": [start]}


def _mounts_shm(container: Json) -> bool:
    return any(
        mount.get("mountPath") == SHM_PATH for mount in nested_maps(container, "volumeMounts")
    )


def _start_command(group: RayGroup, host: str) -> str:
    command = ["ray start"]
    parameters = {"block": "true"}
    if group.is_head:
        command.append("--head")
        parameters["dashboard-host"] = "0.0.0.0"  # noqa: S104
    else:
        parameters["address"] = f"{host}:6379"
    if group.devices:
        parameters["num-gpus"] = str(group.devices)

    for name, value in sorted({**parameters, **group.parameters}.items()):
        if value == "true":
            command.append(f"--{name}")
        elif value != "false":
            command.append(f"--{name}={quote(value)}")

    return " ".join(command)
