"""Containers, their probes and lifecycle hooks.

Source: docs/facts/api-server.md#containers 12 to 26 and docs/facts/api-server.md#probes-lifecycle-and-security 102 to
112, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.context import ON_SINCE, PodContext, is_dropped
from ptcompile.apiserver.validation.env import check_env, check_env_from
from ptcompile.apiserver.validation.mounts import check_devices, check_mounts
from ptcompile.apiserver.validation.resources import check_resources
from ptcompile.apiserver.validation.security import check_container_security
from ptcompile.apiserver.validation.values import check_port_number, check_port_reference, check_ports
from ptcompile.diagnostics import Path, field_path
from ptcompile.diagnostics.fixes import as_label
from ptcompile.kubernetes import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    ContainerCheck = Callable[[Any, Path, dict[str, Any], PodContext], None]


_PROBE_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOK_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "sleep")
_TIMINGS: Final = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_is_header = Pattern(r"[-A-Za-z0-9]+").fullmatch
GRACE_SECONDS: Final = 30
"""What `terminationGracePeriodSeconds` defaults to."""


def check_probe(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    """`livenessProbe`, `readinessProbe` or `startupProbe`: which one is the last part of the path."""
    if type(value) is not dict:
        return
    found = scope.found
    _check_handler(value, path, _PROBE_HANDLERS, scope)
    for name in _TIMINGS:
        f.check_not_negative(found, (*path, name), value.get(name))
    grace, threshold = (
        f.as_field_int(value.get("terminationGracePeriodSeconds")),
        f.as_field_int(value.get("successThreshold")),
    )
    here = (*path, "terminationGracePeriodSeconds")
    if path[-1] == "readinessProbe":
        if grace is not None:
            f.invalid(found, here, grace, "must not be set for readinessProbes", "remove it")
    elif grace is not None and grace <= 0:
        f.invalid(found, here, grace, "must be greater than 0")
    elif threshold and threshold > 1:
        f.invalid(found, (*path, "successThreshold"), threshold, "must be 1", "leave it out")


def check_lifecycle(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    """`lifecycle` of a container."""
    hooks = f.as_field_mapping(value)
    for name in ("postStart", "preStop"):
        hook = hooks.get(name)
        if type(hook) is dict:
            _check_handler(hook, (*path, name), _HOOK_HANDLERS, scope)


def _check_handler(value: dict[str, Any], path: Path, kinds: tuple[str, ...], scope: PodContext) -> None:
    found = scope.found
    given = [name for name in kinds if value.get(name) is not None]
    if not given:
        f.required(found, path, "must specify a handler type", f"set one of {', '.join(kinds)}")
    for name in given[1:]:
        f.forbidden(found, (*path, name), "may not specify more than 1 handler type", f"keep only {given[0]}")
    for name in given[:1]:
        if type(value[name]) is dict:
            _ACTIONS[name](value[name], (*path, name), scope)


def _check_exec(action: dict[str, Any], path: Path, scope: PodContext) -> None:
    if action.get("command") in (None, []):
        f.required(scope.found, (*path, "command"))


def _check_http(action: dict[str, Any], path: Path, scope: PodContext) -> None:
    found = scope.found
    check_port_reference(found, (*path, "port"), action.get("port"))
    if action.get("scheme"):
        f.check_choice(found, (*path, "scheme"), action["scheme"], ("HTTP", "HTTPS"))
    for index, header in f.indexed_mappings(action.get("httpHeaders")):
        name = header.get("name") or ""
        if type(name) is str and not _is_header(name):
            why = "a valid HTTP header must consist of alphanumeric characters or '-'"
            f.invalid(found, (*path, "httpHeaders", index, "name"), name, why, at=field_path((*path, "httpHeaders")))


def _check_tcp(action: dict[str, Any], path: Path, scope: PodContext) -> None:
    check_port_reference(scope.found, (*path, "port"), action.get("port"))


def _check_grpc(action: dict[str, Any], path: Path, scope: PodContext) -> None:
    port = action.get("port")
    check_port_number(scope.found, (*path, "port"), 0 if port is None else port)


def _check_sleep(action: dict[str, Any], path: Path, scope: PodContext) -> None:
    seconds = action.get("seconds")
    seconds = 0 if seconds is None else seconds
    given = f.as_field_int(scope.spec.get("terminationGracePeriodSeconds"))
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


RESTART: Final = ("Always", "Never", "OnFailure")
PULL: Final = ("Always", "IfNotPresent", "Never")
_ONLY_SIDECARS: Final = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle")
_MAX_RULES: Final = 20
_MAX_CODES: Final = 255


def check_containers(value: Any, path: Path, seen: set[str], scope: PodContext) -> None:
    """`containers` or `initContainers`: the last part of the path says which. `seen` has the names used before."""
    if value is None or value == []:
        if path[-1] == "containers":
            f.required(scope.found, path, help="add a container")
        return
    init = path[-1] == "initContainers"
    for index, container in f.indexed_mappings(value):
        here = (*path, index)
        _check_names(container, here, seen, scope.found)
        sidecar = not init or container.get("restartPolicy") == "Always"
        for key, part in container.items():
            check = _FIELDS.get(key)
            if check is None or part is None or (key in ON_SINCE and is_dropped(key, scope.context)):
                continue
            if not sidecar and key in _ONLY_SIDECARS:
                why = "may not be set for init containers without restartPolicy=Always"
                f.forbidden(scope.found, (*here, key), why)
            else:
                check(part, (*here, key), container, scope)


def _check_names(container: dict[str, Any], path: Path, seen: set[str], found: f.Problems) -> None:
    name = container.get("name")
    if name is None or name == "":
        f.required(found, (*path, "name"), help="name the container")
    elif type(name) is str:
        if not names.is_dns_label(name):
            why = names.why_not_dns_label(name) or ""
            here = (*path, "name")
            f.invalid(found, here, name, why, f.like_label(name), fix=as_label(name, here))
        if name in seen:
            f.duplicate(found, (*path, "name"), name, "rename one: every container of a pod has its own name")
        seen.add(name)
    image = container.get("image")
    if image is None or image == "":
        f.required(found, (*path, "image"), help="say which image to run")


def _check_pull_policy(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    if value:
        f.check_choice(scope.found, path, value, PULL)


def _check_message_policy(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    if value:
        f.check_choice(scope.found, path, value, ("FallbackToLogsOnError", "File"))


def _check_restart(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    """Until 1.34 only init containers have one, and only Always (ContainerRestartRules is beta since 1.35)."""
    if scope.context.at_least(35):
        f.check_choice(scope.found, path, value, RESTART)
    elif path[-3] == "containers":
        f.forbidden(scope.found, path, "may not be set for non-init containers")
    else:
        f.check_choice(scope.found, path, value, ("Always",))


def _check_restart_rules(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    if type(value) is not list or not scope.context.at_least(35):
        return
    found = scope.found
    if container.get("restartPolicy") is None and value:
        why = "must specify restartPolicy when restart rules are used"
        f.required(found, (*path[:-1], "restartPolicy"), why)
    if len(value) > _MAX_RULES:
        f.too_many(found, path, len(value), _MAX_RULES)
    for index, rule in f.indexed_mappings(value):
        here = (*path, index)
        action, codes = rule.get("action"), rule.get("exitCodes")
        action = "" if action is None else action
        f.check_choice(found, (*here, "action"), action, ("Restart", "RestartAllContainers"))
        if codes is None:
            f.required(found, (*here, "exitCodes"), "must be specified")
        elif type(codes) is dict:
            _check_exit_codes(codes, (*here, "exitCodes"), found)


def _check_exit_codes(codes: dict[str, Any], path: Path, found: f.Problems) -> None:
    operator, values = codes.get("operator"), codes.get("values")
    f.check_choice(found, (*path, "operator"), "" if operator is None else operator, ("In", "NotIn"))
    if type(values) is list and len(values) > _MAX_CODES:
        f.too_many(found, (*path, "values"), len(values), _MAX_CODES)


def _check_resize(value: Any, path: Path, container: dict[str, Any], scope: PodContext) -> None:
    found, seen = scope.found, set[str]()
    for index, item in f.indexed_mappings(value):
        name, restart, here = item.get("resourceName"), item.get("restartPolicy"), (*path, index)
        if f.is_empty(name):
            f.required(found, (*here, "resourceName"))
        elif type(name) is str:
            f.check_choice(found, (*here, "resourceName"), name, ("cpu", "memory"))
            if name in seen:
                f.duplicate(found, here, name)
            seen.add(name)
        if f.is_empty(restart):
            f.required(found, (*here, "restartPolicy"))
        else:
            f.check_choice(found, (*here, "restartPolicy"), restart, ("NotRequired", "RestartContainer"))
        if restart == "RestartContainer" and scope.spec.get("restartPolicy") == "Never":
            why = "must be 'NotRequired' when `restartPolicy` is 'Never'"
            f.invalid(found, (*here, "restartPolicy"), restart, why, "use NotRequired", field_path(path))
        elif restart == "RestartContainer" and _runs_once(container, path) and scope.context.at_least(36):
            why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            f.invalid(found, (*here, "restartPolicy"), restart, why, "use NotRequired")


def _runs_once(container: dict[str, Any], path: Path) -> bool:
    return path[-3] == "initContainers" and container.get("restartPolicy") != "Always"


_FIELDS: Final[dict[str, ContainerCheck]] = {
    "imagePullPolicy": _check_pull_policy,
    "terminationMessagePolicy": _check_message_policy,
    "restartPolicy": _check_restart,
    "restartPolicyRules": _check_restart_rules,
    "resizePolicy": _check_resize,
    "env": check_env,
    "envFrom": check_env_from,
    "resources": check_resources,
    "ports": check_ports,
    "volumeMounts": check_mounts,
    "volumeDevices": check_devices,
    "livenessProbe": check_probe,
    "readinessProbe": check_probe,
    "startupProbe": check_probe,
    "lifecycle": check_lifecycle,
    "securityContext": check_container_security,
}
