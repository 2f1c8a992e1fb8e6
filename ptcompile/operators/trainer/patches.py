"""The patches of a TrainJob: written, merged, and as each release spells them.

2.0 has podSpecOverrides, 2.1 podTemplateOverrides, 2.2 and newer runtimePatches (facts/trainer; Trainer's
pkg/apis/trainer/v1alpha1 of each release). The older two also take auto, cpu and gpu as numProcPerNode; they are read
as runtimePatches, so what is known of those holds for them too. None of the three reaches image, command, args, env or
resources of the container `node`: those are fields of `spec.trainer`. None reaches scheduler, priority class, host
network, sidecars or what else is not listed here.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.diagnostics import Path
from ptcompile.ir import pods as pod_template
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, kind_of, nested_map
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.registry.table import has_feature
from ptcompile.registry.templates import upsert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json

    TrainerParts = tuple[dict[str, Any], dict[str, Any]]


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
"""The key by which a list's items are merged; other lists are replaced (Kubernetes 1.36, JobSet 0.12)."""


def merge(base: Any, patch: Any, field: str = "") -> Any:
    """The patch laid over the base: mappings by key, known lists by their items' key, all else replaced."""
    if isinstance(base, Mapping) and isinstance(patch, Mapping):
        out = dict(base)
        for key, value in patch.items():
            if value is not None:  # a TrainJob's null is unset: it takes nothing away
                out[key] = merge(base.get(key), value, str(key))
        return out
    if isinstance(base, list) and isinstance(patch, list) and field in _KEYS:
        return _merge_lists(base, patch, _KEYS[field])
    return patch


def _merge_lists(base: list[Any], patch: list[Any], key: str) -> list[Any]:
    out = list(as_mappings(base))
    for item in as_mappings(patch):
        position = next((i for i, old in enumerate(out) if old.get(key) == item.get(key)), None)
        if position is None:
            out.append(item)
        else:
            out[position] = merge(out[position], item)
    return out


def patched(runtime: Json, manifest: Json) -> dict[str, Any]:
    """The runtime's JobSet template with the TrainJob's runtimePatches, in their order.

    Labels and annotations of the template go to the JobSet alone.
    """
    template: dict[str, Any] = dict(nested_map(runtime, "spec", "template"))
    for patch in as_mappings(nested_map(manifest, "spec").get("runtimePatches")):
        change = nested_map(patch, "trainingRuntimeSpec").get("template")
        if isinstance(change, Mapping):
            template = merge(template, change)
    return template


def env_over(container: Json, env: Any) -> dict[str, Any]:
    """The container with env entries put in by name."""
    entries = [e for e in as_mappings(env) if as_string(e.get("name"))]
    old = as_mappings(container.get("env"))
    return {**as_mapping(container), "env": upsert(old, entries)} if old or entries else dict(container)


_WORDS: Final = {(2, 0): "podSpecOverrides", (2, 1): "podTemplateOverrides"}
_PROCESSES: Final = ("auto", "cpu", "gpu")
_TEMPLATE: Final = 11
"""How many parts of a path in a runtime patch lead to its pod template."""


def today(manifest: Json, version: Version) -> Json:
    """The same TrainJob as Trainer 2.2 would be told; the manifest itself where nothing differs."""
    if version >= (2, 2) or kind_of(manifest) != ("trainer.kubeflow.org/v1alpha1", "TrainJob"):
        return manifest
    spec: dict[str, Any] = dict(nested_map(manifest, "spec"))
    word = _WORDS.get(version, "podSpecOverrides")
    if isinstance(spec.get(word), list):
        spec["runtimePatches"] = [_patch(one, i, word) for i, one in enumerate(as_mappings(spec.pop(word)))]
    trainer = nested_map(spec, "trainer")
    if trainer.get("numProcPerNode") in _PROCESSES:
        spec["trainer"] = {key: value for key, value in trainer.items() if key != "numProcPerNode"}
    return {**manifest, "spec": spec} if spec != nested_map(manifest, "spec") else manifest


