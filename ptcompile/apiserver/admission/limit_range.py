"""LimitRanger: defaults of containers, then the bounds of containers, pods and claims.

Of several LimitRanges of a namespace the strictest bound decides, and the first default. The server
answers with all errors of one LimitRange in any order; here each is a finding at its field. Source:
Kubernetes 1.36, plugin/pkg/admission/limitranger, and `SetDefaults_LimitRangeItem` of
pkg/apis/core/v1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.admission.request import ClusterState, Request
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.resources import check_amounts
from ptcompile.diagnostics import Path, Problem, Problems, problem_at
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.quantity import MILLI, NANO, Quantity
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mappings,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    without_falsy,
    without_none,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.amounts import Quantities

_LIMIT_RANGE = ("v1", "LimitRange")
_CLAIM = ("v1", "PersistentVolumeClaim")
_MAX_EXACT = (2**63 - 1) // 1000
"""Amounts up to this value are compared in thousandths, larger ones as whole numbers
(`resource.MaxMilliValue`).
"""


class NamespaceLimits(NamedTuple):
    """All LimitRanges of a namespace."""

    bounds: Mapping[str, Mapping[str, Quantities]]
    """The strictest bounds by type (`Container`), side (`min`) and resource."""
    limits: Quantities
    """Default limits of containers."""
    requests: Quantities
    """Default requests of containers."""


def limits_of(namespace: str, state: ClusterState) -> NamespaceLimits | None:
    """Return the limits of a namespace, or None if it has no LimitRange."""
    key = ("limits", namespace)
    if key not in state.indexes:
        ranges = state.in_namespace(_LIMIT_RANGE, namespace)
        state.indexes[key] = _merge(ranges) if ranges else None
    limits: NamespaceLimits | None = state.indexes[key]
    return limits


def _merge(ranges: Sequence[Json]) -> NamespaceLimits:
    """Return the bounds and defaults of several LimitRanges: the strictest bounds and the first
    defaults.
    """
    bounds: dict[str, dict[str, dict[str, Quantity]]] = {}
    limits: dict[str, Quantity] = {}
    requests: dict[str, Quantity] = {}
    for limit_range in ranges:
        own_limits: dict[str, Quantity] = {}
        own_requests: dict[str, Quantity] = {}
        for item in nested_maps(limit_range, "spec", "limits"):
            kind = nested_string(item, "type")
            sides = bounds.setdefault(kind, {})
            for side, stricter in _STRICTER.items():
                written = amounts.quantities_of(item, side)
                sides[side] = amounts.combine(sides.get(side, {}), written, stricter)

            if kind == "Container":
                default = {
                    **amounts.quantities_of(item, "max"),
                    **amounts.quantities_of(item, "default"),
                }
                own_limits |= default
                own_requests |= {**amounts.quantities_of(item, "min"), **default}
                own_requests |= amounts.quantities_of(item, "defaultRequest")

        limits = {**own_limits, **limits}
        requests = {**own_requests, **requests}

    return NamespaceLimits(bounds, limits, requests)


_STRICTER: dict[str, Callable[[Quantity, Quantity], Quantity]] = {
    "min": max,
    "max": min,
    "maxLimitRequestRatio": min,
}


def with_container_defaults(spec: Json, limits: NamespaceLimits) -> Json:
    """Return a pod spec with default limits and requests. A limit without a request is the
    request, as on any pod.
    """
    changed = {
        key: [_container_with_defaults(container, limits) for container in as_mappings(spec[key])]
        for key in ("containers", "initContainers")
        if spec.get(key)
    }
    return {**spec, **changed}


def _container_with_defaults(container: Json, limits: NamespaceLimits) -> Json:
    resources = nested_map(container, "resources")
    limits_written = without_none(nested_map(resources, "limits"))
    requests = without_none(nested_map(resources, "requests"))
    filled = {
        "limits": {**amounts.as_text(limits.limits), **limits_written},
        "requests": {**amounts.as_text(limits.requests), **limits_written, **requests},
    }

    return {**container, "resources": {**resources, **without_falsy(filled)}}


def spend_on_defaults(request: Request, state: ClusterState) -> None:
    """Pay for the defaults of all containers. Raises OutOfEvaluationsError if they are too many."""
    limits = limits_of(namespace_of(request.object), state) if request.is_pod else None
    if limits is not None:
        count = len(limits.limits) + len(limits.requests)
        state.evaluations.spend(_EVALUATIONS_PER_DEFAULT * count * _count_containers(request.spec))


_EVALUATIONS_PER_DEFAULT = 5


def _count_containers(spec: Json) -> int:
    return sum(len(nested_maps(spec, key)) for key in ("containers", "initContainers"))


def limit_problems(requests: Sequence[Request], state: ClusterState) -> Problems:
    """Yield what a namespace's LimitRanges reject. Pods are only checked when they are created."""
    for request in requests:
        if not request.is_pod and request.kind != _CLAIM:
            continue
        limits = limits_of(namespace_of(request.object), state)
        if limits is None:
            continue
        if request.kind == _CLAIM:
            yield from _claim_problems(request, limits)
        elif request.old is None:
            for path, container, written in request.containers():
                yield from _default_problems(request, path, container, written)
                yield from _container_problems(request, path, container, limits, state)
            yield from _pod_problems(request, limits, state)


