"""Requests and limits of containers and of whole pods.

Source: docs/facts/api-server.md#resources-and-quantities 47 to 63, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile._internal.lazy import bounded_cache
from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.validation.context import PodContext, is_dropped
from ptcompile.apiserver.validation.metadata import why_not_key
from ptcompile.diagnostics import Edit, Fix, Path, field_path, fixes
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings, is_empty, key_path
from ptcompile.diagnostics.fixes import FixTemplate
from ptcompile.kubernetes import names
from ptcompile.kubernetes.amounts import container_requests, quantities_of, sum_containers
from ptcompile.kubernetes.quantity import NANO, Quantity, parse
from ptcompile.kubernetes.resources import HUGE_PAGES, is_native_resource, never_shared
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map

_CONTAINER_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})
_HUGE = HUGE_PAGES
_ResourceQuantities = dict[str, Quantity]


@bounded_cache(1024)
def why_not_resource(name: str) -> str | None:
    """Return why a container may not request a resource of this name, or None (Kubernetes 1.36
    `validateContainerResourceName`).
    """
    if name in _CONTAINER_RESOURCES:
        return None
    if why := why_not_key(name):
        return why
    if "/" not in name:
        if name.startswith(_HUGE):
            return None
        return "must be a standard resource for containers (cpu, memory, ephemeral-storage) or fully qualified"
    if is_native_resource(name):
        return None
    # the server checks that a quota can have this name
    if name.startswith("requests.") or why_not_key(f"requests.{name}"):
        return "doesn't follow extended resource name standard"
    return None


def check_resources(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    """Check `resources` of a container."""
    if type(value) is not dict:
        return
    if value.get("limits") or value.get("requests"):
        check_amounts(value, path, scope.problems)
    if value.get("claims") and not is_dropped("claims", scope.context):
        _check_claims(value["claims"], (*path, "claims"), scope)


def check_amounts(resources: Json, path: Path, problems: FieldErrors, *, partial: bool = False) -> None:
    """Check the names and amounts of requests and limits, and each request against its limit.

    `partial` is for resources that an operator merges over others: a missing limit may come from there.
    """
    before = len(problems)
    limits = _read_amounts(resources.get("limits"), (*path, "limits"), problems, partial)
    if len(problems) == before and resources.get("requests") == resources.get("limits"):
        _check_huge_pages(limits, limits, path, problems, partial)
        return  # the usual case: the amounts are checked, and equal pairs are valid
    requests = _read_amounts(resources.get("requests"), (*path, "requests"), problems, partial)
    written = nested_map(resources, "limits")
    for name, amount in requests.items():
        limit = limits.get(name)
        is_exact = never_shared(name)
        if limit is None:
            # an unreadable limit is reported elsewhere
            if is_exact and not partial and name not in written:
                why = "Limit must be set for non overcommitable resources"
                as_written = nested_map(resources, "requests")[name]
                fix = Fix(f"set the limit to {amount}", (Edit("set", (*path, "limits", name), as_written),), safe=True)
                problems.required((*path, "limits"), why, f"set limits[{name}] to the request", fix=fix)
        elif (is_exact and amount != limit) or amount > limit:
            relation = "equal to" if is_exact else "less than or equal to"
            why = f"must be {relation} {name} limit of {limit}"
            help = "set both to the same amount" if is_exact else "lower the request or raise the limit"
            amount_path = (*path, "requests", name)
            template = (
                FixTemplate(f"set the request to {limit}", "set", written[name], safe=False) if is_exact else None
            )
            problems.invalid(
                amount_path,
                str(amount),
                why,
                help,
                field_path(amount_path[:-1]),
                fix=template and template.at(amount_path),
            )
    _check_huge_pages(limits, requests, path, problems, partial)


def _read_amounts(amounts: Any, path: Path, problems: FieldErrors, partial: bool) -> _ResourceQuantities:
    out: _ResourceQuantities = {}
    if type(amounts) is not dict:
        return out
    for name, text in amounts.items():
        if why := why_not_resource(name):
            quantity_path = (*path, name)
            suggestion = closest_match(name, (*_CONTAINER_RESOURCES, "nvidia.com/gpu"))
            help = (
                f"did you mean {suggestion}?"
                if suggestion
                else "write the device with its domain, for example nvidia.com/gpu"
            )
            template = fixes.fix_key(name, suggestion, amounts)
            problems.invalid(
                quantity_path,
                name,
                why,
                help,
                key_path(quantity_path),
                fix=template and template.at(quantity_path),
            )
            continue
        # the server decodes a null quantity as 0
        amount = parse(0 if text is None and not partial else text)
        if amount is not None:
            out[name] = amount = amount if amount.nano % NANO == 0 else amount.rounded()
            _check_amount(name, amount, path, problems)
    return out


def _check_amount(name: str, amount: Quantity, side_path: Path, problems: FieldErrors) -> None:
    """Check one amount of the requests or limits at `side_path`."""
    if amount.nano < 0:
        amount_path = (*side_path, name)
        problems.invalid(amount_path, str(amount), "must be greater than or equal to 0", field=key_path(amount_path))
    elif not is_native_resource(name) and not amount.is_integer:
        amount_path = (*side_path, name)
        help = "request whole devices: a share of a device has its own resource name"
        problems.invalid(amount_path, str(amount), "must be an integer", help, key_path(amount_path))
    elif name.startswith(_HUGE):
        page = parse(name[len(_HUGE) :])
        if page is None or page.value == 0 or amount.value % page.value:
            amount_path = (*side_path, name)
            problems.invalid(
                amount_path,
                str(amount),
                "must be an integer multiple of page size",
                field=key_path(amount_path),
            )


def _check_huge_pages(
    limits: _ResourceQuantities, requests: _ResourceQuantities, path: Path, problems: FieldErrors, partial: bool
) -> None:
    resource_names = limits.keys() | requests.keys()
    if partial or resource_names & {"cpu", "memory"}:
        return
    if any(name.startswith(_HUGE) for name in resource_names):
        problems.forbidden(path, "HugePages require cpu or memory", "request cpu or memory too")


def _check_claims(claims: Any, path: Path, scope: PodContext) -> None:
    problems = scope.problems
    seen = set[tuple[str, str]]()
    for index, claim in indexed_mappings(claims):
        name = claim.get("name")
        request = claim.get("request") or ""
        claim_path = (*path, index)
        if is_empty(name):
            problems.required(claim_path, help="name an entry of the pod's resourceClaims")
            continue
        if type(name) is not str or type(request) is not str:
            continue
        problems.check_optional_text((*claim_path, "request"), request, names.why_not_dns_label)
        if (name, request) in seen or (name, "") in seen or (not request and any(n == name for n, _ in seen)):
            problems.duplicate(claim_path, f"{name}/{request}" if request else name)
        seen.add((name, request))
        if scope.claims is not None and name not in scope.claims:
            problems.not_found(claim_path, name, "declare it in the pod's resourceClaims")


def check_pod_resources(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.resources`, for the pod as a whole (Kubernetes 1.34 and later; older servers drop it)."""
    if type(value) is not dict or not scope.context.has_gate("PodLevelResources", 34):
        return
    problems = scope.problems
    if as_mapping(scope.spec.get("os")).get("name") == "windows":
        problems.forbidden(path, "may not be set for a windows pod")
        return
    if value.get("claims") is not None:
        problems.forbidden((*path, "claims"), "claims may not be set for Resources at pod-level")
    allowed = {"cpu", "memory"}
    for side in ("limits", "requests"):
        for name in nested_map(value, side):
            if name not in allowed and not name.startswith(_HUGE):
                amount_path = (*path, side, name)
                help = "request it in a container"
                problems.unsupported(amount_path, name, ("cpu", "hugepages-", "memory"), help, key_path(amount_path))
    core = {
        side: {n: v for n, v in nested_map(value, side).items() if n in allowed or n.startswith(_HUGE)}
        for side in ("limits", "requests")
    }
    check_amounts(core, path, problems, partial=not scope.template)
    _check_sums(core, path, scope)