def _patch(override: Json, index: int, word: str) -> dict[str, Any]:
    template = {key: value for key, value in override.items() if key != "targetJobs"}
    if word == "podSpecOverrides":
        template = {"spec": template}
    jobs = [
        {"name": as_string(job.get("name")), "template": {"spec": {"template": template}}}
        for job in as_mappings(override.get("targetJobs"))
    ]
    spec = {"template": {"spec": {"replicatedJobs": jobs}}}
    return {"manager": f"trainer.kubeflow.org/override-{index}", "trainingRuntimeSpec": spec}


def written(path: Path, version: Version) -> Path:
    """Where in the file stands what is at `path` in what `today` made of it."""
    if version >= (2, 2) or path[:2] != ("spec", "runtimePatches"):
        return path
    word = _WORDS.get(version, "podSpecOverrides")
    start: Path = ("spec", word, *path[2:3])
    rest = path[_TEMPLATE:]
    if path[8:9] == ("name",):
        return (*start, "targetJobs", path[7], "name")
    return (*start, *(rest[1:] if word == "podSpecOverrides" else rest))


NODE = "node"
"""What Trainer calls the replicatedJob and its container that trains."""

MANAGER = "ptcompile/compile"
"""Who patches: a path with a domain in front, one patch a manager."""

_POD = frozenset({"serviceAccountName", "nodeSelector", "tolerations", "volumes", "schedulingGates"})
_POD_2_1 = _POD | {"affinity", "imagePullSecrets"}
_POD_2_2 = _POD_2_1 | {"securityContext", "terminationGracePeriodSeconds"}
_REACH: tuple[tuple[str, frozenset[str], frozenset[str], frozenset[str]], ...] = (
    ("pod-spec-overrides", frozenset(), _POD, frozenset({"volumeMounts"})),
    ("pod-template-overrides", frozenset({"labels", "annotations"}), _POD_2_1, frozenset({"volumeMounts"})),
    ("runtime-patches", frozenset({"labels", "annotations"}), _POD_2_2, frozenset({"volumeMounts", "securityContext"})),
)
"""By the operator's `features`: fields of the pods' metadata, of their spec, and of the container `node`."""

_TRAINER = ("image", "command", "args", "env", "resources")


def parts(template: PodTemplate, versions: Versions) -> TrainerParts | None:
    """A template as fields of `spec.trainer` and as further fields of the TrainJob; None where they cannot carry it."""
    written = pod_template.write(template, main=NODE)
    pod = written["spec"]
    container, *others = pod.pop("containers")
    trainer = {key: container.pop(key) for key in _TRAINER if key in container}
    del container["name"]
    metadata = written.get("metadata", {})
    word, known, of_pod, of_container = next((row for row in _REACH if has_feature(row[0], versions)), _REACH[0])
    beyond = (metadata.keys() - known) | (pod.keys() - of_pod) | (container.keys() - of_container)
    if others or beyond:
        return None
    if "resources" in trainer:
        trainer["resourcesPerNode"] = trainer.pop("resources")
    if container:
        pod["containers"] = [{"name": NODE, **container}]
    return trainer, _change(word, metadata, pod)


def _change(word: str, metadata: dict[str, Any], pod: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = {"metadata": metadata} if metadata else {}
    if pod:
        changed["spec"] = pod
    if not changed:
        return {}
    targets = [{"name": NODE}]
    if word == "pod-spec-overrides":
        return {"podSpecOverrides": [{"targetJobs": targets, **pod}]}
    if word == "pod-template-overrides":
        return {"podTemplateOverrides": [{"targetJobs": targets, **changed}]}
    job = {"name": NODE, "template": {"spec": {"template": changed}}}
    patch = {"template": {"spec": {"replicatedJobs": [job]}}}
    return {"runtimePatches": [{"manager": MANAGER, "trainingRuntimeSpec": patch}]}
