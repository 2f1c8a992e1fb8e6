"""ResourceQuota: what pods, claims, Services and all other objects use of the quotas of their
namespace.

Quotas with the same scopes count as one with the smallest remainder of each resource. Source:
Kubernetes 1.36, apiserver pkg/quota and plugin/pkg/admission/resourcequota,
pkg/quota/v1/evaluator/core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.admission.request import ClusterState, Request, is_namespaced, resource_of
from ptcompile.diagnostics import Path, Problems, problem_at
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.pod_spec import PREFERRED, REQUIRED
from ptcompile.kubernetes.quantity import NANO, Quantity
from ptcompile.kubernetes.resources import HUGE_PAGES, is_native_resource
from ptcompile.kubernetes.unstructured import (
    Json,
    as_int,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_strings,
    nested_value,
    object_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.amounts import Quantities

_QUOTA = ("v1", "ResourceQuota")
_ONE = Quantity(NANO)
_ZERO = Quantity(0)


class QuotaBound(NamedTuple):
    """One resource of a quota."""

    quota: str
    hard: Quantity
    used: Quantity

    @property
    def remaining(self) -> int:
        """The amount that is left, in nano units."""
        return self.hard.nano - self.used.nano


class QuotaScope(NamedTuple):
    """One scope, or one expression of a scope selector."""

    name: str
    operator: str = "Exists"
    values: tuple[str, ...] = ()

    def selects(self, value: str) -> bool:
        """Return whether the operator accepts a value, as a label selector does; an empty value
        means no value.
        """
        if self.operator == "In":
            return value in self.values
        if self.operator == "NotIn":
            return not value or value not in self.values
        return bool(value) == (self.operator == "Exists")


QuotaBounds = Mapping[tuple[QuotaScope, ...], Mapping[str, QuotaBound]]
"""QuotaBounds by the scopes of their quotas and by resource."""


def quota_problems(requests: Sequence[Request], state: ClusterState) -> Problems:
    """Yield what the quotas of the namespace reject of an object and of the pods that its
    controller creates.
    """
    written, *_ = requests
    bounds = _bounds_of(namespace_of(written.object), state)
    if not bounds or _is_counted(written) or not is_namespaced(written.kind, state):
        return

    used: dict[tuple[QuotaScope, ...], dict[str, Quantity]] = {scopes: {} for scopes in bounds}
    counted = sum(request.pods for request in requests)
    before = 0
    for request in requests:
        usage = _usage_of(request, state)
        for scopes, group in bounds.items():
            state.evaluations.spend(1 + len(scopes))
            if _matches(request, scopes):
                yield from _missing_amounts(request, group, state)
                yield from _exceeded_quotas(request, usage, group, used[scopes], (before, counted))
        before += request.pods


def _bounds_of(namespace: str, state: ClusterState) -> QuotaBounds:
    """Return the tightest bound of each resource in a namespace, by the scopes of its quotas."""
    key = ("quota", namespace)
    if key not in state.indexes:
        groups: dict[tuple[QuotaScope, ...], dict[str, QuotaBound]] = {}
        for quota in state.in_namespace(_QUOTA, namespace):
            group = groups.setdefault(_scopes_of(quota), {})
            used = amounts.quantities_of(nested_map(quota, "status"), "used")
            for name, hard in amounts.quantities_of(nested_map(quota, "spec"), "hard").items():
                bound = QuotaBound(object_name(quota), hard, used.get(name, _ZERO))
                if name not in group or bound.remaining < group[name].remaining:
                    group[name] = bound
        state.indexes[key] = groups

    bounds: QuotaBounds = state.indexes[key]
    return bounds


def _scopes_of(quota: Json) -> tuple[QuotaScope, ...]:
    spec = nested_map(quota, "spec")
    scopes = [QuotaScope(name) for name in nested_strings(spec, "scopes")]
    for item in nested_maps(spec, "scopeSelector", "matchExpressions"):
        name = nested_string(item, "scopeName")
        operator = nested_string(item, "operator")
        scopes.append(QuotaScope(name, operator, tuple(nested_strings(item, "values"))))
    return tuple(scopes)


def _matches(request: Request, scopes: tuple[QuotaScope, ...]) -> bool:
    """Return whether an object is in all scopes; only pods and claims have any."""
    spec = request.spec
    if request.is_pod:
        return all(
            scope.name in _POD_SCOPES and _POD_SCOPES[scope.name](spec, scope) for scope in scopes
        )
    if request.kind == _CLAIM:
        classes = [nested_string(spec, "volumeAttributesClassName")]
        return all(
            scope.name == "VolumeAttributesClass" and any(map(scope.selects, classes))
            for scope in scopes
        )

    return not scopes


def _is_terminating(spec: Json) -> bool:
    return (
        spec.get("activeDeadlineSeconds") is not None and as_int(spec["activeDeadlineSeconds"]) >= 0
    )


def _is_best_effort(spec: Json) -> bool:
    """Return whether no container has a positive request or limit of cpu or memory; pod-level
    ones decide alone.
    """
    level = nested_map(spec, "resources")
    containers = [*nested_maps(spec, "containers"), *nested_maps(spec, "initContainers")]
    parts = [level] if level else [nested_map(item, "resources") for item in containers]
    for resources in parts:
        for half in ("requests", "limits"):
            quantities = amounts.quantities_of(resources, half)
            if any(quantities.get(name, _ZERO).nano > 0 for name in ("cpu", "memory")):
                return False
    return True


def _crosses_namespaces(spec: Json) -> bool:
    """Return whether a pod (anti-)affinity term names namespaces or selects them."""
    for key in ("podAffinity", "podAntiAffinity"):
        affinity = nested_map(spec, "affinity", key)
        terms = nested_maps(affinity, REQUIRED)
        preferred = nested_maps(affinity, PREFERRED)
        terms = [*terms, *(nested_map(item, "podAffinityTerm") for item in preferred)]
        if any(
            term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms
        ):
            return True

    return False


_POD_SCOPES: dict[str, Callable[[Json, QuotaScope], bool]] = {
    "Terminating": lambda spec, _: _is_terminating(spec),
    "NotTerminating": lambda spec, _: not _is_terminating(spec),
    "BestEffort": lambda spec, _: _is_best_effort(spec),
    "NotBestEffort": lambda spec, _: not _is_best_effort(spec),
    "PriorityClass": lambda spec, scope: scope.selects(nested_string(spec, "priorityClassName")),
    "CrossNamespacePodAffinity": lambda spec, _: _crosses_namespaces(spec),
}


def _usage_of(request: Request, state: ClusterState) -> Quantities:
    """Return what one object uses, by the names of quotas."""
    resource = resource_of(request.kind, state)
    usage_of: Callable[[Json], Quantities] = _USAGES.get(resource.name, lambda _spec: {})
    usage = usage_of(request.spec)
    if request.old is not None:
        before = usage_of(nested_map(request.old, "spec"))
        growth = {name: amount - before.get(name, _ZERO) for name, amount in usage.items()}
        return {name: amount for name, amount in growth.items() if amount.nano > 0}

    counts = {f"count/{resource.name}": _ONE}
    if resource.name in _COUNTED:
        counts[resource.plural] = _ONE
    return {**counts, **usage}


def _is_counted(request: Request) -> bool:
    """Return whether an object is stored and counted already. Changes of claims and Services are
    counted again.
    """
    if request.old is None:
        return bool(nested_value(request.object, "metadata", "uid"))
    return request.kind not in (_CLAIM, ("v1", "Service"))


_COUNTED = frozenset(
    {
        "configmaps",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
    }
)
"""Kinds that quotas may count without the prefix `count/`."""


def _pod_usage(spec: Json) -> Quantities:
    usage: dict[str, Quantity] = {}
    for name, amount in amounts.pod_requests(spec).items():
        if name in _COMPUTE or name.startswith(HUGE_PAGES):
            usage[name] = amount
            usage[f"requests.{name}"] = amount
        elif not is_native_resource(name):
            usage[f"requests.{name}"] = amount
    limits = amounts.pod_limits(spec)
    return {**usage, **{f"limits.{name}": limits[name] for name in _COMPUTE if name in limits}}


_COMPUTE = ("cpu", "memory", "ephemeral-storage")


def _service_usage(spec: Json) -> Quantities:
    kind = spec.get("type")
    ports = nested_maps(spec, "ports")
    if kind not in ("NodePort", "LoadBalancer"):
        return {}

    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
        ports = [port for port in ports if port.get("nodePort")]
    usage = {"services.nodeports": Quantity(len(ports) * NANO)}
    if kind == "LoadBalancer":
        return {**usage, "services.loadbalancers": _ONE}

    return usage


def _claim_usage(spec: Json) -> Quantities:
    name = nested_string(spec, "storageClassName")
    usage = {"persistentvolumeclaims": _ONE}
    storage = amounts.quantities_of(nested_map(spec, "resources"), "requests").get("storage")
    if storage is not None:
        usage["requests.storage"] = storage
    if not name:
        return usage

    of_class = {
        f"{name}.storageclass.storage.k8s.io/{key}": amount for key, amount in usage.items()
    }
    return {**usage, **of_class}


_MAX_DEVICES = 32
"""What a request for all devices counts as (`AllocationResultsMaxSize`)."""


def _device_usage(spec: Json) -> Quantities:
    """Return the devices of a ResourceClaim by class; of alternatives, the largest number of
    each class counts.
    """
    usage: dict[str, Quantity] = {}
    for request in nested_maps(spec, "devices", "requests"):
        choices = nested_maps(request, "firstAvailable") or [
            nested_map(request, "exactly") or request
        ]
        most: dict[str, int] = {}
        for choice in choices:
            name = nested_string(choice, "deviceClassName")
            if choice.get("allocationMode") == "All":
                count = _MAX_DEVICES
            else:
                count = nested_int(choice, "count", default=1)
            most[name] = max(most.get(name, 0), count)

        counted = {
            f"{name}.deviceclass.resource.k8s.io/devices": Quantity(n * NANO)
            for name, n in most.items()
            if name
        }
        usage = amounts.add(usage, counted)

    return usage


_USAGES: dict[str, Callable[[Json], Quantities]] = {
    "pods": _pod_usage,
    "services": _service_usage,
    "persistentvolumeclaims": _claim_usage,
    "resourceclaims.resource.k8s.io": _device_usage,
}
_CLAIM = ("v1", "PersistentVolumeClaim")


_REQUIRED = (
    *(f"{half}{name}" for half in ("", "limits.", "requests.") for name in ("cpu", "memory")),
)
"""Resources of a quota that each container must set; the others may be absent."""


def _missing_amounts(
    request: Request, group: Mapping[str, QuotaBound], state: ClusterState
) -> Problems:
    """Yield a problem per quota whose resources some containers do not set."""
    required = sorted(name for name in _REQUIRED if name in group) if request.is_pod else []
    if not required or (
        state.versions.kubernetes >= (1, 34) and nested_map(request.spec, "resources")
    ):
        return

    missing: dict[str, dict[str, list[tuple[str, Path]]]] = {}
    for path, container, _ in request.containers():
        state.evaluations.spend(len(required))
        resources = nested_map(container, "resources")
        halves = {
            "requests": amounts.container_requests(resources),
            "limits": amounts.quantities_of(resources, "limits"),
        }
        for name in required:
            half, _, resource = name.rpartition(".")
            if resource not in halves[half or "requests"]:
                containers = missing.setdefault(group[name].quota, {}).setdefault(name, [])
                containers.append((nested_string(container, "name"), request.resources_path(path)))

    for quota, by_name in missing.items():
        parts: list[str] = []
        for name, pairs in by_name.items():
            containers_text = ",".join(sorted({container for container, _ in pairs}))
            parts.append(f"{name} for: {containers_text}")
        ((_, path), *_), *_ = by_name.values()
        text = f"failed quota: {quota}: must specify {'; '.join(parts)}"
        # `cpu` counts the field requests.cpu
        fields = [name if "." in name else f"requests.{name}" for name in by_name]
        help = f"set {' and '.join(fields)}, or add a LimitRange with defaults"
        yield problem_at("exceeds-quota", path, text, help, stage=request.stage)


def _exceeded_quotas(
    request: Request,
    usage: Quantities,
    group: Mapping[str, QuotaBound],
    used: dict[str, Quantity],
    counts: tuple[int, int],
) -> Problems:
    """Yield a problem per quota that has no room for the object, or for all pods of a role and the
    roles before.

    `used` is what the earlier pods use; `counts` are their number and that of all pods.
    """
    requested = {name: amount for name, amount in usage.items() if amount and name in group}
    pods = max(request.pods, 1)
    fitting = pods
    for name, amount in requested.items():
        remaining = group[name].remaining - used.get(name, _ZERO).nano
        if amount.nano > 0:
            fitting = min(fitting, max(remaining, 0) // amount.nano)
    if fitting < pods:
        yield from _rejections(request, requested, group, used, (fitting, *counts))

    for name, amount in requested.items():
        used[name] = used.get(name, _ZERO) + amount * pods


def _rejections(
    request: Request,
    requested: Quantities,
    group: Mapping[str, QuotaBound],
    earlier: Quantities,
    counts: tuple[int, int, int],
) -> Problems:
    """Yield a problem per quota for the first pod that does not fit."""
    fitting, before, total = counts
    exceeded: dict[str, dict[str, tuple[Quantity, Quantity, Quantity]]] = {}
    for name, amount in sorted(requested.items()):
        bound = group[name]
        used = bound.used + amount * fitting + earlier.get(name, _ZERO)
        if used.nano + amount.nano > bound.hard.nano:
            exceeded.setdefault(bound.quota, {})[name] = (amount, used, bound.hard)

    for quota, rows in exceeded.items():
        columns = [
            ",".join(f"{name}={row[column]}" for name, row in rows.items()) for column in range(3)
        ]
        text = "exceeded quota: {}, requested: {}, used: {}, limited: {}".format(quota, *columns)
        if request.pods and total > 1:
            text += f", for pod {before + fitting + 1} of {total}"
        path = _usage_path(request, next(iter(rows)))
        if request.is_pod:
            help = "request less, use fewer pods, or raise the quota"
        else:
            help = "request less, or raise the quota"

        yield problem_at("exceeds-quota", path, text, help, stage=request.stage)


def _usage_path(request: Request, name: str) -> Path:
    """Return the path of the field that a quota of this name counts: an amount, the pods, or the
    kind for a quota of objects.
    """
    if request.is_pod and not name.startswith("count/"):
        first = next(request.containers(), None)
        if first is None:
            return request.path_of("spec")
        path, _, _ = first
        return request.resources_path(path)
    if name.endswith("requests.storage"):
        return ("spec", "resources", "requests", "storage")
    if name.endswith("/devices"):
        return ("spec", "devices", "requests")
    if not request.pods:
        return request.path_of("kind")
    return request.path_of("spec")
