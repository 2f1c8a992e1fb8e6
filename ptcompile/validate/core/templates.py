"""Pod templates inside operators' kinds: the object is accepted, and the server refuses what is made of it.

Every problem here has the stage "pod". Findings of a pod stand under its template; what only the operator's child Job
or replica gets wrong stands outside it, since the template alone is a good pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.operators.all import kind_named
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.pod import check_pod_spec, check_template_metadata
from ptcompile.validate.core.pod_admission import check_pod_annotations
from ptcompile.validate.same import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def template_problems(manifest: Mapping[str, Any], context: ApiServer) -> Iterator[Problem]:
    """What the server answers to the pods (and child Jobs, and claims) that an operator makes of a manifest.

    Empty for kinds without templates. The stage is "pod", the authority kube-apiserver.
    """
    spec = manifest.get("spec")
    if type(spec) is not dict:
        return iter(())
    found: f.Found = []
    kind_named(kind_of(manifest)).check_children(manifest, spec, context, found)
    return f.at_stage(found, "pod")


def check_template(
    template: Any, path: Path, context: ApiServer, found: f.Found, volumes: frozenset[str], clean: Any = None
) -> Any:
    """One pod template, as the Pod that will be made of it. Gives it back where nothing is wrong with it.

    `clean` is such a template of the same object: what is the same is right too, and is not looked at again.
    """
    if type(template) is not dict or same(template, clean, exact=context.exact):
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
    spec = f.mapping(template).get("spec")
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