def _check_sums(pod: Json, path: Path, scope: PodContext) -> None:
    problems = scope.problems
    # the server sets missing requests from the limits only in a Pod, not in a template
    total = sum_containers(scope.spec, lambda resources: container_requests(resources, defaulted=not scope.template))
    for name, text in pod["requests"].items():
        amount = parse(text)
        if amount is not None and name in total and total[name] > amount:
            amount_path = (*path, "requests", name)
            why = f"must be greater than or equal to aggregate container requests of {total[name]}"
            problems.invalid(
                amount_path,
                str(amount),
                why,
                "raise the pod's amount, or lower the containers'",
                key_path(amount_path),
            )
    _check_huge_sums(pod, path, scope)
    for index, container in indexed_mappings(scope.spec.get("containers")):
        for name, text in nested_map(container, "resources", "limits").items():
            limit = parse(text)
            cap = parse(pod["limits"].get(name))
            if limit is not None and cap is not None and limit > cap:
                amount_path = ("spec", "containers", index, "resources", "limits", name)
                field = f"{field_path(path)}.containers[{index}][{name}].limits"
                why = f"must be less than or equal to pod limits of {cap}"
                problems.invalid(
                    (*path[:-2], *amount_path),
                    str(limit),
                    why,
                    "lower the container's limit, or raise the pod's",
                    field,
                )


def _check_huge_sums(pod: Json, path: Path, scope: PodContext) -> None:
    total = sum_containers(scope.spec, lambda resources: quantities_of(resources, "limits"))
    for name, text in pod["limits"].items():
        cap = parse(text)
        if name.startswith(_HUGE) and cap is not None and name in total and total[name] > cap:
            amount_path = (*path, "limits", name)
            why = f"must be greater than or equal to aggregate container limits of {total[name]}"
            scope.problems.invalid(
                amount_path,
                str(cap),
                why,
                "raise the pod's amount, or lower the containers'",
                key_path(amount_path),
            )
