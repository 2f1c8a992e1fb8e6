"""Where each kind holds pod templates, and what the server answers to their pods.

Every problem here has the stage "pod". Findings of a pod stand under its template; what only the operator's child Job
or replica gets wrong stands outside it, since the template alone is a good pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.pod import check_pod_annotations, check_pod_spec, check_template_metadata
from ptcompile.apiserver.validation.values import is_equal
from ptcompile.diagnostics import Path, Problem
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.registry.model import ApiServer
from ptcompile.registry.table import kind_named, templates_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


def template_problems(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    """What the server answers to the pods (and child Jobs, and claims) that an operator makes of a manifest.

    Empty for kinds without templates. The stage is "pod", the authority kube-apiserver.
    """
    spec = manifest.get("spec")
    if type(spec) is not dict:
        return iter(())
    found: f.Problems = []
    kind_named(kind_of(manifest)).check_children(manifest, spec, context, found)
    return f.at_stage(found, "pod")


def check_template(
    template: Any, path: Path, context: ApiServer, found: f.Problems, volumes: frozenset[str], clean: Any = None
) -> Any:
    """One pod template, as the Pod that will be made of it. Gives it back where nothing is wrong with it.

    `clean` is such a template of the same object: what is the same is right too, and is not looked at again.
    """
    if type(template) is not dict or is_equal(template, clean, exact=context.exact):
        return clean
    start = len(found)
    meta, spec = template.get("metadata"), template.get("spec")
    here = (*path, "metadata")
    check_template_metadata(meta, here, found, here)
    check_pod_annotations(meta, spec, here, found)
    check_pod_spec(spec, (*path, "spec"), context, found, template=False, extra_volumes=volumes)
    found[start:] = [_of_operator(p, path, spec) for p in found[start:]]
    return clean if len(found) > start else template


def without_restart(template: Any) -> Any:
    """A template whose restartPolicy the operator overwrites, as it is checked."""
    spec = f.as_field_mapping(template).get("spec")
    if type(spec) is not dict or "restartPolicy" not in spec:
        return template
    return {**template, "spec": {key: value for key, value in spec.items() if key != "restartPolicy"}}


def _of_operator(problem: Problem, path: Path, spec: Any) -> Problem:
    """What is inferred here, and not said by the server's pod validation.

    A class is looked up by name among the cluster's before the pod is validated, and no class can have such a name;
    ExitCode is a word for replicas of Kubeflow's kinds, and no pod has it.
    """
    field = problem.path[len(path) + 1 :]
    if field != ("priorityClassName",) and (field != ("restartPolicy",) or spec["restartPolicy"] != "ExitCode"):
        return problem
    return problem._replace(authority="ptcompile")


_RAY: Final = ("headGroupSpec.template", "workerGroupSpecs.*.template")

TEMPLATES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        "spec.leaderWorkerTemplate.leaderTemplate",
        "spec.leaderWorkerTemplate.workerTemplate",
    ),
    ("ray.io", "RayCluster"): tuple(f"spec.{path}" for path in _RAY),
    ("ray.io", "RayJob"): (*(f"spec.rayClusterSpec.{path}" for path in _RAY), "spec.submitterPodTemplate"),
    ("ray.io", "RayService"): tuple(f"spec.rayClusterConfig.{path}" for path in _RAY),
}
"""LeaderWorkerSet 0.10, KubeRay 1.7."""


def other_template_problems(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    """What the server answers to the pods that these operators make of a manifest: stage pod."""
    kind = str(manifest.get("apiVersion")).rpartition("/")[0], str(manifest.get("kind"))
    found: f.Problems = []
    for steps in TEMPLATES.get(kind, ()):
        for path, template in templates_at(manifest, steps):
            check_template(template, path, context, found, frozenset())
    return f.at_stage(found, "pod")


def templates_at(manifest: Mapping[str, Any], steps: str) -> Iterator[tuple[Path, Any]]:
    """What stands at `steps`, with the path to each."""
    return _at(manifest, steps.split("."), ())


def _at(value: Any, steps: list[str], path: Path) -> Iterator[tuple[Path, Any]]:
    if not steps:
        yield path, value
    elif steps[0] == "*":
        parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
        for key, one in parts:
            yield from _at(one, steps[1:], (*path, key))
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from _at(value[steps[0]], steps[1:], (*path, steps[0]))


PLACES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): ("spec.template",),
    ("apps", "DaemonSet"): ("spec.template",),
    ("apps", "Deployment"): ("spec.template",),
    ("apps", "ReplicaSet"): ("spec.template",),
    ("apps", "StatefulSet"): ("spec.template",),
    ("batch", "CronJob"): ("spec.jobTemplate.spec.template",),
    **TEMPLATES,
}
"""By API group and kind; those of the operators' kinds are found by their records."""


def pods_of(manifest: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any], Mapping[str, Any]]]:
    """Each pod of a manifest: the path to it, its spec and its metadata. That of a Pod is empty."""
    kind = str(manifest.get("apiVersion")).rpartition("/")[0], str(manifest.get("kind"))
    key = kind_of(manifest)
    found: list[tuple[Path, Any]] = []
    if kind_named(key).namespaced:
        found += [(one.path, one.template) for one in templates_of(key, manifest)]
    for steps in PLACES.get(kind, ()):
        found += templates_at(manifest, steps)
    for path, template in found:
        spec = template.get("spec") if isinstance(template, Mapping) else None
        if isinstance(spec, Mapping):
            meta = template.get("metadata")
            yield path, spec, meta if isinstance(meta, Mapping) else {}
