"""Container ports.

Source: docs/facts/api-server.md#ports 64 to 73, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.names import why_not_port_name
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROTOCOLS = ("TCP", "UDP", "SCTP")
PORT_MAX = 65535


def check_port_number(found: f.Found, path: Path, value: Any) -> None:
    """A port number: 1 to 65535."""
    f.check_range(found, path, value, 1, PORT_MAX)


def check_port_reference(found: f.Found, path: Path, value: Any) -> None:
    """A port by number or by name: probes, lifecycle hooks, `targetPort`. Absent counts as 0."""
    if type(value) is str:
        if why := why_not_port_name(value):
            help = "write a number without quotes, or the name of a port"
            f.invalid(found, path, value, why, help)
    else:
        check_port_number(found, path, 0 if value is None else value)


def check_ports(value: Any, path: Path, container: dict[str, Any], scope: Scope) -> None:
    """`ports` of a container."""
    found, seen = scope.found, set[str]()
    host_network = scope.spec.get("hostNetwork") is True
    for index, port in f.objects(value):
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


def check_host_ports(containers: Any, path: Path, found: f.Found, fill: bool) -> None:
    """Host ports that two ports of these containers would share. `fill`: under hostNetwork, the container's own."""
    seen: set[str] = set()
    for index, container in f.objects(containers):
        for number, port in f.objects(container["ports"]) if container.get("ports") else ():
            host = port.get("hostPort") or (port.get("containerPort") if fill else None)
            if type(host) is not int or host == 0:
                continue
            key = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{host}"
            if key in seen:
                here = (*path, index, "ports", number, "hostPort")
                f.duplicate(found, here, key, "use another: a port of the node can be taken once")
            seen.add(key)