def _container_problems(
    request: Request, path: Path, container: Json, limits: NamespaceLimits, state: ClusterState
) -> Problems:
    resources = nested_map(container, "resources")
    requested = amounts.container_requests(resources)
    limited = amounts.quantities_of(resources, "limits")
    for (name, half), message in _violations("Container", limits, requested, limited, state):
        yield _to_problem(
            request, request.resources_path(path, *((half, name) if half else ())), message
        )


def _default_problems(request: Request, path: Path, container: Json, written: Json) -> Problems:
    """Yield a problem for a request above the limit that a LimitRange sets: pods are validated
    after that.
    """
    resources = nested_map(container, "resources")
    written_resources = nested_map(written, "resources")
    if resources.get("limits") == written_resources.get("limits"):
        return

    resources_path = (*path, "resources")
    written_problems = _amount_problems(written_resources, resources_path)
    for problem in _amount_problems(resources, resources_path):
        if problem not in written_problems:
            yield problem._replace(
                help="set the limit: a LimitRange of the namespace sets a lower one",
                fix=None,
                stage=request.stage,
            )


def _amount_problems(resources: Json, path: Path) -> FieldErrors:
    problems = FieldErrors()
    check_amounts(FieldValue(resources, path, CheckScope(ApiServer(), problems)))
    return problems


def _pod_problems(request: Request, limits: NamespaceLimits, state: ClusterState) -> Problems:
    if not any(limits.bounds.get("Pod", {}).values()):
        return

    state.evaluations.spend(_count_containers(request.spec))
    # the sums of the plugin leave out the overhead
    spec = {**request.spec, "overhead": None}
    for (name, half), message in _violations(
        "Pod", limits, amounts.pod_requests(spec), amounts.pod_limits(spec), state
    ):
        level = nested_map(spec, "resources", half) if half else {}
        steps = ("spec", "resources", half, name) if name in level else ("spec",)
        yield _to_problem(request, request.path_of(*steps), message)


def _claim_problems(request: Request, limits: NamespaceLimits) -> Problems:
    sides = limits.bounds.get("PersistentVolumeClaim", {})
    kind = "PersistentVolumeClaim"
    requested = amounts.quantities_of(nested_map(request.spec, "resources"), "requests")
    for side, word in (("min", "minimum"), ("max", "maximum")):
        for name, bound in sides.get(side, {}).items():
            message = f"{word} {name} usage per {kind} is {bound}"
            amount = requested.get(name)
            path = request.path_of(
                "spec", "resources", "requests", *(() if amount is None else (name,))
            )
            if amount is None:
                yield _to_problem(request, path, f"{message}.  No request is specified")
            elif _is_below(amount, bound) if side == "min" else _is_below(bound, amount):
                yield _to_problem(request, path, f"{message}, but request is {amount}")


def _violations(
    kind: str,
    limits: NamespaceLimits,
    requests: Quantities,
    limited: Quantities,
    state: ClusterState,
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the resource, the half of the resources that is wrong (or "" if it is missing) and
    the server's message.
    """
    sides = limits.bounds.get(kind, {})
    state.evaluations.spend(sum(map(len, sides.values())))
    for side, (words, check) in _CHECKS.items():
        for name, bound in sides.get(side, {}).items():
            error = check(requests.get(name), limited.get(name), bound)
            if error is not None:
                half, detail = error
                yield (name, half), f"{words.format(name)} per {kind} is {bound}{detail}"


_HalfAndDetail = tuple[str, str]


def _check_min(
    request: Quantity | None, limit: Quantity | None, bound: Quantity
) -> _HalfAndDetail | None:
    if request is None:
        return "", ".  No request is specified"
    if _is_below(request, bound):
        return "requests", f", but request is {request}"
    if limit is not None and _is_below(limit, bound):
        return ("limits", f", but limit is {limit}")
    return None


def _check_max(
    request: Quantity | None, limit: Quantity | None, bound: Quantity
) -> _HalfAndDetail | None:
    if limit is None:
        return "", ".  No limit is specified"
    if _is_below(bound, limit):
        return "limits", f", but limit is {limit}"
    if request is not None and _is_below(bound, request):
        return ("requests", f", but request is {request}")
    return None


def _check_ratio(
    request: Quantity | None, limit: Quantity | None, bound: Quantity
) -> _HalfAndDetail | None:
    if not request:
        return "", ", but no request is specified or request is 0"
    if not limit:
        return "", ", but no limit is specified or limit is 0"

    small = all(amount.value <= _MAX_EXACT for amount in (request, limit, bound))
    unit = MILLI if small else NANO
    ratio = limit.rounded(unit).nano / request.rounded(unit).nano
    if ratio > bound.nano / NANO:
        return ("limits", f", but provided ratio is {ratio:.6f}")

    return None


_CHECKS = {
    "min": ("minimum {} usage", _check_min),
    "max": ("maximum {} usage", _check_max),
    "maxLimitRequestRatio": ("{} max limit to request ratio", _check_ratio),
}


def _is_below(a: Quantity, b: Quantity) -> bool:
    """Return whether an amount is below another, as the server compares them: large ones as
    whole numbers.
    """
    if a.value <= _MAX_EXACT and b.value <= _MAX_EXACT:
        return a.rounded().nano < b.rounded().nano
    return a.value < b.value


def _to_problem(request: Request, path: Path, text: str) -> Problem:
    if "No " in text or "no " in text:
        help = "set it in the container, or use another namespace"
    else:
        help = "use an amount that the LimitRange allows, or another namespace"
    return problem_at("breaks-limit-range", path, text, help, stage=request.stage)
