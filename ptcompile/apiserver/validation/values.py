"""Checks of single values: ports, percentages, path segments. Also the server's notion of equality.

Source: docs/facts/api-server.md#ports 64 to 73, Kubernetes 1.36.
"""

from __future__ import annotations

import marshal

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.context import PodContext
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, TextRule, indexed_mappings, is_empty
from ptcompile.kubernetes import names
from ptcompile.kubernetes.names import why_not_port_name
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json

_PERCENT = Pattern(r"[0-9]+%").fullmatch


def amount_of(value: Any) -> int:
    """Return the number of an integer or a percentage, or 0 for any other value."""
    if type(value) is int:
        return value
    return int(value[:-1]) if type(value) is str and _PERCENT(value) else 0


def check_amount_or_percent(value: Any, path: Path, problems: FieldErrors, *, limit_to_100: bool = True) -> None:
    """Check that the value is an integer of at least 0 or a percentage. `limit_to_100` rejects percentages above
    100%.
    """
    if type(value) is int:
        problems.check_not_negative(path, value)
    elif type(value) is str:
        if not _PERCENT(value):
            why = "a valid percent string must be a numeric string followed by an ending '%'"
            problems.invalid(path, value, why, "write a number, or one with a % such as 25%, in quotes")
        elif limit_to_100 and int(value[:-1]) > 100:
            problems.invalid(path, value, "must not be greater than 100%", "use 100% or less")


PROTOCOLS = ("TCP", "UDP", "SCTP")
_TOKEN_SECONDS_MIN = 600
_TOKEN_SECONDS_MAX = 1 << 32
PORT_MAX = 65535


def check_port_number(problems: FieldErrors, path: Path, value: Any) -> None:
    """Check that a port number is 1 to 65535."""
    problems.check_range(path, value, 1, PORT_MAX)


def check_port_reference(problems: FieldErrors, path: Path, value: Any) -> None:
    """Check a port given by number or name: probes, lifecycle hooks, `targetPort`. An absent port counts as 0."""
    if type(value) is str:
        if why := why_not_port_name(value):
            help = "write a number without quotes, or the name of a port"
            problems.invalid(path, value, why, help)
    else:
        check_port_number(problems, path, 0 if value is None else value)


def check_ports(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    """Check `ports` of a container."""
    problems = scope.problems
    seen = set[str]()
    host_network = scope.spec.get("hostNetwork") is True
    for index, port in indexed_mappings(value):
        port_path = (*path, index)
        name = port.get("name")
        if type(name) is str and name:
            if why := why_not_port_name(name):
                problems.invalid((*port_path, "name"), name, why)
            elif name in seen:
                problems.duplicate((*port_path, "name"), name)
            seen.add(name)
        number = port.get("containerPort")
        host = port.get("hostPort")
        if number is None or (type(number) is int and number == 0):
            problems.required((*port_path, "containerPort"))
        else:
            check_port_number(problems, (*port_path, "containerPort"), number)
        if host:
            check_port_number(problems, (*port_path, "hostPort"), host)
            if host_network and path[-3] == "containers" and type(host) is type(number) is int and host != number:
                why = "must match `containerPort` when `hostNetwork` is true"
                problems.invalid((*port_path, "hostPort"), host, why, "leave `hostPort` out")
        if port.get("protocol"):
            problems.check_choice((*port_path, "protocol"), port["protocol"], PROTOCOLS)


def check_host_ports(containers: Any, path: Path, problems: FieldErrors, fill: bool) -> None:
    """Report host ports that two ports of these containers share. With `fill`, container ports count as host ports
    (hostNetwork).
    """
    seen: set[str] = set()
    for index, container in indexed_mappings(containers):
        for port_index, port in indexed_mappings(container["ports"]) if container.get("ports") else ():
            host = port.get("hostPort") or (port.get("containerPort") if fill else None)
            if type(host) is not int or host == 0:
                continue
            key = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{host}"
            if key in seen:
                host_port_path = (*path, index, "ports", port_index, "hostPort")
                problems.duplicate(host_port_path, key, "use another: each port of a node can be used once")
            seen.add(key)


def is_equal(a: Any, b: Any, *, exact: bool = False) -> bool:
    """Return whether two decoded values are equal, including all types and the order of keys.

    Returns False as well for values that are not JSON data and for recursive ones. With `exact`, for parts of an object
    that `structure.is_complete` accepts, plain equality is enough: it takes a tenth of the time.
    """
    if a is b:
        return True
    if exact:
        return bool(a == b)
    try:
        return bool(a == b) and marshal.dumps(a, 2) == marshal.dumps(
            b, 2
        )  # format 2 writes no references, which would make equal values differ
    except (ValueError, RecursionError):
        return False


def why_not_path_segment(name: str) -> str | None:
    """Return why a text cannot be a path segment, the rule for names of RBAC objects, or None if it can."""
    if name in (".", ".."):
        return f"may not be '{name}'"
    for character in "/%":
        if character in name:
            return f"may not contain '{character}'"
    return None


def why_not_kind(kind: str) -> str | None:
    """Return why a text cannot be the name of a kind, or None: apart from its capitals, a kind is a DNS label."""
    why = names.why_not_dns_1035_label(kind.lower())
    return f"may have mixed case, but should otherwise match: {why}" if why else None


def check_token_seconds(problems: FieldErrors, path: Path, seconds: Any) -> None:
    """Check how long a token of a service account is valid."""
    if type(seconds) is not int:
        return
    if seconds < _TOKEN_SECONDS_MIN:
        why = "may not specify a duration less than 10 minutes"
        problems.invalid(path, seconds, why, f"use {_TOKEN_SECONDS_MIN} or more")
    elif seconds > _TOKEN_SECONDS_MAX:
        problems.invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")


def service_name_rule(context: ApiServer) -> TextRule:
    """Return the rule for the names of Services. Until 1.35 a name must begin with a letter."""
    relaxed = context.has_gate("RelaxedServiceNameValidation", 36)
    return names.why_not_dns_label if relaxed else names.why_not_dns_1035_label


_DRIVER_NAME_MAX = 63


def check_driver_name(name: Any, path: Path, problems: FieldErrors) -> None:
    """Check the name of a CSI or DRA driver (`ValidateCSIDriverName`)."""
    if is_empty(name):
        problems.required(path)
    elif type(name) is str:
        if len(name) > _DRIVER_NAME_MAX:
            problems.too_long(path, _DRIVER_NAME_MAX)
        elif why := names.why_not_dns_subdomain(name.lower()):
            problems.invalid(path, name, why)
