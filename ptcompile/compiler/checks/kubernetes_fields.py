"""The parts of a spec that are written in Kubernetes' own words, against Kubernetes' own structure.

They are checked before anything is built from them, so that passes and targets may trust their shapes, and so that the
finding stands at the line of the spec that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.paths import MISSING, get
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.structure import pod_decode_problems
from ptcompile.compiler.frontend.errors import problem
from ptcompile.compiler.frontend.lowering import pod_template_of
from ptcompile.compiler.frontend.parts import at_job_field, blocks
from ptcompile.diagnostics import Path, Problem
from ptcompile.spec.pod_words import POD_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import JobSpec, PodFields


_PATCH_METADATA = {"labels", "annotations", "finalizers"}


def freeform(job: JobSpec) -> Iterator[Problem]:
    """Yield what Kubernetes' decoder has against volumes, tolerations, affinity, ... and the pod template patches."""
    for path, fields in blocks(job):
        yield from _fields(path, fields)
        yield from _patch((*path, "podTemplate"), fields.pod_template)


def freeform_cluster(profile: ClusterProfile) -> Iterator[Problem]:
    """What Kubernetes' decoder has against the pod templates of a profile."""
    yield from _template(("spec", "defaults", "podTemplate"), profile.spec.defaults.pod_template)
    for name, fabric in profile.spec.fabrics.items():
        yield from _template(("spec", "fabrics", name, "podTemplate"), fabric.pod_template)


def _template(path: Path, template: Mapping[str, Any]) -> Iterator[Problem]:
    for one in _problems({"kind": "Pod", **template}) if template else ():
        yield at_job_field(one, (*path, *one.path))


def _fields(block: Path, fields: PodFields) -> Iterator[Problem]:
    pod = _in_kubernetes_words(fields)
    found = _problems(pod) if pod else ()
    if found:
        from ptcompile.compiler.trace import marked_block, place_in

        marked = _in_kubernetes_words(marked_block(fields, block))
        for one in found:
            yield at_job_field(one, place_in(marked, one.path) or ("spec",))


_FOREIGN = tuple(one for one in POD_WORDS if one.foreign)


def _in_kubernetes_words(fields: PodFields) -> dict[str, Any]:
    """The part of a block's pod that the vocabulary has no types for; nothing where the block gives none of it."""
    given = fields.model_fields_set
    words = [one for one in _FOREIGN if one.attribute in given]
    if not words or (len(words) == 1 and words[0].word == "env" and all(map(_plain, fields.env.values()))):
        return {}
    return {"kind": "Pod", "spec": pod_template_of(fields, words)["spec"]}


def _plain(value: object) -> bool:
    return value is None or isinstance(value, str)


def _problems(pod: Mapping[str, Any]) -> list[Problem]:
    return [*pod_decode_problems(pod), *(_nulls(pod, ()) if _has_null_item(pod) else ())]


def _patch(path: Path, patch: Mapping[str, Any]) -> Iterator[Problem]:
    if not patch:
        return
    for key in patch.keys() - {"metadata", "spec"}:
        help = "it belongs under podTemplate.spec" if key[:1].islower() else "a pod template has metadata and spec"
        yield problem("spec-unknown-field", (*path, key), "unknown field of a pod template", help, on_key=True)
    metadata = patch.get("metadata")
    for key in metadata.keys() - _PATCH_METADATA if isinstance(metadata, Mapping) else ():
        near = closest_match(key, _PATCH_METADATA)
        help = f"did you mean {near}?" if near else "a template can give its pods only labels and annotations"
        named = key in {"name", "generateName"}
        message = "pods are named after the job" if named else "unknown field of a pod template"
        yield problem("spec-unknown-field", (*path, "metadata", key), message, help, on_key=True)
    spec = patch.get("spec")
    if isinstance(spec, Mapping) and "restartPolicy" in spec:
        message = "the target writes it"
        yield problem("spec-conflict", (*path, "spec", "restartPolicy"), message, "say restartPolicy under spec")
    for place, what in _NEVER_NULL.items():
        if get(patch, place, MISSING) is None:
            help = "remove it; null removes what would be there otherwise"
            yield problem("spec-conflict", (*path, *place), f"every pod has {what}", help, on_key=True)
    own = {key: value for key, value in patch.items() if key in {"metadata", "spec"}}
    if isinstance(metadata, Mapping):
        own["metadata"] = {key: value for key, value in metadata.items() if key in _PATCH_METADATA}
    yield from _template(path, own)


_NEVER_NULL: dict[Path, str] = {("spec",): "a spec", ("spec", "containers"): "the container that trains"}


def _has_null_item(value: Any) -> bool:
    """Whether any list in it holds null. With any() it takes 82,000 instructions a spec, and 34,000 so."""
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


def _nulls(value: Any, path: Path) -> Iterator[Problem]:
    """Items of lists that are null: Kubernetes treats them as empty ones, which is never meant."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _nulls(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if inner is None:
                yield problem("spec-wrong-type", (*path, index), "null in a list", "remove it")
            yield from _nulls(inner, (*path, index))
