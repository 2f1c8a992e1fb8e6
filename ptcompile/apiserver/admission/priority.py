"""Priority: the number and the preemption policy of a pod come from its class.

A class that is not in the files is unknown: the cluster may have it, and it may have a default
class.
Source: Kubernetes 1.36, plugin/pkg/admission/priority.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.admission.request import ClusterState, Request
from ptcompile.apiserver.validation.values import PREEMPTION_POLICIES
from ptcompile.diagnostics import Path, Problem, Problems
from ptcompile.diagnostics.field_errors import forbidden_change
from ptcompile.kubernetes.unstructured import Json, nested_int, nested_string, object_name

_KIND = ("scheduling.k8s.io/v1", "PriorityClass")
_HIGHEST_OF_USERS = 10**9
"""The highest value of a class other than the system's (`HighestUserDefinablePriority`)."""


class PodPriority(NamedTuple):
    """What a class gives its pods."""

    class_name: str
    value: int
    preemption: str = "PreemptLowerPriority"


_SYSTEM = {
    name: PodPriority(name, value)
    for name, value in (
        ("system-cluster-critical", 2 * 10**9),
        ("system-node-critical", 2 * 10**9 + 1000),
    )
}
"""Classes that the server itself creates."""
_NO_CLASS = PodPriority("", 0)


def with_class(request: Request, state: ClusterState) -> Request:
    """Return the request for a pod with the class, priority and preemption policy that the
    server sets.
    """
    if not request.is_pod or request.old is not None:
        return request

    priority_class = _known_priority(request.spec, state)
    if priority_class is None:
        return request

    set_fields = {"priority": priority_class.value, "preemptionPolicy": priority_class.preemption}
    if priority_class.class_name:
        set_fields["priorityClassName"] = priority_class.class_name
    missing = {name: value for name, value in set_fields.items() if request.spec.get(name) is None}

    return request._replace(object={**request.object, "spec": {**request.spec, **missing}})


def priority_of(spec: Json, objects: Sequence[Json]) -> int | None:
    """Return the priority of a pod among these objects of its cluster, or None if its class is
    not one of them.
    """
    priority_class = _known_priority(spec, ClusterState(objects))
    if priority_class is None:
        return None
    return nested_int(spec, "priority", default=priority_class.value)


def _known_priority(spec: Json, state: ClusterState) -> PodPriority | None:
    """Return what a pod's class gives, or None if its class is unknown."""
    priority_class = _priority_of(spec, state)
    if priority_class is None and not spec.get("priorityClassName"):
        return _NO_CLASS
    return priority_class


def _priority_of(spec: Json, state: ClusterState) -> PodPriority | None:
    """Return what a pod's class gives, or the default class for "", or None if the files have no
    such class.

    Of several default classes the one with the lowest value counts.
    """
    name = nested_string(spec, "priorityClassName")
    return _SYSTEM.get(name) or _classes(state).get(name)


def _classes(state: ClusterState) -> dict[str, PodPriority]:
    """Return the classes of the files by name; the default class has the name "" too."""
    key = ("priority", "")
    if key not in state.indexes:
        written = state.of_kind(_KIND)
        defaults = [_read_class(item) for item in written if item.get("globalDefault") is True]
        classes = {object_name(item): _read_class(item) for item in written}
        if defaults:
            classes[""] = min(defaults, key=lambda priority_class: priority_class.value)
        state.indexes[key] = classes

    classes_by_name: dict[str, PodPriority] = state.indexes[key]
    return classes_by_name


def _read_class(written: Json) -> PodPriority:
    preemption = nested_string(written, "preemptionPolicy") or "PreemptLowerPriority"
    return PodPriority(object_name(written), nested_int(written, "value"), preemption)


def priority_problems(requests: Sequence[Request], state: ClusterState) -> Problems:
    """Yield a problem for each pod whose priority or preemption policy is not its class's, and for
    a second default class.

    Without a class in the pod or in the files they are warnings: the cluster may have a default
    class.
    """
    for request in requests:
        if request.is_pod and request.old is None:
            yield from _pod_problems(request, state)
    written, *_ = requests
    if written.kind == _KIND and written.object.get("globalDefault") is True:
        yield from _second_default(written.object, state)


def _pod_problems(request: Request, state: ClusterState) -> Problems:
    spec = request.spec
    priority_class = _priority_of(spec, state)
    # a state that lists priority classes lists the default class too
    is_certain = priority_class is not None or bool(_classes(state))
    if priority_class is None and spec.get("priorityClassName"):
        if nested_int(spec, "priority") > _HIGHEST_OF_USERS:
            yield _wrong_priority(request, spec, "")
        return

    priority_class = priority_class or _NO_CLASS
    priority = spec.get("priority")
    preemption = spec.get("preemptionPolicy")
    if type(priority) is int and priority != priority_class.value:
        problem = _wrong_priority(
            request, spec, _computed_value_text(priority_class.value, is_certain)
        )
        yield _with_severity(problem, is_certain or priority > _HIGHEST_OF_USERS)
    if preemption in PREEMPTION_POLICIES and preemption != priority_class.preemption:
        why = (
            f"the string value of PreemptionPolicy ({preemption}) must not be provided in pod spec"
        )
        path = request.path_of("spec", "preemptionPolicy")
        help = (
            f"remove it, or name a class with preemptionPolicy: {preemption} in priorityClassName"
        )
        why += _computed_value_text(priority_class.preemption, is_certain)
        yield _with_severity(_forbidden_field(request, path, why, help), is_certain)


def _wrong_priority(request: Request, spec: Json, suffix: str) -> Problem:
    why = f"the integer value of priority ({spec.get('priority')}) must not be provided in pod spec"
    if spec.get("priorityClassName"):
        help = "remove it: the class sets it"
    else:
        help = "name a class in priorityClassName"
    return _forbidden_field(request, request.path_of("spec", "priority"), why + suffix, help)


def _forbidden_field(request: Request, path: Path, why: str, help: str) -> Problem:
    return forbidden_change(path, why, help)._replace(stage=request.stage)


def _computed_value_text(value: object, is_known: bool) -> str:
    """Return the end of the server's message, which only a known class allows to complete."""
    if is_known:
        return f"; priority admission controller computed {value} from the given PriorityClass name"
    return ""


def _with_severity(problem: Problem, is_certain: bool) -> Problem:
    if is_certain:
        return problem
    return problem._replace(severity="warning")


def _second_default(written: Json, state: ClusterState) -> Problems:
    """Yield a problem if an earlier class of the files is the default already."""
    for other in state.objects.of_kind(_KIND):
        if other is written:
            return
        if other.get("globalDefault") is True and object_name(other) != object_name(written):
            why = (
                f"PriorityClass {object_name(other)} is already marked as default. Only one "
                "default can exist"
            )
            yield forbidden_change(
                ("globalDefault",), why, "remove globalDefault from one of the two"
            )
            return
