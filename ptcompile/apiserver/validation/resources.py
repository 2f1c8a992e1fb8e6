"""Requests and limits of containers and of whole pods.

Source: docs/facts/api-server.md#resources-and-quantities 47 to 63, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.lazy import bounded_cache
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.context import PodContext, is_dropped
from ptcompile.apiserver.validation.metadata import why_not_key
from ptcompile.diagnostics import Edit, Fix, Path, field_path, fixes
from ptcompile.diagnostics.fixes import Cure
from ptcompile.kubernetes import names
from ptcompile.kubernetes.quantity import NANO, Quantity, parse
from ptcompile.kubernetes.resources import HUGE_PAGES, is_native_resource, never_shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_CONTAINER: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_HUGE: Final = HUGE_PAGES
_ResourceQuantities = dict[str, Quantity]


@bounded_cache(1024)
def why_not_resource(name: str) -> str | None:
    """Why a container may not ask for a resource of this name (Kubernetes 1.36 `validateContainerResourceName`)."""
    if name in _CONTAINER:
        return None
    if why := why_not_key(name):
        return why
    if "/" not in name:
        if name.startswith(_HUGE):
            return None
        return "must be a standard resource for containers (cpu, memory, ephemeral-storage) or fully qualified"
    if is_native_resource(name):
        return None
    # The server asks whether a quota could be named after it.
    if name.startswith("requests.") or why_not_key(f"requests.{name}"):
        return "doesn't follow extended resource name standard"
    return None


def check_resources(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    """`resources` of a container."""
    if type(value) is not dict:
        return
    if value.get("limits") or value.get("requests"):
        check_amounts(value, path, scope.found)
    if value.get("claims") and not is_dropped("claims", scope.context):
        _check_claims(value["claims"], (*path, "claims"), scope)


def check_amounts(resources: dict[str, Any], path: Path, found: f.Problems, *, partial: bool = False) -> None:
    """Names, amounts and pairs of requests and limits.

    `partial` is for resources that an operator merges over others: what is absent here may stand there.
    """
    before = len(found)
    limits = _read(resources.get("limits"), (*path, "limits"), found, partial)
    if len(found) == before and resources.get("requests") == resources.get("limits"):
        _check_huge_alone(limits, limits, path, found, partial)
        return  # the usual case, in which neither the amounts nor the pairs can be wrong
    requests = _read(resources.get("requests"), (*path, "requests"), found, partial)
    written = f.as_field_mapping(resources.get("limits"))
    for name, amount in requests.items():
        limit = limits.get(name)
        firm = never_shared(name)
        if limit is None:
            # A limit that is there and cannot be read is another mistake.
            if firm and not partial and name not in written:
                why = "Limit must be set for non overcommitable resources"
                as_written = f.as_field_mapping(resources.get("requests"))[name]
                fix = Fix(f"set the limit to {amount}", (Edit("set", (*path, "limits", name), as_written),), safe=True)
                f.required(found, (*path, "limits"), why, f"set limits[{name}] to the request", fix=fix)
        elif (firm and amount != limit) or amount > limit:
            relation = "equal to" if firm else "less than or equal to"
            why = f"must be {relation} {name} limit of {limit}"
            help = "set both to the same amount" if firm else "lower the request or raise the limit"
            here = (*path, "requests", name)
            cure = Cure(f"set the request to {limit}", "set", written[name], safe=False) if firm else None
            f.invalid(found, here, str(amount), why, help, field_path(here[:-1]), fix=cure and cure.at(here))
    _check_huge_alone(limits, requests, path, found, partial)


def _read(amounts: Any, path: Path, found: f.Problems, partial: bool) -> _ResourceQuantities:
    out: _ResourceQuantities = {}
    if type(amounts) is not dict:
        return out
    for name, text in amounts.items():
        if why := why_not_resource(name):
            here = (*path, name)
            meant = closest_match(name, (*_CONTAINER, "nvidia.com/gpu"))
            help = f"did you mean {meant}?" if meant else "write the device with its domain, for example nvidia.com/gpu"
            cure = fixes.fix_key(name, meant, amounts)
            f.invalid(found, here, name, why, help, f.key_path(here), fix=cure and cure.at(here))
            continue
        # A null in a map of quantities is decoded as 0.
        amount = parse(0 if text is None and not partial else text)
        if amount is not None:
            out[name] = amount = amount if amount.nano % NANO == 0 else amount.rounded()
            _check_amount(name, amount, path, found)
    return out


def _check_amount(name: str, amount: Quantity, at: Path, found: f.Problems) -> None:
    """One amount of the requests or limits that stand at `at`."""
    if amount.nano < 0:
        path = (*at, name)
        f.invalid(found, path, str(amount), "must be greater than or equal to 0", at=f.key_path(path))
    elif not is_native_resource(name) and not amount.is_integer:
        path = (*at, name)
        help = "ask for whole devices: a share of one has its own resource name"
        f.invalid(found, path, str(amount), "must be an integer", help, f.key_path(path))
    elif name.startswith(_HUGE):
        page = parse(name[len(_HUGE) :])
        if page is None or page.value == 0 or amount.value % page.value:
            path = (*at, name)
            f.invalid(found, path, str(amount), "must be an integer multiple of page size", at=f.key_path(path))


def _check_huge_alone(
    limits: _ResourceQuantities, requests: _ResourceQuantities, path: Path, found: f.Problems, partial: bool
) -> None:
    asked = limits.keys() | requests.keys()
    if partial or asked & {"cpu", "memory"}:
        return
    if any(name.startswith(_HUGE) for name in asked):
        f.forbidden(found, path, "HugePages require cpu or memory", "ask for cpu or memory too")


def _check_claims(claims: Any, path: Path, scope: PodContext) -> None:
    found, seen = scope.found, set[tuple[str, str]]()
    for index, claim in f.indexed_mappings(claims):
        name, request = claim.get("name"), claim.get("request") or ""
        here = (*path, index)
        if f.is_empty(name):
            f.required(found, here, help="name an entry of the pod's resourceClaims")
            continue
        if type(name) is not str or type(request) is not str:
            continue
        if request and (why := names.why_not_dns_label(request)):
            f.invalid(found, (*here, "request"), request, why)
        if (name, request) in seen or (name, "") in seen or (not request and any(n == name for n, _ in seen)):
            f.duplicate(found, here, f"{name}/{request}" if request else name)
        seen.add((name, request))
        if scope.claims is not None and name not in scope.claims:
            f.not_found(found, here, name, "declare it in the pod's resourceClaims")


def check_pod_resources(value: Any, path: Path, scope: PodContext) -> None:
    """`spec.resources`, for the pod as a whole (Kubernetes 1.34 and later; older servers drop it)."""
    if type(value) is not dict or not scope.context.at_least(34):
        return
    found = scope.found
    if f.as_field_mapping(scope.spec.get("os")).get("name") == "windows":
        f.forbidden(found, path, "may not be set for a windows pod")
        return
    if value.get("claims") is not None:
        f.forbidden(found, (*path, "claims"), "claims may not be set for Resources at pod-level")
    allowed = {"cpu", "memory"}
    for side in ("limits", "requests"):
        for name in f.as_field_mapping(value.get(side)):
            if name not in allowed and not name.startswith(_HUGE):
                here = (*path, side, name)
                help = "ask for it in a container"
                f.unsupported(found, here, name, ("cpu", "hugepages-", "memory"), help, f.key_path(here))
    core = {
        side: {n: v for n, v in f.as_field_mapping(value.get(side)).items() if n in allowed or n.startswith(_HUGE)}
        for side in ("limits", "requests")
    }
    check_amounts(core, path, found, partial=not scope.template)
    _check_sums(core, path, scope)


def _check_sums(pod: dict[str, Any], path: Path, scope: PodContext) -> None:
    found, total = scope.found, _total(scope, _requests)
    for name, text in pod["requests"].items():
        amount = parse(text)
        if amount is not None and name in total and total[name] > amount:
            here = (*path, "requests", name)
            why = f"must be greater than or equal to aggregate container requests of {total[name]}"
            f.invalid(found, here, str(amount), why, "raise it, or lower the containers'", f.key_path(here))
    _check_huge_sums(pod, path, scope)
    for index, container in f.indexed_mappings(scope.spec.get("containers")):
        for name, text in f.as_field_mapping(f.as_field_mapping(container.get("resources")).get("limits")).items():
            limit, cap = parse(text), parse(pod["limits"].get(name))
            if limit is not None and cap is not None and limit > cap:
                here = ("spec", "containers", index, "resources", "limits", name)
                at = f"{field_path(path)}.containers[{index}][{name}].limits"
                why = f"must be less than or equal to pod limits of {cap}"
                f.invalid(found, (*path[:-2], *here), str(limit), why, "lower it, or raise the pod's limit", at)


def _check_huge_sums(pod: dict[str, Any], path: Path, scope: PodContext) -> None:
    total = _total(scope, _limits)
    for name, text in pod["limits"].items():
        cap = parse(text)
        if name.startswith(_HUGE) and cap is not None and name in total and total[name] > cap:
            here = (*path, "limits", name)
            why = f"must be greater than or equal to aggregate container limits of {total[name]}"
            f.invalid(scope.found, here, str(cap), why, "raise it, or lower the containers'", f.key_path(here))


def _total(scope: PodContext, asks: Callable[[dict[str, Any], PodContext], _ResourceQuantities]) -> _ResourceQuantities:
    """What all containers ask for together: mains and sidecars summed, or the greatest init container."""
    total: _ResourceQuantities = {}
    peak: _ResourceQuantities = {}
    for _, container in f.indexed_mappings(scope.spec.get("containers")):
        _add(total, asks(container, scope))
    sidecars: _ResourceQuantities = {}
    for _, container in f.indexed_mappings(scope.spec.get("initContainers")):
        asked = asks(container, scope)
        if container.get("restartPolicy") == "Always":
            _add(total, asked)
            _add(sidecars, asked)
            asked = sidecars
        else:
            asked = {n: q + sidecars[n] if n in sidecars else q for n, q in asked.items()}
        for name, amount in asked.items():
            peak[name] = max(peak.get(name, amount), amount)
    return {name: max(total.get(name, q), peak.get(name, q)) for name, q in (total | peak).items()}


def _requests(container: dict[str, Any], scope: PodContext) -> _ResourceQuantities:
    resources = f.as_field_mapping(container.get("resources"))
    asked = f.as_field_mapping(resources.get("requests"))
    if not scope.template:  # only a Pod's requests are filled in from its limits
        asked = {**f.as_field_mapping(resources.get("limits")), **{k: v for k, v in asked.items() if v is not None}}
    return {name: q for name, text in asked.items() if (q := parse(text)) is not None}


def _limits(container: dict[str, Any], scope: PodContext) -> _ResourceQuantities:
    limits = f.as_field_mapping(f.as_field_mapping(container.get("resources")).get("limits"))
    return {name: q for name, text in limits.items() if (q := parse(text)) is not None}


def _add(total: _ResourceQuantities, more: _ResourceQuantities) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount
