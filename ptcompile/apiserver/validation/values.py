"""Forms of one value: ports, percentages, path segments; sameness as the server has it.

Source: docs/facts/api-server.md#ports 64 to 73, Kubernetes 1.36.
"""

from __future__ import annotations

import marshal

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.context import PodContext
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.names import why_not_port_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_PERCENT = Pattern(r"[0-9]+%").fullmatch


def amount_of(value: Any) -> int:
    """The number, of a percentage too; 0 for what is neither."""
    if type(value) is int:
        return value
    return int(value[:-1]) if type(value) is str and _PERCENT(value) else 0


def check_amount_or_percent(value: Any, path: Path, found: f.Problems, *, most: bool = True) -> None:
    """A number of 0 or more, or a percentage; `most`: of 100 % at most."""
    if type(value) is int:
        f.check_not_negative(found, path, value)
    elif type(value) is str:
        if not _PERCENT(value):
            why = "a valid percent string must be a numeric string followed by an ending '%'"
            f.invalid(found, path, value, why, "write a number, or one with a % such as 25%, in quotes")
        elif most and int(value[:-1]) > 100:
            f.invalid(found, path, value, "must not be greater than 100%", "use 100% or less")


PROTOCOLS = ("TCP", "UDP", "SCTP")
PORT_MAX = 65535


def check_port_number(found: f.Problems, path: Path, value: Any) -> None:
    """A port number: 1 to 65535."""
    f.check_range(found, path, value, 1, PORT_MAX)


def check_port_reference(found: f.Problems, path: Path, value: Any) -> None:
    """A port by number or by name: probes, lifecycle hooks, `targetPort`. Absent counts as 0."""
    if type(value) is str:
        if why := why_not_port_name(value):
            help = "write a number without quotes, or the name of a port"
            f.invalid(found, path, value, why, help)
    else:
        check_port_number(found, path, 0 if value is None else value)


def check_ports(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    """`ports` of a container."""
    found, seen = scope.found, set[str]()
    host_network = scope.spec.get("hostNetwork") is True
    for index, port in f.indexed_mappings(value):
        here = (*path, index)
        name = port.get("name")
        if type(name) is str and name:
            if why := why_not_port_name(name):
                f.invalid(found, (*here, "name"), name, why)
            elif name in seen:
                f.duplicate(found, (*here, "name"), name)
            seen.add(name)
        number, host = port.get("containerPort"), port.get("hostPort")
        if number is None or (type(number) is int and number == 0):
            f.required(found, (*here, "containerPort"))
        else:
            check_port_number(found, (*here, "containerPort"), number)
        if host:
            check_port_number(found, (*here, "hostPort"), host)
            if host_network and path[-3] == "containers" and type(host) is type(number) is int and host != number:
                why = "must match `containerPort` when `hostNetwork` is true"
                f.invalid(found, (*here, "hostPort"), host, why, "leave `hostPort` out")
        if port.get("protocol"):
            f.check_choice(found, (*here, "protocol"), port["protocol"], PROTOCOLS)


def check_host_ports(containers: Any, path: Path, found: f.Problems, fill: bool) -> None:
    """Host ports that two ports of these containers would share. `fill`: under hostNetwork, the container's own."""
    seen: set[str] = set()
    for index, container in f.indexed_mappings(containers):
        for number, port in f.indexed_mappings(container["ports"]) if container.get("ports") else ():
            host = port.get("hostPort") or (port.get("containerPort") if fill else None)
            if type(host) is not int or host == 0:
                continue
            key = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{host}"
            if key in seen:
                here = (*path, index, "ports", number, "hostPort")
                f.duplicate(found, here, key, "use another: a port of the node can be taken once")
            seen.add(key)


def is_equal(one: Any, other: Any, *, exact: bool = False) -> bool:
    """Whether two decoded values are equal in every type too, and their keys stand in the same order.

    False also where that cannot be told: data of other types than JSON's, or without end. Of parts of an object that is
    `exact`, which `structure.complete` tells, equality is enough, whatever the order: a tenth of the time.
    """
    if one is other:
        return True
    if exact:
        return bool(one == other)
    try:
        return bool(one == other) and marshal.dumps(one, 2) == marshal.dumps(other, 2)  # 2: no references
    except (ValueError, RecursionError):
        return False


def why_not_path_segment(name: str) -> str | None:
    """Why a text cannot be one part of a path: what names of RBAC's objects are held to."""
    if name in (".", ".."):
        return f"may not be '{name}'"
    for character in "/%":
        if character in name:
            return f"may not contain '{character}'"
    return None
