"""Jobs and pods inside other objects: the Job of a CronJob, pod templates, and manifests within texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, kind_of, nested_map, object_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json

GENERIC_RULES: Final = frozenset(
    {
        "fractional-bytes",
        "tiny-memory-limit",
        "misspelt-resource",
        "best-effort-gpus",
        "cuda-visible-devices",
        "partial-fabric",
        "fabric-of-another-cloud",
        "fabric-without-machine",
        "unsatisfiable-node-affinity",
        "missing-toleration",
        "affinity-to-nobody",
        "unmounted-volume",
        "read-only-shm",
        "shm-mounted-elsewhere",
        "shm-on-disk",
        "unknown-medium",
        "repeated-mount-path",
        "relative-mount-path",
        "script-not-executable",
        "script-not-mounted",
        "missing-config-key",
        "missing-sidecar-annotation",
        "misspelt-reference",
        "command-in-one-word",
        "option-in-one-word",
        "shell-syntax-without-shell",
        "shell-variable-without-shell",
        "shell-variable-in-env",
        "script-without-c",
        "repeated-env",
        "misspelt-env",
        "invalid-env-value",
        "relative-working-dir",
        "root-against-non-root",
    }
)
"""Rules that apply to the pods of any object; they check nothing specific to training."""

_HOST_NAME_RULES: Final = frozenset({"missing-service", "unresolvable-endpoint"})
"""Rules that check the host names of a StatefulSet's pods."""

_TEMPLATE_PATHS: Final[dict[tuple[str, str], tuple[tuple[str, ...], ...]]] = {
    ("apps", "Deployment"): (("spec", "template"),),
    ("apps", "StatefulSet"): (("spec", "template"),),
    ("ray.io", "RayJob"): (("spec", "rayClusterSpec", "headGroupSpec", "template"),),
    ("ray.io", "RayCluster"): (("spec", "headGroupSpec", "template"),),
    ("ray.io", "RayService"): (("spec", "rayClusterConfig", "headGroupSpec", "template"),),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        ("spec", "leaderWorkerTemplate", "leaderTemplate"),
        ("spec", "leaderWorkerTemplate", "workerTemplate"),
    ),
}
"""Paths of the pod templates of kinds that are not simulated, keyed by API group and kind."""
_GROUP_PATHS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("ray.io", "RayJob"): ("spec", "rayClusterSpec", "workerGroupSpecs"),
    ("ray.io", "RayCluster"): ("spec", "workerGroupSpecs"),
    ("ray.io", "RayService"): ("spec", "rayClusterConfig", "workerGroupSpecs"),
}


class NestedObject(NamedTuple):
    """An object inside another: its path, its manifest, and the rules to run on it; None for all."""

    path: Path
    manifest: Json
    only: frozenset[str] | None


def nested_objects(manifest: Json) -> Iterator[NestedObject]:
    """Yield the objects that a controller creates from parts of this one."""
    kind = _group_and_kind(manifest)
    if kind == ("batch", "CronJob"):
        yield _cron_job(manifest)
    if kind == ("apps", "StatefulSet") and not nested_map(manifest, "spec", "ordinals").get("start"):
        yield _indexed_job(manifest)
    for path in _TEMPLATE_PATHS.get(kind, ()):
        yield from _nested_pods(path, nested_map(manifest, *path), manifest)
    groups = _GROUP_PATHS.get(kind)
    items = nested_map(manifest, *groups[:-1]).get(groups[-1]) if groups else None
    for i, group in enumerate(items if groups and isinstance(items, list) else ()):
        yield from _nested_pods((*(groups or ()), i, "template"), nested_map(group, "template"), manifest)


def _group_and_kind(manifest: Json) -> tuple[str, str]:
    """Return the API group and kind: other groups have a CronJob too."""
    version, kind = kind_of(manifest)
    return version.rpartition("/")[0], kind


def _cron_job(cron: Json) -> NestedObject:
    """Return the Job that a CronJob creates, whose name begins with the CronJob's (Kubernetes 1.36)."""
    template = nested_map(cron, "spec", "jobTemplate")
    metadata = {**nested_map(template, "metadata"), "generateName": f"{object_name(cron)}-"}
    space = nested_map(cron, "metadata").get("namespace")
    if space is not None:
        metadata["namespace"] = space
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": as_mapping(template.get("spec"))}
    return NestedObject(("spec", "jobTemplate"), job, None)


def _indexed_job(stateful: Json) -> NestedObject:
    """Return a Job whose pods have the host names and subdomain of a StatefulSet's: `<name>-<index>.<serviceName>`.

    The controller overwrites both (Kubernetes 1.36, pkg/controller/statefulset/stateful_set_utils.go: initIdentity).
    """
    spec, replicas = nested_map(stateful, "spec"), nested_map(stateful, "spec").get("replicas", 1)
    pod = {**nested_map(spec, "template", "spec"), "subdomain": as_string(spec.get("serviceName")) or None}
    owner = {"kind": "StatefulSet", "name": object_name(stateful)}
    metadata = {**nested_map(stateful, "metadata"), "ownerReferences": [owner]}
    template = {**nested_map(spec, "template"), "spec": pod}
    job = {"completionMode": "Indexed", "completions": replicas, "parallelism": replicas, "template": template}
    return NestedObject(
        (), {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": job}, _HOST_NAME_RULES
    )


def _nested_pods(path: Path, template: Json, owner: Json) -> Iterator[NestedObject]:
    if not as_mappings(nested_map(template, "spec").get("containers")):
        return
    metadata = {**nested_map(template, "metadata"), "name": object_name(owner)}
    space = nested_map(owner, "metadata").get("namespace")
    if space is not None:
        metadata["namespace"] = space
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": nested_map(template, "spec")}
    yield NestedObject(path, pod, GENERIC_RULES)


def nested_manifests(manifest: Json) -> Iterator[tuple[Path, str]]:
    """Yield the texts in an object that are manifests: `resource.manifest` of Argo, and files of a ConfigMap."""
    kind = kind_of(manifest)
    if kind == ("v1", "ConfigMap"):
        texts: Iterator[tuple[Path, Any]] = (
            (("data", name), value) for name, value in nested_map(manifest, "data").items()
        )
    elif kind[0].startswith("argoproj.io/"):
        texts = _argo_manifests(manifest, ())
    else:
        return
    for path, value in texts:
        if "apiVersion:" in as_string(value) and "kind:" in as_string(value):
            yield path, as_string(value)


def _argo_manifests(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "manifest" and path[-1:] == ("resource",):
                yield (*path, key), item
            else:
                yield from _argo_manifests(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _argo_manifests(item, (*path, i))
