"""Requests and limits of containers and of whole pods.

Source: docs/facts/api-server.md#resources-and-quantities 47 to 63, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile._internal.lazy import bounded_cache
from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.validation.context import is_dropped
from ptcompile.apiserver.validation.field import NOT_NEGATIVE, FieldValue
from ptcompile.apiserver.validation.metadata import why_not_key
from ptcompile.diagnostics import Edit, Fix, field_path, fixes
from ptcompile.diagnostics.field_errors import is_empty, key_path
from ptcompile.diagnostics.fixes import FixTemplate
from ptcompile.kubernetes import names
from ptcompile.kubernetes.amounts import container_requests, quantities_of, sum_containers
from ptcompile.kubernetes.quantity import NANO, Quantity, parse
from ptcompile.kubernetes.resources import HUGE_PAGES, is_native_resource, never_shared
from ptcompile.kubernetes.unstructured import Json

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
        return (
            "must be a standard resource for containers (cpu, memory, ephemeral-storage) or fully "
            "qualified"
        )
    if is_native_resource(name):
        return None
    # the server checks that a quota can have this name
    if name.startswith("requests.") or why_not_key(f"requests.{name}"):
        return "doesn't follow extended resource name standard"
    return None


def check_resources(resources: FieldValue, container: Json) -> None:
    """Check `resources` of a container."""
    if not resources.is_mapping:
        return
    if resources.get("limits") or resources.get("requests"):
        check_amounts(resources)
    if resources.get("claims") and not is_dropped("claims", resources.server):
        _check_claims(resources["claims"])


def check_amounts(resources: FieldValue, *, partial: bool = False) -> None:
    """Check the names and amounts of requests and limits, and each request against its limit.

    `partial` is for resources that an operator merges over others: a missing limit may come from
    there.
    """
    before = len(resources.problems)
    limits = _read_amounts(resources["limits"], partial)
    if len(resources.problems) == before and resources.get("requests") == resources.get("limits"):
        # the usual case: the same amounts were just checked as limits, and no request exceeds
        # its limit
        requests = limits
    else:
        requests = _read_amounts(resources["requests"], partial)
        for name, amount in requests.items():
            # an unreadable limit is reported elsewhere
            if name in limits:
                _check_request(resources, name, amount, limits[name])
            elif never_shared(name) and not partial and name not in resources["limits"].mapping:
                _require_limit(resources, name, amount)

    resource_names = limits.keys() | requests.keys()
    if partial or resource_names & {"cpu", "memory"}:
        return
    if any(name.startswith(_HUGE) for name in resource_names):
        resources.forbidden("HugePages require cpu or memory", "request cpu or memory too")


def _check_request(resources: FieldValue, name: str, amount: Quantity, limit: Quantity) -> None:
    """Check a request against its limit."""
    is_exact = never_shared(name)
    if amount == limit or (amount < limit and not is_exact):
        return

    path = resources["requests"][name].path
    fix = None
    if is_exact:
        why = f"must be equal to {name} limit of {limit}"
        help = "set both to the same amount"
        written = resources["limits"].get(name)
        fix = FixTemplate(f"set the request to {limit}", "set", written, safe=False).at(path)
    else:
        why = f"must be less than or equal to {name} limit of {limit}"
        help = "lower the request or raise the limit"

    resources.problems.invalid(path, str(amount), why, help, field_path(path[:-1]), fix=fix)


def _require_limit(resources: FieldValue, name: str, amount: Quantity) -> None:
    """Report a request whose resource needs a limit too."""
    limits = resources["limits"]
    edit = Edit("set", limits[name].path, resources["requests"].get(name))
    resources.problems.required(
        limits.path,
        "Limit must be set for non overcommitable resources",
        f"set limits[{name}] to the request",
        fix=Fix(f"set the limit to {amount}", (edit,), safe=True),
    )


def _read_amounts(amounts: FieldValue, partial: bool) -> _ResourceQuantities:
    out: _ResourceQuantities = {}
    if not amounts.is_mapping:
        return out

    for name, text in amounts.value.items():
        if why := why_not_resource(name):
            quantity_path = amounts[name].path
            suggestion = closest_match(name, (*_CONTAINER_RESOURCES, "nvidia.com/gpu"))
            if suggestion:
                help = f"did you mean {suggestion}?"
            else:
                help = "write the device with its domain, for example nvidia.com/gpu"

            template = fixes.fix_key(name, suggestion, amounts.value)
            amounts.problems.invalid(
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
            out[name] = amount if amount.nano % NANO == 0 else amount.rounded()
            _check_amount(amounts, name, out[name])

    return out


def _check_amount(amounts: FieldValue, name: str, amount: Quantity) -> None:
    """Check one amount of these requests or limits."""
    why = ""
    help = ""
    if amount.nano < 0:
        why = NOT_NEGATIVE
    elif not is_native_resource(name) and not amount.is_integer:
        why = "must be an integer"
        help = "request whole devices: a share of a device has its own resource name"
    elif name.startswith(_HUGE):
        page = parse(name[len(_HUGE) :])
        if page is None or page.value == 0 or amount.value % page.value:
            why = "must be an integer multiple of page size"
    if why:
        written = amounts[name]
        written.replaced(str(amount)).invalid(why, help, key_path(written.path))


def _check_claims(claims: FieldValue) -> None:
    known = claims.scope.claims
    seen = set[tuple[str, str]]()
    for claim in claims.objects():
        name = claim.get("name")
        request = claim["request"].or_default("")
        if is_empty(name):
            claim.required(help="name an entry of the pod's resourceClaims")
            continue
        if type(name) is not str or not request.is_text:
            continue

        pair = (name, request.value)
        request.check_optional_text(names.why_not_dns_label)
        if (
            pair in seen
            or (name, "") in seen
            or (not request.value and any(n == name for n, _ in seen))
        ):
            claim.replaced("/".join(filter(None, pair))).duplicate()

        seen.add(pair)
        if known is not None and name not in known:
            claim.problems.not_found(claim.path, name, "declare it in the pod's resourceClaims")


def check_pod_resources(resources: FieldValue) -> None:
    """Check `spec.resources`, for the pod as a whole (Kubernetes 1.34 and later; older servers
    drop it).
    """
    if not resources.is_mapping or not resources.server.has_gate("PodLevelResources", 34):
        return
    if resources.pod["os"].get("name") == "windows":
        resources.forbidden("may not be set for a windows pod")
        return

    resources["claims"].check_unset("claims may not be set for Resources at pod-level")
    core: dict[str, dict[str, Any]] = {"limits": {}, "requests": {}}
    for side, amounts in core.items():
        for name, amount in resources[side].entries():
            if name in ("cpu", "memory") or name.startswith(_HUGE):
                amounts[name] = amount.value
                continue
            supported = ("cpu", "hugepages-", "memory")
            amount.replaced(name).unsupported(
                supported, "request it in a container", key_path(amount.path)
            )

    core_resources = resources.replaced(core)
    check_amounts(core_resources, partial=not resources.scope.template)
    _check_sums(core_resources)


def _check_sums(resources: FieldValue) -> None:
    """Check the pod's amounts against the sums of its containers, and the limit of each container
    against the pod's.
    """
    pod = resources.pod
    # the server sets missing requests from the limits only in a Pod, not in a template
    is_defaulted = not resources.scope.template
    requests = sum_containers(
        pod.value, lambda amounts: container_requests(amounts, defaulted=is_defaulted)
    )
    limits = sum_containers(pod.value, lambda amounts: quantities_of(amounts, "limits"))
    huge_limits = {name: total for name, total in limits.items() if name.startswith(_HUGE)}
    _check_total(resources["requests"], requests, "requests")
    _check_total(resources["limits"], huge_limits, "limits")

    for container in pod["containers"].objects():
        for name, amount in container["resources"]["limits"].entries():
            limit = parse(amount.value)
            cap = parse(resources["limits"].get(name))
            if limit is not None and cap is not None and limit > cap:
                field = f"{field_path(resources.path)}.containers[{container.key}][{name}].limits"
                why = f"must be less than or equal to pod limits of {cap}"
                amount.replaced(str(limit)).invalid(
                    why, "lower the container's limit, or raise the pod's", field
                )


def _check_total(amounts: FieldValue, totals: _ResourceQuantities, side: str) -> None:
    """Check that amounts of the pod are enough for the totals of its containers."""
    for name, amount in amounts.entries():
        quantity = parse(amount.value)
        if quantity is not None and name in totals and totals[name] > quantity:
            why = f"must be greater than or equal to aggregate container {side} of {totals[name]}"
            help = "raise the pod's amount, or lower the containers'"
            amount.replaced(str(quantity)).invalid(why, help, key_path(amount.path))
