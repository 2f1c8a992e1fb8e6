"""Jobs and pods inside other objects: what a CronJob makes, pod templates, manifests that stand in a text."""

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
"""The rules that hold for a pod of whatever object: nothing in them is about training."""

_HOST_NAME_RULES: Final = frozenset({"missing-service", "unresolvable-endpoint"})
"""The rules about the names of a StatefulSet's pods."""

_TEMPLATE_PATHS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "Deployment": (("spec", "template"),),
    "StatefulSet": (("spec", "template"),),
    "RayJob": (("spec", "rayClusterSpec", "headGroupSpec", "template"),),
    "RayCluster": (("spec", "headGroupSpec", "template"),),
    "RayService": (("spec", "rayClusterConfig", "headGroupSpec", "template"),),
    "LeaderWorkerSet": (
        ("spec", "leaderWorkerTemplate", "leaderTemplate"),
        ("spec", "leaderWorkerTemplate", "workerTemplate"),
    ),
}
"""Where kinds that are not simulated have their pod templates."""
_GROUP_PATHS: Final[dict[str, tuple[str, ...]]] = {
    "RayJob": ("spec", "rayClusterSpec", "workerGroupSpecs"),
    "RayCluster": ("spec", "workerGroupSpecs"),
    "RayService": ("spec", "rayClusterConfig", "workerGroupSpecs"),
}


class NestedObject(NamedTuple):
    """An object inside another one: where, and which rules are asked of it; None for all."""

    path: Path
    manifest: Json
    only: frozenset[str] | None


def nested_objects(manifest: Json) -> Iterator[NestedObject]:
    """The objects that a controller makes of parts of this one."""
    kind = kind_of(manifest)[1]
    if kind == "CronJob":
        yield _cron_job(manifest)
    if kind == "StatefulSet" and not nested_map(manifest, "spec", "ordinals").get("start"):
        yield _indexed_job(manifest)
    for path in _TEMPLATE_PATHS.get(kind, ()):
        yield from _nested_pods(path, nested_map(manifest, *path), manifest)
    groups = _GROUP_PATHS.get(kind)
    listed = nested_map(manifest, *groups[:-1]).get(groups[-1]) if groups else None
    for i, group in enumerate(listed if groups and isinstance(listed, list) else ()):
        yield from _nested_pods((*(groups or ()), i, "template"), nested_map(group, "template"), manifest)


def _cron_job(cron: Json) -> NestedObject:
    """The Job that a CronJob makes, under a name that begins with its own (Kubernetes 1.36)."""
    template = nested_map(cron, "spec", "jobTemplate")
    metadata = {**nested_map(template, "metadata"), "generateName": f"{object_name(cron)}-"}
    space = nested_map(cron, "metadata").get("namespace")
    if space is not None:
        metadata["namespace"] = space
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": as_mapping(template.get("spec"))}
    return NestedObject(("spec", "jobTemplate"), job, None)


def _indexed_job(stateful: Json) -> NestedObject:
    """A Job whose pods have the host names and the subdomain of a StatefulSet's: `<name>-<index>.<serviceName>`.

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
    """The texts in an object that are manifests: `resource.manifest` of Argo, and files of a ConfigMap."""
    kind = kind_of(manifest)
    if kind == ("v1", "ConfigMap"):
        found: Iterator[tuple[Path, Any]] = (
            (("data", name), value) for name, value in nested_map(manifest, "data").items()
        )
    elif kind[0].startswith("argoproj.io/"):
        found = _argo_manifests(manifest, ())
    else:
        return
    for path, value in found:
        if "apiVersion:" in as_string(value) and "kind:" in as_string(value):
            yield path, as_string(value)


def _argo_manifests(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key == "manifest" and path[-1:] == ("resource",):
                yield (*path, key), one
            else:
                yield from _argo_manifests(one, (*path, key))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from _argo_manifests(one, (*path, i))
