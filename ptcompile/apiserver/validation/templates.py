"""Paths of the pod templates of each kind, and the checks of the pods created from them.

Every problem has the stage "pod". A problem of a pod has a path below its template. A problem of a
child Job or replica has a path outside the template, because the template itself is valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.pod import (
    check_pod_annotations,
    check_pod_spec,
    check_template_metadata,
)
from ptcompile.apiserver.validation.values import is_equal
from ptcompile.diagnostics import Path, Problem, Problems
from ptcompile.diagnostics.field_errors import FieldErrors, with_stage
from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import (
    Json,
    entries_of,
    nested_map,
    nested_value,
    without_keys,
)
from ptcompile.operators.table import record_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.templates import Template


def template_problems(manifest: Json, context: ApiServer) -> Problems:
    """Yield the problems of the pods, child Jobs and claims that an operator creates from a
    manifest.

    Yields nothing for kinds without templates. The stage is "pod", the authority kube-apiserver.
    """
    problems = FieldErrors()
    if type(manifest.get("spec")) is dict:
        rejections = record_of(manifest).rejections()
        rejections.check_children(manifest, context, problems)
    return with_stage(problems, "pod")


def check_template(
    template: Any,
    path: Path,
    context: ApiServer,
    problems: FieldErrors,
    volumes: frozenset[str],
    clean: Any,
) -> Any:
    """Check a pod template as the Pod that will be created from it, and return it if it has no
    problems.

    `clean` is a template of the same object without problems: an equal template is not checked
    again, and `clean` is returned for a template with problems.
    """
    if type(template) is not dict or is_equal(template, clean, exact=context.exact):
        return clean

    start = len(problems)
    whole = FieldValue(template, path, CheckScope(context, problems))
    meta = whole["metadata"]
    spec = whole["spec"]
    check_template_metadata(meta, meta)
    check_pod_annotations(meta, spec.value)
    check_pod_spec(spec, template=False, extra_volumes=volumes)
    problems[start:] = [_with_authority(p, path, spec.value) for p in problems[start:]]

    return clean if len(problems) > start else template


def check_templates(
    templates: Iterable[Template],
    context: ApiServer,
    problems: FieldErrors,
    volumes: frozenset[str] = frozenset(),
) -> None:
    """Check the pod templates of one object. `volumes` are those that the controller adds."""
    clean: Any = None
    for template in templates:
        clean = check_template(template.template, template.path, context, problems, volumes, clean)


def without_restart_policy(template: Any) -> Any:
    """Return the template without its restartPolicy, which the operator overwrites."""
    spec = nested_value(template, "spec")
    if type(spec) is not dict or "restartPolicy" not in spec:
        return template
    return {**template, "spec": without_keys(spec, "restartPolicy")}


def _with_authority(problem: Problem, path: Path, spec: Any) -> Problem:
    """Return the problem with the authority ptcompile if it is inferred and not reported by the
    server's pod validation.

    The server looks a priority class up by name before it validates the pod, and no class can have
    an invalid name. ExitCode is a restart policy of Kubeflow's replicas, and no pod has it.
    """
    field = problem.path[len(path) + 1 :]
    if field != ("priorityClassName",) and (
        field != ("restartPolicy",) or spec["restartPolicy"] != "ExitCode"
    ):
        return problem
    return problem._replace(authority="ptcompile")


def templates_at(manifest: Json, steps: str) -> Iterator[tuple[Path, Any]]:
    """Yield the values at `steps`, a dotted path with `*` for list items, each with its path."""
    return _values_at(manifest, steps.split("."), ())


def _values_at(value: Any, steps: list[str], path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the values that the steps lead to, with their paths; the step `*` is every entry."""
    if not steps:
        yield path, value
        return

    step, *rest = steps
    if step == "*":
        for key, part in entries_of(value):
            yield from _values_at(part, rest, (*path, key))
    elif isinstance(value, Mapping) and step in value:
        yield from _values_at(value[step], rest, (*path, step))


TEMPLATE_PATHS: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): ("spec.template",),
    ("apps", "DaemonSet"): ("spec.template",),
    ("apps", "Deployment"): ("spec.template",),
    ("apps", "ReplicaSet"): ("spec.template",),
    ("apps", "StatefulSet"): ("spec.template",),
    ("batch", "CronJob"): ("spec.jobTemplate.spec.template",),
}
"""Paths of templates by API group and kind. The operators' kinds have them in their records."""


def pods_of(manifest: Json) -> Iterator[tuple[Path, Json, Json]]:
    """Yield the template path, spec and metadata of each pod of a manifest. The path of a Pod is
    empty.
    """
    kind = group_and_kind(manifest)
    record = record_of(manifest)
    templates: list[tuple[Path, Any]] = []
    if record.namespaced:
        templates += [(written.path, written.template) for written in record.templates(manifest)]

    if not templates:
        for steps in TEMPLATE_PATHS.get(kind, ()):
            templates += templates_at(manifest, steps)
    for path, template in templates:
        spec = nested_value(template, "spec")
        if isinstance(spec, Mapping):
            yield path, spec, nested_map(template, "metadata")
