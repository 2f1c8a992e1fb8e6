"""Objects inside other objects: what a controller creates from a part of one, pod templates, and
manifests in texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kinds.templates import indexed_mappings
from ptcompile.kubernetes.unstructured import (
    Json,
    api_group,
    as_mapping,
    as_string,
    get,
    kind_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    object_name,
)

_LISTS: dict[tuple[str, str], tuple[Path, Path]] = {
    ("workload.codeflare.dev", "AppWrapper"): (("spec", "components"), ("template",)),
    ("work.open-cluster-management.io", "ManifestWork"): (("spec", "workload", "manifests"), ()),
}
"""Paths of the list with whole objects, and of the object in an item, by API group and kind.

Source: AppWrapper 1.1, api/v1beta2; Open Cluster Management 1.0, api/work/v1.
"""
_TRIAL: Path = ("spec", "trialTemplate", "trialSpec")
"""Path of the job that Katib creates for each trial (Katib 0.18,
pkg/apis/controller/experiments/v1beta1).
"""
_TRIAL_PARAMETER = Pattern(r"\$\{trial(?:Parameters|Spec)\.[^}]*\}")
_WORKFLOWS: dict[str, Path] = {
    "Workflow": ("spec",),
    "WorkflowTemplate": ("spec",),
    "ClusterWorkflowTemplate": ("spec",),
    "CronWorkflow": ("spec", "workflowSpec"),
}
"""Path of the spec of a workflow, by kind (Argo Workflows 3.7, pkg/apis/workflow/v1alpha1)."""
_STEP_FIELDS = (
    "affinity",
    "hostAliases",
    "nodeSelector",
    "schedulerName",
    "securityContext",
    "tolerations",
)
"""Fields of a step's pod that a template has, else the workflow
(workflow/controller/workflowpod.go).
"""
_PATCHES = frozenset({"podSpecPatch", "templateDefaults"})
"""Fields from which Argo merges other ones into a pod."""
_WRAPPERS = ("AppWrapper", "ManifestWork", "Experiment", "CronJob", *_WORKFLOWS)


class WrappedObject(NamedTuple):
    """An object inside another one."""

    path: Path
    """Its path in the outer object."""
    manifest: Json
    is_carried: bool = True
    """Whether the outer object only carries it to the API server, where it is created as it is."""
    moves: tuple[tuple[Path, Path], ...] = ()
    """Where a step of a workflow has parts of its pod: the part's path in the pod, and the path
    in the outer object.
    """

    def move(self, path: Path) -> tuple[Path, Path]:
        """Return the part that a path is in, and where the outer object has that part: the
        longest beginning.
        """
        part: Path = ()
        outer_path = self.path
        for pod_path, moved_path in self.moves:
            if len(pod_path) > len(part) and path[: len(pod_path)] == pod_path:
                part = pod_path
                outer_path = moved_path

        return part, outer_path


def wrapped_objects(manifest: Json) -> Iterator[WrappedObject]:
    """Yield the whole objects that a controller creates from parts of this one."""
    if manifest.get("kind") not in _WRAPPERS:
        return

    group, kind = group_and_kind(manifest)
    if (group, kind) == ("batch", "CronJob"):
        yield _cron_job(manifest)
    elif (group, kind) == ("kubeflow.org", "Experiment"):
        if trial := as_mapping(get(manifest, _TRIAL)):
            yield WrappedObject(_TRIAL, _named_by(manifest, _with_values(trial)), is_carried=False)
    elif group == "argoproj.io" and kind in _WORKFLOWS:
        yield from _steps(manifest, _WORKFLOWS[kind])
    elif (group, kind) in _LISTS:
        path, inner = _LISTS[group, kind]
        for place, item in _items(manifest, path):
            if carried := as_mapping(get(item, inner)):
                yield WrappedObject((*place, *inner), carried)


def unwrapped(manifest: Json) -> list[Json]:
    """Return the objects that an object carries to the API server, else the object itself."""
    carried = [item.manifest for item in wrapped_objects(manifest) if item.is_carried]
    return [inner for item in carried for inner in unwrapped(item)] or [manifest]


def group_and_kind(manifest: Json) -> tuple[str, str]:
    """Return the API group and kind: other groups have a CronJob too."""
    api_version, kind = kind_of(manifest)
    return api_group(api_version), kind


def _named_by(owner: Json, job: Json) -> Json:
    """Return a job that a controller names after its owner, in the same namespace."""
    space = nested_value(owner, "metadata", "namespace")
    metadata = {**nested_map(job, "metadata"), "generateName": f"{object_name(owner)}-"}
    return {**job, "metadata": metadata if space is None else {**metadata, "namespace": space}}


def _with_values(value: Any) -> Any:
    """Return a trial's job with a number in place of each parameter of the experiment."""
    if isinstance(value, Mapping):
        return {key: _with_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_values(item) for item in value]
    if isinstance(value, str):
        return _TRIAL_PARAMETER.sub("1", value)
    return value


