"""Pods as the mutating admission plugins leave them, with the object that writes each value that no
file has.

Source: Kubernetes 1.36, plugin/pkg/admission/limitranger and plugin/pkg/admission/runtimeclass.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.admission.limit_range import (
    limits_of,
    spend_on_defaults,
    with_container_defaults,
)
from ptcompile.apiserver.admission.mutation import set_runtime_class
from ptcompile.apiserver.admission.request import ClusterState, Request
from ptcompile.apiserver.defaulting.decoding import copy_without_nulls
from ptcompile.apiserver.evaluations import OutOfEvaluationsError
from ptcompile.apiserver.stored import new_values
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_maps,
    nested_string,
    object_name,
    without_keys,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics import Path

_LIMIT_RANGE = ("v1", "LimitRange")


class AdmittedPod(NamedTuple):
    """A pod's spec after admission."""

    written: Json
    """The spec before it."""
    spec: Json
    writers: Mapping[Path, str]
    """What writes each value that the spec did not have, such as `LimitRange ml/defaults`, by
    its path in the spec.
    """


class PodAdmission:
    """The plugins that write into the pods of one namespace."""

    def __init__(self, objects: Objects, namespace: str) -> None:
        self._state = ClusterState(objects)
        self._namespace = namespace
        self._last = AdmittedPod({}, {}, {})
        """What was admitted last: the pods of a role follow one another, and most have one spec."""

    def admit(self, spec: Json) -> AdmittedPod:
        """Return a pod's spec as admission leaves it. Accepts any data; never raises."""
        if self._last.written is not spec:
            self._last = self._admit(spec)
        return self._last

    def _admit(self, spec: Json) -> AdmittedPod:
        pod: Json = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": self._namespace},
            "spec": spec,
        }
        try:
            spend_on_defaults(Request(pod), self._state)
        except OutOfEvaluationsError:
            return AdmittedPod(spec, spec, {})

        limits = limits_of(self._namespace, self._state)
        ranged = spec
        if limits is not None:
            ranged = _without_copied_limits(spec, with_container_defaults(spec, limits))

        classed = ranged
        if spec.get("runtimeClassName"):
            classed = set_runtime_class(copy_without_nulls({**pod, "spec": ranged}), self._state)[
                "spec"
            ]

        runtime_class = f"RuntimeClass {nested_string(spec, 'runtimeClassName')}"
        writers = dict.fromkeys(new_values(spec, ranged), self._range_title)
        writers |= dict.fromkeys(new_values(ranged, classed), runtime_class)

        return AdmittedPod(spec, classed, writers)

    @cached_property
    def _range_title(self) -> str:
        names = [
            object_name(limit_range)
            for limit_range in self._state.in_namespace(_LIMIT_RANGE, self._namespace)
        ]
        if len(names) == 1:
            return f"LimitRange {self._namespace}/{names[0]}"
        return f"LimitRanges of {self._namespace}"


def pod_admission(objects: Objects, namespace: str) -> PodAdmission:
    """Return the plugins of a namespace; without objects of `WRITING_KINDS` they write nothing."""
    return objects.cached((pod_admission, namespace), lambda: PodAdmission(objects, namespace))


def _without_copied_limits(before: Json, after: Json) -> Json:
    """Return the spec that LimitRanger leaves, without the requests that it copies from a
    container's own limits: the server copies those in every namespace.
    """
    changed = dict(after)
    for key in ("containers", "initContainers"):
        pairs = zip(nested_maps(before, key), nested_maps(after, key), strict=True)
        if after.get(key):
            changed[key] = [_with_own_requests(*pair) for pair in pairs]
    return changed


def _with_own_requests(old: Json, new: Json) -> Json:
    copied = (
        nested_map(old, "resources", "limits").keys()
        - nested_map(old, "resources", "requests").keys()
    )
    requests = {
        name: value
        for name, value in nested_map(new, "resources", "requests").items()
        if name not in copied
    }
    resources = without_keys(nested_map(new, "resources"), "requests")
    if requests:
        resources["requests"] = requests

    return {**new, "resources": resources} if resources else old
