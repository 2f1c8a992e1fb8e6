"""Checks of spec fields with Kubernetes' own structure against Kubernetes' schema.

They run before anything is built from these fields, so passes and targets can rely on their shapes
and the finding is at the spec line with the mistake.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.spelling import spelling_help
from ptcompile.apiserver.structure import pod_decode_problems
from ptcompile.compiler.frontend.errors import problem
from ptcompile.compiler.frontend.lowering import pod_template_of
from ptcompile.compiler.frontend.parts import POD_FIELDS, blocks, with_path
from ptcompile.diagnostics import Path, Problem, Problems
from ptcompile.kubernetes.unstructured import MISSING, Json, JsonDict, get, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import JobSpec, PodFields


_PATCH_METADATA = {"labels", "annotations", "finalizers"}


def kubernetes_field_problems(job: JobSpec) -> Problems:
    """Yield the errors of Kubernetes' decoder in volumes, affinity and the like, and in the pod
    template patches.
    """
    for path, fields in blocks(job):
        yield from _check_fields(path, fields)
        yield from _check_patch((*path, "podTemplate"), fields.pod_template)


def profile_template_problems(profile: ClusterProfile) -> Problems:
    """Yield the errors of Kubernetes' decoder in a profile's pod templates."""
    yield from _check_template(
        ("spec", "defaults", "podTemplate"), profile.spec.defaults.pod_template
    )
    for name, fabric in profile.spec.fabrics.items():
        yield from _check_template(("spec", "fabrics", name, "podTemplate"), fabric.pod_template)


def _check_template(path: Path, template: Json) -> Problems:
    if not template:
        return
    for decode_problem in _decode_problems({"kind": "Pod", **template}):
        yield with_path(decode_problem, (*path, *decode_problem.path))


def _check_fields(block: Path, fields: PodFields) -> Problems:
    pod = _kubernetes_pod(fields)
    problems = _decode_problems(pod) if pod else ()
    if problems:
        from ptcompile.compiler.trace import source_path_in, traced_block

        marked = _kubernetes_pod(traced_block(fields, block))
        for decode_problem in problems:
            yield with_path(
                decode_problem, source_path_in(marked, decode_problem.path) or ("spec",)
            )


_KUBERNETES_FIELDS = tuple(field for field in POD_FIELDS if field.is_kubernetes)


def _kubernetes_pod(fields: PodFields) -> JsonDict:
    """Return a pod of the block's fields that the spec's models do not type, or {} if it sets
    none. Variables that are all texts are typed.
    """
    set_fields = fields.model_fields_set
    words = [
        field
        for field in _KUBERNETES_FIELDS
        if field.attribute in set_fields
        and not (field.spec_field == "env" and all(map(_is_plain, fields.env.values())))
    ]
    return {"kind": "Pod", "spec": pod_template_of(fields, words)["spec"]} if words else {}


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str)


def _decode_problems(pod: Json) -> list[Problem]:
    return [
        *pod_decode_problems(pod),
        *(_null_item_problems(pod, ()) if _has_null_item(pod) else ()),
    ]


def _check_patch(path: Path, patch: Json) -> Problems:
    if not patch:
        return

    for key in patch.keys() - {"metadata", "spec"}:
        if key[:1].islower():
            help = "move it to podTemplate.spec"
        else:
            help = "remove it; a pod template has metadata and spec"
        yield problem(
            "spec-unknown-field", (*path, key), "unknown field of a pod template", help, on_key=True
        )

    metadata = nested_map(patch, "metadata")
    for key in metadata.keys() - _PATCH_METADATA:
        reason = "remove it; a pod template sets only labels and annotations of its pods"
        help = spelling_help(key, _PATCH_METADATA, reason)
        is_name = key in {"name", "generateName"}
        message = "pods are named after the job" if is_name else "unknown field of a pod template"
        yield problem("spec-unknown-field", (*path, "metadata", key), message, help, on_key=True)

    if "restartPolicy" in nested_map(patch, "spec"):
        message = "the target sets the restart policy of the pods"
        yield problem(
            "spec-conflict",
            (*path, "spec", "restartPolicy"),
            message,
            "set restartPolicy under spec instead",
        )

    for null_path, noun in _NEVER_NULL.items():
        if get(patch, null_path, MISSING) is None:
            help = "remove it; null removes the value that is set otherwise"
            yield problem(
                "spec-conflict", (*path, *null_path), f"every pod needs {noun}", help, on_key=True
            )

    template = {key: value for key, value in patch.items() if key in {"metadata", "spec"}}
    if metadata:
        template["metadata"] = {
            key: value for key, value in metadata.items() if key in _PATCH_METADATA
        }

    yield from _check_template(path, template)


_NEVER_NULL = {("spec",): "a spec", ("spec", "containers"): "a main container"}


def _has_null_item(value: Any) -> bool:
    """Return whether any list in `value` contains null. A loop costs 34,000 instructions per
    spec, any() 82,000.
    """
    if type(value) is dict or isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, list):
        return False
    elif None in value:
        return True

    for inner in value:  # noqa: SIM110
        if type(inner) is not str and _has_null_item(inner):
            return True

    return False


def _null_item_problems(value: Any, path: Path) -> Problems:
    """Yield an error for each null item of a list: Kubernetes treats it as an empty item, which
    is never intended.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _null_item_problems(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if inner is None:
                yield problem("spec-wrong-type", (*path, index), "null in a list", "remove it")
            yield from _null_item_problems(inner, (*path, index))
