"""NetworkPolicy (Kubernetes 1.36 networking validation)."""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.dns import why_not_cidr
from ptcompile.validate.core.ports import PORT_MAX, PROTOCOLS, check_port_reference
from ptcompile.validate.core.selectors import check_selector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_TYPES: Final = ("Egress", "Ingress")


def check_network_policy(manifest: Any, context: ApiServer, found: f.Found) -> None:
    """A NetworkPolicy without its metadata."""
    spec, path = f.mapping(manifest.get("spec")), ("spec",)
    check_selector(spec.get("podSelector"), (*path, "podSelector"), found)
    for side, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in f.objects(spec.get(side)):
            here = (*path, side, index)
            for number, port in f.objects(rule.get("ports")):
                _check_port(port, (*here, "ports", number), found)
            for number, peer in f.objects(rule.get(peers)):
                _check_peer(peer, (*here, peers, number), context, found)
    kinds = spec.get("policyTypes")
    if type(kinds) is list:
        if len(kinds) > len(_TYPES):
            why = "may not specify more than two policyTypes"
            f.invalid(found, (*path, "policyTypes"), kinds, why, "name each type once")
            return
        for index, kind in enumerate(kinds):
            f.check_choice(found, (*path, "policyTypes", index), "" if kind is None else kind, _TYPES)


def _check_port(port: dict[str, Any], path: Path, found: f.Found) -> None:
    number, end = port.get("port"), port.get("endPort")
    if port.get("protocol") is not None:
        f.check_choice(found, (*path, "protocol"), port["protocol"], PROTOCOLS)
    if number is not None:
        check_port_reference(found, (*path, "port"), number)
    if type(end) is not int:
        return
    here = (*path, "endPort")
    if number is None:
        f.required(found, (*path, "port"), "must be specified when `endPort` is specified")
    elif type(number) is str:
        f.invalid(found, here, end, "may not be specified when `port` is non-numeric", "use a port number")
    elif type(number) is int and not number <= end <= PORT_MAX:
        why = "must be greater than or equal to `port`" if end < number else f"must be between 1 and {PORT_MAX}"
        f.invalid(found, here, end, why)


def _check_peer(peer: dict[str, Any], path: Path, context: ApiServer, found: f.Found) -> None:
    given = [key for key in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(key) is not None]
    if not given:
        f.required(found, path, "must specify a peer", "select pods, namespaces or an ipBlock")
    for key in given:
        if key != "ipBlock":
            check_selector(peer[key], (*path, key), found)
    if "ipBlock" in given:
        if len(given) > 1:
            f.forbidden(found, path, "may not specify both ipBlock and another peer", "make two peers of them")
        _check_block(f.mapping(peer["ipBlock"]), (*path, "ipBlock"), context, found)


def _check_block(block: dict[str, Any], path: Path, context: ApiServer, found: f.Found) -> None:
    text = block.get("cidr")
    if f.is_empty(text):
        f.required(found, (*path, "cidr"), help="write it as 10.0.0.0/8")
        return
    if type(text) is not str:
        return
    if why := why_not_cidr(text, context):
        f.invalid(found, (*path, "cidr"), text, why, "write it as 10.0.0.0/8")
        return
    network = _network(text)
    holes = block.get("except")
    for index, hole in enumerate(holes if type(holes) is list else ()):
        here, hole = (*path, "except", index), "" if hole is None else hole
        if type(hole) is not str:
            continue
        if why := why_not_cidr(hole, context):
            f.invalid(found, here, hole, why)
            continue
        inner = _network(hole)
        if inner.version != network.version or inner.prefixlen <= network.prefixlen or inner[0] not in network:
            f.invalid(found, here, hole, f"must be a strict subset of `cidr` {f.show(text)}")


def _network(text: str) -> Any:
    """A range of addresses; the server takes leading zeros, which Python does not."""
    import ipaddress

    address, _, bits = text.partition("/")
    if ":" not in address:
        address = ".".join(str(int(part)) for part in address.split("."))
    return ipaddress.ip_network(f"{address}/{int(bits)}", strict=False)
