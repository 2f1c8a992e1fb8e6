"""What a TrainJob can change in the pods of a runtime that is already there, by the release of Trainer.

2.0 has podSpecOverrides, 2.1 podTemplateOverrides, 2.2 and newer runtimePatches (facts/trainer; Trainer's
pkg/apis/trainer/v1alpha1 of each release). None of them reaches image, command, args, env or resources of the container
`node`: those are fields of `spec.trainer`. None reaches scheduler, priority class, host network, sidecars or what else
is not listed here.
"""

from __future__ import annotations

from ptcompile.job import pod_template
from ptcompile.job.pods import PodTemplate
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.all import has_feature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Parts = tuple[dict[str, Any], dict[str, Any]]

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
"""By the row of `changes.CHANGES`: fields of the pods' metadata, of their spec, and of the container `node`."""

_TRAINER = ("image", "command", "args", "env", "resources")


def parts(template: PodTemplate, versions: Versions) -> Parts | None:
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
