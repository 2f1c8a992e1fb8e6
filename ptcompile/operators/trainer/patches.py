"""Patches of a TrainJob: written, merged, and converted between releases.

2.0 has podSpecOverrides, 2.1 podTemplateOverrides, 2.2 and newer runtimePatches (facts/trainer;
Trainer's pkg/apis/trainer/v1alpha1 of each release). The older two also accept auto, cpu and gpu as
numProcPerNode; they are read as runtimePatches, so the same checks apply to them. None of the three
reaches image, command, args, env or resources of the container `node`: those are fields of
`spec.trainer`. None reaches scheduler, priority class, host network, sidecars or any field that is
not listed here.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.diagnostics import Path
from ptcompile.ir import pods as pod_template
from ptcompile.ir.pods import PodTemplate
from ptcompile.kinds.pods import FieldOrigin
from ptcompile.kinds.templates import indexed_mappings, upsert
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_mapping,
    as_mappings,
    kind_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    without_keys,
)
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.table import has_feature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    TrainerParts = tuple[JsonDict, JsonDict]


_KEYS = {
    "containers": "name",
    "env": "name",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ports": "containerPort",
    "replicatedJobs": "name",
    "schedulingGates": "name",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
"""The key by which a list's items are merged; other lists are replaced (Kubernetes 1.36, JobSet
0.12).
"""


def merge(base: Any, patch: Any, field: str = "") -> Any:
    """Merge a patch over the base: mappings by key, known lists by their items' key, everything
    else replaced.
    """
    if isinstance(base, Mapping) and isinstance(patch, Mapping):
        merged = dict(base)
        for key, value in patch.items():
            if value is not None:  # a TrainJob's null is unset: it removes nothing
                merged[key] = merge(base.get(key), value, str(key))
        return merged
    if isinstance(base, list) and isinstance(patch, list) and field in _KEYS:
        return _merge_lists(base, patch, _KEYS[field])
    return patch


def _merge_lists(base: list[Any], patch: list[Any], key: str) -> list[Any]:
    merged = list(as_mappings(base))
    for item in as_mappings(patch):
        position = next(
            (i for i, base_item in enumerate(merged) if base_item.get(key) == item.get(key)), None
        )
        if position is None:
            merged.append(item)
        else:
            merged[position] = merge(merged[position], item)

    return merged


def apply_runtime_patches(
    runtime: Json, manifest: Json, origins: list[tuple[Path, FieldOrigin]], version: Version
) -> Json:
    """Return the runtime's JobSet template with the TrainJob's runtimePatches applied in order.

    Labels and annotations of the template apply only to the JobSet. What the patches change is
    added to `origins`.
    """
    template: JsonDict = dict(nested_map(runtime, "spec", "template"))
    for i, patch in enumerate(nested_maps(manifest, "spec", "runtimePatches")):
        change = nested_value(patch, "trainingRuntimeSpec", "template")
        if not isinstance(change, Mapping):
            continue

        patch_path = ("spec", "runtimePatches", i, "trainingRuntimeSpec", "template")
        for k, job in indexed_mappings(nested_value(change, "spec", "replicatedJobs")):
            name = nested_string(job, "name")
            for part in ("metadata", "spec"):
                path = ("spec", "replicatedJobs", name, *_POD_TEMPLATE, part)
                source = (*patch_path, "spec", "replicatedJobs", k, *_POD_TEMPLATE, part)
                origins.append((path, FieldOrigin(written_path(source, version))))

        template = merge(template, change)

    return template


def with_env_merged(container: Json, env: Any) -> JsonDict:
    """Return the container with env entries merged in by name."""
    entries = [e for e in as_mappings(env) if nested_string(e, "name")]
    old = nested_maps(container, "env")
    if old or entries:
        return {**as_mapping(container), "env": upsert(old, entries)}
    return dict(container)


_PATCH_FIELDS = {(2, 0): "podSpecOverrides", (2, 1): "podTemplateOverrides"}
_PROCESS_WORDS = ("auto", "cpu", "gpu")
_POD_TEMPLATE = ("template", "spec", "template")
"""Path from a replicatedJob to its pod template."""
_POD_TEMPLATE_DEPTH = 11
"""Number of path parts in a runtime patch that lead to its pod template."""


def to_current_fields(manifest: Json, version: Version) -> Json:
    """Return the TrainJob in Trainer 2.2's fields, or the manifest itself if nothing differs."""
    if version >= (2, 2) or kind_of(manifest) != ("trainer.kubeflow.org/v1alpha1", "TrainJob"):
        return manifest

    spec: JsonDict = dict(nested_map(manifest, "spec"))
    patch_field = _PATCH_FIELDS.get(version, "podSpecOverrides")
    if isinstance(spec.get(patch_field), list):
        spec["runtimePatches"] = [
            _to_runtime_patch(override, i, patch_field)
            for i, override in enumerate(as_mappings(spec.pop(patch_field)))
        ]

    trainer = nested_map(spec, "trainer")
    if trainer.get("numProcPerNode") in _PROCESS_WORDS:
        spec["trainer"] = without_keys(trainer, "numProcPerNode")
    if spec != nested_map(manifest, "spec"):
        return {**manifest, "spec": spec}

    return manifest


