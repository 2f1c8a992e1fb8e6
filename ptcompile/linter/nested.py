"""Jobs and pods inside other objects: the Job of a CronJob, pod templates, and manifests within texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.resources import count_accelerators
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, kind_of, nested_map, object_name
from ptcompile.operators.pod import POD_RULES
from ptcompile.operators.table import kind_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kinds.templates import Template
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
        "object-in-other-namespace",
        "unset-subpath-variable",
        "unmounted-init-path",
        "unknown-accelerator-label",
        "endless-init-container",
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

_FABRIC_RULES: Final = frozenset({"partial-fabric", "fabric-of-another-cloud", "fabric-without-machine"})

_HOST_NAME_RULES: Final = frozenset({"missing-service", "unresolvable-endpoint"})
"""Rules that check the host names of a StatefulSet's pods."""

_TEMPLATE_PATHS: Final[dict[tuple[str, str], tuple[tuple[str, ...], ...]]] = {
    ("apps", "Deployment"): (("spec", "template"),),
    ("apps", "StatefulSet"): (("spec", "template"),),
}
"""Paths of the pod templates of kinds without a record, keyed by API group and kind."""


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
        yield from _nested_pods(path, nested_map(manifest, *path), manifest, GENERIC_RULES)
    record = kind_named(kind_of(manifest))
    if record.rules and POD_RULES[0] not in record.rules:
        yield from _pods_of_record(manifest, list(record.templates(manifest)))


def _pods_of_record(manifest: Json, templates: list[Template]) -> Iterator[NestedObject]:
    """Yield the pods of a kind whose rules check no pods; those without devices pass the fabric's settings on."""
    parts = [(template.path, as_mapping(template.template)) for template in templates]
    has_devices = [_has_accelerators(part) for _, part in parts]
    for (path, part), uses_fabric in zip(parts, has_devices, strict=True):
        only = GENERIC_RULES if uses_fabric or not any(has_devices) else GENERIC_RULES - _FABRIC_RULES
        yield from _nested_pods(path, part, manifest, only)


def _has_accelerators(template: Json) -> bool:
    containers = as_mappings(nested_map(template, "spec").get("containers"))
    return any(count_accelerators(nested_map(container, "resources", "limits")) for container in containers)


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


def _nested_pods(path: Path, template: Json, owner: Json, only: frozenset[str]) -> Iterator[NestedObject]:
    if not as_mappings(nested_map(template, "spec").get("containers")):
        return
    metadata = {**nested_map(template, "metadata"), "name": object_name(owner)}
    space = nested_map(owner, "metadata").get("namespace")
    if space is not None:
        metadata["namespace"] = space
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": nested_map(template, "spec")}
    yield NestedObject(path, pod, only)


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
