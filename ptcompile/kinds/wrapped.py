"""Objects inside other objects: what a controller creates from a part of one, pod templates, and manifests in texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import (
    as_mapping,
    as_mappings,
    as_string,
    get,
    kind_of,
    nested_map,
    object_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json

_LISTS: Final[dict[tuple[str, str], tuple[Path, Path]]] = {
    ("workload.codeflare.dev", "AppWrapper"): (("spec", "components"), ("template",)),
    ("work.open-cluster-management.io", "ManifestWork"): (("spec", "workload", "manifests"), ()),
}
"""Paths of the list with whole objects, and of the object in an item, by API group and kind.

Source: AppWrapper 1.1, api/v1beta2; Open Cluster Management 1.0, api/work/v1.
"""
_TRIAL: Final[Path] = ("spec", "trialTemplate", "trialSpec")
"""Path of the job that Katib creates for each trial (Katib 0.18, pkg/apis/controller/experiments/v1beta1)."""
_TRIAL_PARAMETER: Final = Pattern(r"\$\{trial(?:Parameters|Spec)\.[^}]*\}")
_WRAPPERS: Final = ("AppWrapper", "ManifestWork", "Experiment", "CronJob")


class WrappedObject(NamedTuple):
    """An object inside another one."""

    path: Path
    """Its path in the outer object."""
    manifest: Json
    is_carried: bool = True
    """Whether the outer object only carries it to the API server, where it is created as it is."""


def wrapped_objects(manifest: Json) -> Iterator[WrappedObject]:
    """Yield the whole objects that a controller creates from parts of this one."""
    if manifest.get("kind") not in _WRAPPERS:
        return
    kind = group_and_kind(manifest)
    if kind == ("batch", "CronJob"):
        yield _cron_job(manifest)
    elif kind == ("kubeflow.org", "Experiment") and (trial := as_mapping(get(manifest, _TRIAL))):
        yield WrappedObject(_TRIAL, _named_by(manifest, _with_values(trial)), is_carried=False)
    elif kind in _LISTS:
        path, inner = _LISTS[kind]
        items = get(manifest, path)
        for i, item in enumerate(items if isinstance(items, list) else ()):
            if carried := as_mapping(get(item, inner)):
                yield WrappedObject((*path, i, *inner), carried)


def unwrapped(manifest: Json) -> list[Json]:
    """Return the objects that an object carries to the API server, else the object itself."""
    carried = [item.manifest for item in wrapped_objects(manifest) if item.is_carried]
    return [inner for item in carried for inner in unwrapped(item)] or [manifest]


def group_and_kind(manifest: Json) -> tuple[str, str]:
    """Return the API group and kind: other groups have a CronJob too."""
    version, kind = kind_of(manifest)
    return version.rpartition("/")[0], kind


def _named_by(owner: Json, job: Json) -> Json:
    """Return a job that a controller names after its owner, in the same namespace."""
    space = nested_map(owner, "metadata").get("namespace")
    metadata = {**nested_map(job, "metadata"), "generateName": f"{object_name(owner)}-"}
    return {**job, "metadata": metadata if space is None else {**metadata, "namespace": space}}


def _with_values(value: Any) -> Any:
    """Return a trial's job with a number in place of each parameter of the experiment."""
    if isinstance(value, Mapping):
        return {key: _with_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_values(item) for item in value]
    return _TRIAL_PARAMETER.sub("1", value) if isinstance(value, str) else value


def _cron_job(cron: Json) -> WrappedObject:
    """Return the Job that a CronJob creates, whose name begins with the CronJob's (Kubernetes 1.36)."""
    template = nested_map(cron, "spec", "jobTemplate")
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": nested_map(template, "metadata"),
        "spec": as_mapping(template.get("spec")),
    }
    return WrappedObject(("spec", "jobTemplate"), _named_by(cron, job), is_carried=False)


def pod_of_template(owner: Json, template: Json) -> Json | None:
    """Return the Pod that a controller creates from a template, or None if the template has no containers."""
    if not as_mappings(nested_map(template, "spec").get("containers")):
        return None
    metadata = {**nested_map(template, "metadata"), "name": object_name(owner)}
    space = nested_map(owner, "metadata").get("namespace")
    if space is not None:
        metadata["namespace"] = space
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": nested_map(template, "spec")}


def manifest_texts(manifest: Json) -> Iterator[tuple[Path, str]]:
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
