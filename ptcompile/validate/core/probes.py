"""Probes and lifecycle hooks.

Source: docs/facts/api-server.md#probes-lifecycle-and-security 102 to 112, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path, field_path
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Scope
from ptcompile.validate.core.ports import check_port_number, check_port_reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_PROBE_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOK_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "sleep")
_TIMINGS: Final = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_is_header = Pattern(r"[-A-Za-z0-9]+").fullmatch
GRACE_SECONDS: Final = 30
"""What `terminationGracePeriodSeconds` defaults to."""


def check_probe(value: Any, path: Path, container: dict[str, Any], scope: Scope) -> None:
    """`livenessProbe`, `readinessProbe` or `startupProbe`: which one is the last part of the path."""
    if type(value) is not dict:
        return
    found = scope.found
    _check_handler(value, path, _PROBE_HANDLERS, scope)
    for name in _TIMINGS:
        f.check_not_negative(found, (*path, name), value.get(name))
    grace, threshold = f.integer(value.get("terminationGracePeriodSeconds")), f.integer(value.get("successThreshold"))
    here = (*path, "terminationGracePeriodSeconds")
    if path[-1] == "readinessProbe":
        if grace is not None:
            f.invalid(found, here, grace, "must not be set for readinessProbes", "remove it")
    elif grace is not None and grace <= 0:
        f.invalid(found, here, grace, "must be greater than 0")
    elif threshold and threshold > 1:
        f.invalid(found, (*path, "successThreshold"), threshold, "must be 1", "leave it out")


def check_lifecycle(value: Any, path: Path, container: dict[str, Any], scope: Scope) -> None:
    """`lifecycle` of a container."""
    hooks = f.mapping(value)
    for name in ("postStart", "preStop"):
        hook = hooks.get(name)
        if type(hook) is dict:
            _check_handler(hook, (*path, name), _HOOK_HANDLERS, scope)


def _check_handler(value: dict[str, Any], path: Path, kinds: tuple[str, ...], scope: Scope) -> None:
    found = scope.found
    given = [name for name in kinds if value.get(name) is not None]
    if not given:
        f.required(found, path, "must specify a handler type", f"set one of {', '.join(kinds)}")
    for name in given[1:]:
        f.forbidden(found, (*path, name), "may not specify more than 1 handler type", f"keep only {given[0]}")
    for name in given[:1]:
        if type(value[name]) is dict:
            _ACTIONS[name](value[name], (*path, name), scope)


def _check_exec(action: dict[str, Any], path: Path, scope: Scope) -> None:
    if action.get("command") in (None, []):
        f.required(scope.found, (*path, "command"))


def _check_http(action: dict[str, Any], path: Path, scope: Scope) -> None:
    found = scope.found
    check_port_reference(found, (*path, "port"), action.get("port"))
    if action.get("scheme"):
        f.check_choice(found, (*path, "scheme"), action["scheme"], ("HTTP", "HTTPS"))
    for index, header in f.objects(action.get("httpHeaders")):
        name = header.get("name") or ""
        if type(name) is str and not _is_header(name):
            why = "a valid HTTP header must consist of alphanumeric characters or '-'"
            f.invalid(found, (*path, "httpHeaders", index, "name"), name, why, at=field_path((*path, "httpHeaders")))


def _check_tcp(action: dict[str, Any], path: Path, scope: Scope) -> None:
    check_port_reference(scope.found, (*path, "port"), action.get("port"))


def _check_grpc(action: dict[str, Any], path: Path, scope: Scope) -> None:
    port = action.get("port")
    check_port_number(scope.found, (*path, "port"), 0 if port is None else port)


def _check_sleep(action: dict[str, Any], path: Path, scope: Scope) -> None:
    seconds = action.get("seconds")
    seconds = 0 if seconds is None else seconds
    given = f.integer(scope.spec.get("terminationGracePeriodSeconds"))
    grace = GRACE_SECONDS if given is None else max(given, 1)
    # A sleep of 0 was refused before 1.33 (PodLifecycleSleepActionAllowZero).
    low = 0 if scope.context.at_least(33) else 1
    if type(seconds) is int and not low <= seconds <= grace:
        why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        f.invalid(scope.found, path, seconds, why, "shorten the sleep, or lengthen the grace period")


_ACTIONS: Final = {
    "exec": _check_exec,
    "httpGet": _check_http,
    "tcpSocket": _check_tcp,
    "grpc": _check_grpc,
    "sleep": _check_sleep,
}