def _to_runtime_patch(override: Json, index: int, patch_field: str) -> JsonDict:
    template = without_keys(override, "targetJobs")
    if patch_field == "podSpecOverrides":
        template = {"spec": template}
    jobs = [
        {
            "name": nested_string(job, "name"),
            "template": {"spec": {"template": template}},
        }
        for job in nested_maps(override, "targetJobs")
    ]
    spec = {"template": {"spec": {"replicatedJobs": jobs}}}
    return {"manager": f"trainer.kubeflow.org/override-{index}", "trainingRuntimeSpec": spec}


def written_path(path: Path, version: Version) -> Path:
    """Return the path in the file of a path in the result of `to_current_fields`."""
    if version >= (2, 2) or path[:2] != ("spec", "runtimePatches"):
        return path
    patch_field = _PATCH_FIELDS.get(version, "podSpecOverrides")
    start = ("spec", patch_field, *path[2:3])
    if path[8:9] == ("name",):
        return (*start, "targetJobs", path[7], "name")
    in_template = path[_POD_TEMPLATE_DEPTH:]
    if patch_field == "podSpecOverrides":
        return (*start, *in_template[1:])
    return (*start, *in_template)


NODE = "node"
"""Trainer's name for the training replicatedJob and its container."""

MANAGER = "ptcompile/compile"
"""The manager of ptcompile's patch: a path with a domain prefix, one patch per manager."""

_POD_2_0 = frozenset(
    {"serviceAccountName", "nodeSelector", "tolerations", "volumes", "schedulingGates"}
)
_POD_2_1 = _POD_2_0 | {"affinity", "imagePullSecrets"}
_POD_2_2 = _POD_2_1 | {"securityContext", "terminationGracePeriodSeconds"}
_REACH: tuple[tuple[str, frozenset[str], frozenset[str], frozenset[str]], ...] = (
    ("pod-spec-overrides", frozenset(), _POD_2_0, frozenset({"volumeMounts"})),
    (
        "pod-template-overrides",
        frozenset({"labels", "annotations"}),
        _POD_2_1,
        frozenset({"volumeMounts"}),
    ),
    (
        "runtime-patches",
        frozenset({"labels", "annotations"}),
        _POD_2_2,
        frozenset({"volumeMounts", "securityContext"}),
    ),
)
"""Fields that each release's patches reach: of the pods' metadata, of their spec, and of the
container `node`.
"""

_TRAINER_FIELDS = ("image", "command", "args", "env", "resources")


def split_template(template: PodTemplate, versions: Versions) -> TrainerParts | None:
    """Return a template as `spec.trainer` and further fields of the TrainJob, or None if they
    cannot carry it.
    """
    template_data = pod_template.write(template, main=NODE)
    pod = template_data["spec"]
    container, *sidecars = pod.pop("containers")
    trainer = {key: container.pop(key) for key in _TRAINER_FIELDS if key in container}
    del container["name"]
    metadata = template_data.get("metadata", {})
    feature, metadata_fields, pod_fields, container_fields = next(
        (row for row in _REACH if has_feature(row[0], versions)), _REACH[0]
    )
    unreachable = (
        (metadata.keys() - metadata_fields)
        | (pod.keys() - pod_fields)
        | (container.keys() - container_fields)
    )
    if sidecars or unreachable:
        return None

    if "resources" in trainer:
        trainer["resourcesPerNode"] = trainer.pop("resources")
    if container:
        pod["containers"] = [{"name": NODE, **container}]

    return trainer, _patch_fields(feature, metadata, pod)


def _patch_fields(feature: str, metadata: JsonDict, pod: JsonDict) -> JsonDict:
    changed: JsonDict = {"metadata": metadata} if metadata else {}
    if pod:
        changed["spec"] = pod
    if not changed:
        return {}

    targets = [{"name": NODE}]
    if feature == "pod-spec-overrides":
        return {"podSpecOverrides": [{"targetJobs": targets, **pod}]}
    if feature == "pod-template-overrides":
        return {"podTemplateOverrides": [{"targetJobs": targets, **changed}]}

    job = {"name": NODE, "template": {"spec": {"template": changed}}}
    patch = {"template": {"spec": {"replicatedJobs": [job]}}}

    return {"runtimePatches": [{"manager": MANAGER, "trainingRuntimeSpec": patch}]}