def _cron_job(cron: Json) -> WrappedObject:
    """Return the Job that a CronJob creates, whose name begins with the CronJob's (Kubernetes
    1.36).
    """
    template = nested_map(cron, "spec", "jobTemplate")
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": nested_map(template, "metadata"),
        "spec": nested_map(template, "spec"),
    }
    return WrappedObject(("spec", "jobTemplate"), _named_by(cron, job), is_carried=False)


def _items(data: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """Yield the mappings of a list, with their paths."""
    for i, item in indexed_mappings(get(data, path)):
        yield (*path, i), item


def _steps(workflow: Json, root: Path) -> Iterator[WrappedObject]:
    """Yield the pods of the templates that are a container, apart from what Argo adds to them."""
    spec = as_mapping(get(workflow, root))
    for path, template in _items(workflow, (*root, "templates")):
        if nested_map(template, "container") and _PATCHES.isdisjoint((*template, *spec)):
            yield _step(workflow, template, root, path)


def _step(workflow: Json, template: Json, root: Path, path: Path) -> WrappedObject:
    """Return the pod of a step of a Workflow, with the parts that the workflow gives it."""
    container = nested_map(template, "container")
    volumes = list(_step_volumes(workflow, container, root, path))
    owners = {
        field: owner
        for owner in (root, path)
        for field in _STEP_FIELDS
        if get(workflow, (*owner, field)) is not None
    }
    pod = {
        "restartPolicy": "Never",
        "containers": [{**container, "name": "main"}],
        "volumes": [volume for _, volume in volumes],
        **{field: get(workflow, (*owner, field)) for field, owner in owners.items()},
    }
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": nested_map(template, "metadata"),
        "spec": pod,
    }
    name = f"{object_name(workflow)}-{nested_string(template, 'name')}"
    named = _named_by({"metadata": {**nested_map(workflow, "metadata"), "name": name}}, manifest)

    moves: list[tuple[Path, Path]] = [
        (("spec",), path),
        (("spec", "containers", 0), (*path, "container")),
        *((("spec", field), (*owner, field)) for field, owner in owners.items()),
    ]
    for i, (volume_path, _) in enumerate(volumes):
        is_claim = "volumeClaimTemplates" in volume_path
        below = ("ephemeral", "volumeClaimTemplate") if is_claim else ()
        moves.append((("spec", "volumes", i, *below), volume_path))

    return WrappedObject(path, named, is_carried=False, moves=tuple(moves))


def _step_volumes(
    workflow: Json, container: Json, root: Path, path: Path
) -> Iterator[tuple[Path, Json]]:
    """Yield the volumes that a step's container mounts, with their paths in the workflow."""
    mounted = {nested_string(mount, "name") for mount in nested_maps(container, "volumeMounts")}
    volumes = [*_items(workflow, (*root, "volumes")), *_items(workflow, (*path, "volumes"))]
    for claim_path, claim in _items(workflow, (*root, "volumeClaimTemplates")):
        # Argo makes the claim for a run of the workflow
        source = {"volumeClaimTemplate": {"spec": nested_map(claim, "spec")}}
        volumes.append((claim_path, {"name": object_name(claim), "ephemeral": source}))
    for volume_path, volume in volumes:
        if nested_string(volume, "name") in mounted:
            yield volume_path, volume


def pod_of_template(owner: Json, template: Json) -> Json | None:
    """Return the Pod that a controller creates from a template, or None if the template has no
    containers.
    """
    if not nested_maps(template, "spec", "containers"):
        return None

    metadata = {**nested_map(template, "metadata"), "name": object_name(owner)}
    space = nested_value(owner, "metadata", "namespace")
    if space is not None:
        metadata["namespace"] = space

    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": nested_map(template, "spec"),
    }


def manifest_texts(manifest: Json) -> Iterator[tuple[Path, str]]:
    """Yield the texts in an object that are manifests: `resource.manifest` of Argo, and files of
    a ConfigMap.
    """
    api_version, kind = kind_of(manifest)
    if (api_version, kind) == ("v1", "ConfigMap"):
        texts: Iterator[tuple[Path, Any]] = (
            (("data", name), value) for name, value in nested_map(manifest, "data").items()
        )
    elif api_version.startswith("argoproj.io/"):
        texts = _argo_manifests(manifest, ())
    else:
        return

    for path, value in texts:
        if "apiVersion:" in as_string(value) and "kind:" in as_string(value):
            yield path, as_string(value)


def _argo_manifests(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    """Yield the manifests of the resource templates in a Workflow, with their paths."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "manifest" and path[-1:] == ("resource",):
                yield (*path, key), item
            else:
                yield from _argo_manifests(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _argo_manifests(item, (*path, i))
