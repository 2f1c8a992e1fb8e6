"""Checks of single values: ports, percentages, path segments. Also the server's notion of equality.

Source: docs/facts/api-server.md#ports 64 to 73, Kubernetes 1.36.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver.validation.field import NOT_NEGATIVE, FieldValue
from ptcompile.diagnostics.field_errors import TextRule
from ptcompile.kubernetes import names
from ptcompile.kubernetes.names import why_not_port_name
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json

_PERCENT = Pattern(r"[0-9]+%").fullmatch


def is_canonical(text: str, bits: int) -> bool:
    """Return whether a text is an integer of so many bits, written as Go formats it."""
    if not is_short_number(text.removeprefix("-"), 20):
        return False
    number = int(text)
    return text == str(number) and -(2**bits) <= 2 * number < 2**bits


def amount_of(value: Any) -> int:
    """Return the number of an integer or a percentage, or 0 for any other value."""
    if type(value) is int:
        return value
    if type(value) is str and _PERCENT(value):
        # of more digits Go's Atoi gives the largest number, and int() may give none
        return int(value[:-1].lstrip("0")[:19] or 0)
    return 0


def check_amount_or_percent(amount: FieldValue, *, limit_to_100: bool = True) -> None:
    """Check that the value is an integer of at least 0 or a percentage. `limit_to_100` rejects
    percentages above 100%.
    """
    value = amount.value
    if type(value) is int and value < 0:
        amount.invalid(NOT_NEGATIVE, "use 0 or more")
    if type(value) is not str:
        return

    if not _PERCENT(value):
        why = "a valid percent string must be a numeric string followed by an ending '%'"
        amount.invalid(why, "write a number, or one with a % such as 25%, in quotes")
    elif limit_to_100 and amount_of(value) > 100:
        amount.invalid("must not be greater than 100%", "use 100% or less")


PROTOCOLS = ("TCP", "UDP", "SCTP")
PREEMPTION_POLICIES = ("Never", "PreemptLowerPriority")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_TOKEN_SECONDS_MIN = 600
_TOKEN_SECONDS_MAX = 1 << 32
PORT_MAX = 65535


def check_port_number(port: FieldValue) -> None:
    """Check that a port number is 1 to 65535. An absent port counts as 0."""
    port.or_zero(0).check_range(1, PORT_MAX)


def check_port_reference(port: FieldValue) -> None:
    """Check a port given by number or name: probes, lifecycle hooks, `targetPort`. An absent
    port counts as 0.
    """
    if port.is_text:
        port.check_text(why_not_port_name, "write a number without quotes, or the name of a port")
    else:
        check_port_number(port)


def check_service_port(port: FieldValue, help: str) -> None:
    """Check the port of a Service that the API server calls. By default it is 443."""
    why = f"port is not valid: must be between 1 and {PORT_MAX}, inclusive"
    port.check_range(1, PORT_MAX, why, help)


def check_ports(ports: FieldValue, container: Json) -> None:
    """Check `ports` of a container."""
    seen = set[str]()
    in_main_container = ports.path[-3] == "containers"
    on_host_network = ports.scope.pod.get("hostNetwork") is True
    for port in ports.objects():
        if port.get("name"):
            port["name"].check_name(why_not_port_name, seen)

        number = port["containerPort"]
        if number.value is None or (number.is_integer and number.value == 0):
            number.required()
        else:
            check_port_number(number)

        if port.get("hostPort"):
            host = port["hostPort"]
            check_port_number(host)
            are_numbers = host.is_integer and number.is_integer
            if on_host_network and in_main_container and are_numbers and host.value != number.value:
                why = "must match `containerPort` when `hostNetwork` is true"
                host.invalid(why, "leave `hostPort` out")
        port["protocol"].check_optional_choice(PROTOCOLS)


def check_host_ports(containers: Iterable[FieldValue], fill: bool) -> None:
    """Report host ports that two ports of these containers share. With `fill`, container ports
    count as host ports (hostNetwork).
    """
    seen: set[str] = set()
    for container in containers:
        if not container.get("ports"):
            continue

        for port in container["ports"].objects():
            host = port.get("hostPort") or (port.get("containerPort") if fill else None)
            if type(host) is int and host != 0:
                shown = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{host}"
                address = port["hostPort"].replaced(shown)
                address.check_unseen(seen, "use another: each port of a node can be used once")


def is_equal(a: Any, b: Any, *, exact: bool = False) -> bool:
    """Return whether two decoded values are equal, including all types and the order of keys.

    Returns False as well for values that are not JSON data and for recursive ones. With `exact`,
    for parts of an object that `structure.is_complete` accepts, plain equality is enough: it takes
    a tenth of the time.
    """
    if a is b:
        return True
    if exact:
        return bool(a == b)
    try:
        # format 2 writes no references, which would make equal values differ
        return bool(a == b) and marshal.dumps(a, 2) == marshal.dumps(b, 2)
    except (ValueError, RecursionError):
        return False


def why_not_path_segment(name: str) -> str | None:
    """Return why a text cannot be a path segment, the rule for names of RBAC objects, or None if
    it can.
    """
    if name in (".", ".."):
        return f"may not be '{name}'"
    for character in "/%":
        if character in name:
            return f"may not contain '{character}'"
    return None


def why_not_kind(kind: str) -> str | None:
    """Return why a text cannot be the name of a kind, or None: apart from its capitals, a kind
    is a DNS label.
    """
    why = names.why_not_dns_1035_label(kind.lower())
    if why:
        return f"may have mixed case, but should otherwise match: {why}"
    return None


def check_token_seconds(seconds: FieldValue) -> None:
    """Check how long a token of a service account is valid."""
    if not seconds.is_integer:
        return
    if seconds.value < _TOKEN_SECONDS_MIN:
        why = "may not specify a duration less than 10 minutes"
        seconds.invalid(why, f"use {_TOKEN_SECONDS_MIN} or more")
    elif seconds.value > _TOKEN_SECONDS_MAX:
        seconds.invalid("may not specify a duration larger than 2^32 seconds")


def service_name_rule(context: ApiServer) -> TextRule:
    """Return the rule for the names of Services. Until 1.35 a name must begin with a letter."""
    relaxed = context.has_gate("RelaxedServiceNameValidation", 36)
    if relaxed:
        return names.why_not_dns_label
    return names.why_not_dns_1035_label


_DRIVER_NAME_MAX = 63


def check_driver_name(name: FieldValue) -> None:
    """Check the name of a CSI or DRA driver (`ValidateCSIDriverName`)."""
    if name.is_empty:
        name.required()
    elif name.is_text and len(name.value) > _DRIVER_NAME_MAX:
        name.too_long(_DRIVER_NAME_MAX)
    else:
        name.check_text(lambda text: names.why_not_dns_subdomain(text.lower()))
