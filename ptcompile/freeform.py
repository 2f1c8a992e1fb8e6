"""The parts of a spec that are written in Kubernetes' own words, against Kubernetes' own structure.

They are checked before anything is built from them, so that passes and targets may trust their shapes, and so that the
finding stands at the line of the spec that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ptcompile import names
from ptcompile.diagnostics import Path, Problem
from ptcompile.frontends.checks import blocks
from ptcompile.frontends.errors import problem
from ptcompile.frontends.origin import Places, locate, moved
from ptcompile.frontends.spec import template_of
from ptcompile.spec import PodFields, Spec
from ptcompile.validate.partial import partial_pod

_PATCH_METADATA = {"labels", "annotations", "finalizers"}


def freeform(spec: Spec, data: Mapping[str, Any]) -> Iterator[Problem]:
    """What Kubernetes' decoder has against volumes, tolerations, affinity, ... and the pod template patches."""
    for path, fields in blocks(spec.spec):
        yield from _fields(path[1:], fields, data)
        yield from _patch((*path, "podTemplate"), fields.pod_template)


def _fields(block: Path, fields: PodFields, data: Mapping[str, Any]) -> Iterator[Problem]:
    pod = {"kind": "Pod", **template_of(fields)}
    places: Places = {}
    for one in (*partial_pod(pod), *_nulls(pod, ())):
        yield moved(one, locate(one.path, pod, data, [block], places))


def _patch(path: Path, patch: Mapping[str, Any]) -> Iterator[Problem]:
    if not patch:
        return
    for key in patch.keys() - {"metadata", "spec"}:
        help = "it belongs under podTemplate.spec" if key[:1].islower() else "a pod template has metadata and spec"
        yield problem("spec-unknown-field", (*path, key), "no such field in a pod template", help, on_key=True)
    metadata = patch.get("metadata")
    for key in metadata.keys() - _PATCH_METADATA if isinstance(metadata, Mapping) else ():
        near = names.suggest(key, _PATCH_METADATA)
        help = f"did you mean {near}?" if near else "labels and annotations are what a template may give its pods"
        named = key in {"name", "generateName"}
        message = "pods are named after the job" if named else "no such field in a pod template"
        yield problem("spec-unknown-field", (*path, "metadata", key), message, help, on_key=True)
    spec = patch.get("spec")
    if isinstance(spec, Mapping) and "restartPolicy" in spec:
        message = "the target writes it"
        yield problem("spec-conflict", (*path, "spec", "restartPolicy"), message, "say restartPolicy under spec")
    own = {key: value for key, value in patch.items() if key in {"metadata", "spec"}}
    if isinstance(metadata, Mapping):
        own["metadata"] = {key: value for key, value in metadata.items() if key in _PATCH_METADATA}
    for one in (*partial_pod({"kind": "Pod", **own}), *_nulls(own, ())):
        yield moved(one, (*path, *one.path))


def _nulls(value: Any, path: Path) -> Iterator[Problem]:
    """Items of lists that are null: Kubernetes takes them for empty ones, and nobody means that."""
    if type(value) is dict or isinstance(value, Mapping):
        for key, inner in value.items():
            if type(inner) is not str:
                yield from _nulls(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if inner is None:
                yield problem("spec-wrong-type", (*path, index), "null in a list", "remove it")
            elif type(inner) is not str:
                yield from _nulls(inner, (*path, index))
