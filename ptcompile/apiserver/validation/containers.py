"""Containers, their probes and lifecycle hooks.

Source: docs/facts/api-server.md#containers 12 to 26 and docs/facts/api-server.md#probes-lifecycle-and-security 102 to
112, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.validation.context import FIELD_GATES, PodContext, is_dropped
from ptcompile.apiserver.validation.env import check_env, check_env_from
from ptcompile.apiserver.validation.mounts import check_devices, check_mounts
from ptcompile.apiserver.validation.resources import check_resources
from ptcompile.apiserver.validation.security import check_container_security
from ptcompile.apiserver.validation.values import check_port_number, check_port_reference, check_ports
from ptcompile.diagnostics import Path, field_path
from ptcompile.diagnostics.field_errors import FieldErrors, as_field_int, indexed_mappings, is_empty, label_help
from ptcompile.diagnostics.fixes import fix_name
from ptcompile.kubernetes import names
from ptcompile.kubernetes.pod_spec import GRACE_SECONDS
from ptcompile.kubernetes.unstructured import Json, as_mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    ContainerCheck = Callable[[Any, Path, Json, PodContext], None]


_PROBE_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOK_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")
_TIMINGS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_is_header = Pattern(r"[-A-Za-z0-9]+").fullmatch


def check_probe(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    """Check a probe; the last part of the path says whether it is a liveness, readiness or startup probe."""
    if type(value) is not dict:
        return
    problems = scope.problems
    _check_handler(value, path, _PROBE_HANDLERS, scope)
    for name in _TIMINGS:
        problems.check_not_negative((*path, name), value.get(name))
    grace = as_field_int(value.get("terminationGracePeriodSeconds"))
    threshold = as_field_int(value.get("successThreshold"))
    grace_path = (*path, "terminationGracePeriodSeconds")
    if path[-1] == "readinessProbe":
        if grace is not None:
            problems.invalid(grace_path, grace, "must not be set for readinessProbes", "remove it")
    elif grace is not None and grace <= 0:
        problems.invalid(grace_path, grace, "must be greater than 0")
    elif threshold and threshold > 1:
        problems.invalid((*path, "successThreshold"), threshold, "must be 1", "leave it out")


def check_lifecycle(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    """Check `lifecycle` of a container."""
    hooks = as_mapping(value)
    for name in ("postStart", "preStop"):
        hook = hooks.get(name)
        if type(hook) is dict:
            _check_handler(hook, (*path, name), _HOOK_HANDLERS, scope)
    is_kept = hooks.get("stopSignal") and scope.context.has_gate("ContainerStopSignals", None)
    if is_kept and is_empty(as_mapping(scope.spec.get("os")).get("name")):
        why = "may not be set for containers with empty `spec.os.name`"
        scope.problems.forbidden((*path, "stopSignal"), why, "set spec.os.name, such as linux")


def _check_handler(value: Json, path: Path, kinds: tuple[str, ...], scope: PodContext) -> None:
    problems = scope.problems
    handlers = [name for name in kinds if value.get(name) is not None]
    if not handlers:
        problems.required(path, "must specify a handler type", f"set one of {', '.join(kinds)}")
    for name in handlers[1:]:
        problems.forbidden((*path, name), "may not specify more than 1 handler type", f"keep only {handlers[0]}")
    for name in handlers[:1]:
        if type(value[name]) is dict:
            _ACTIONS[name](value[name], (*path, name), scope)


def _check_exec(action: Json, path: Path, scope: PodContext) -> None:
    if action.get("command") in (None, []):
        scope.problems.required((*path, "command"))


def _check_http(action: Json, path: Path, scope: PodContext) -> None:
    problems = scope.problems
    check_port_reference(problems, (*path, "port"), action.get("port"))
    if action.get("scheme"):
        problems.check_choice((*path, "scheme"), action["scheme"], ("HTTP", "HTTPS"))
    for index, header in indexed_mappings(action.get("httpHeaders")):
        name = header.get("name") or ""
        if type(name) is str and not _is_header(name):
            why = "a valid HTTP header must consist of alphanumeric characters or '-'"
            problems.invalid((*path, "httpHeaders", index, "name"), name, why, field=field_path((*path, "httpHeaders")))


def _check_tcp(action: Json, path: Path, scope: PodContext) -> None:
    check_port_reference(scope.problems, (*path, "port"), action.get("port"))


def _check_grpc(action: Json, path: Path, scope: PodContext) -> None:
    port = action.get("port")
    check_port_number(scope.problems, (*path, "port"), 0 if port is None else port)
    scope.problems.check_choice((*path, "mode"), action.get("mode"), ("Plaintext", "TLS"))


def _check_sleep(action: Json, path: Path, scope: PodContext) -> None:
    seconds = action.get("seconds")
    seconds = 0 if seconds is None else seconds
    configured = as_field_int(scope.spec.get("terminationGracePeriodSeconds"))
    grace = GRACE_SECONDS if configured is None else max(configured, 1)
    # before 1.33 a sleep of 0 is rejected (PodLifecycleSleepActionAllowZero)
    low = 0 if scope.context.has_gate("PodLifecycleSleepActionAllowZero", 33) else 1
    if type(seconds) is int and not low <= seconds <= grace:
        why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        scope.problems.invalid(path, seconds, why, "shorten the sleep, or lengthen the grace period")


_ACTIONS = {
    "exec": _check_exec,
    "httpGet": _check_http,
    "tcpSocket": _check_tcp,
    "grpc": _check_grpc,
    "sleep": _check_sleep,
}


RESTART_POLICIES = ("Always", "Never", "OnFailure")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_SIDECAR_FIELDS = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle")
_RULES_MAX = 20
_EXIT_CODES_MAX = 255


def check_containers(value: Any, path: Path, seen: set[str], scope: PodContext) -> None:
    """Check `containers` or `initContainers`; the last part of the path says which. `seen` holds the names used
    before.
    """
    if value is None or value == []:
        if path[-1] == "containers":
            scope.problems.required(path, help="add a container")
        return
    init = path[-1] == "initContainers"
    for index, container in indexed_mappings(value):
        container_path = (*path, index)
        _check_names(container, container_path, seen, scope.problems)
        sidecar = not init or container.get("restartPolicy") == "Always"
        for key, part in container.items():
            check = _FIELDS.get(key)
            if check is None or part is None or (key in FIELD_GATES and is_dropped(key, scope.context)):
                continue
            if not sidecar and key in _SIDECAR_FIELDS:
                why = "may not be set for init containers without restartPolicy=Always"
                scope.problems.forbidden((*container_path, key), why)
            else:
                check(part, (*container_path, key), container, scope)


def _check_names(container: Json, path: Path, seen: set[str], problems: FieldErrors) -> None:
    name = container.get("name")
    if name is None or name == "":
        problems.required((*path, "name"), help="name the container")
    elif type(name) is str:
        if not names.is_dns_label(name):
            why = names.why_not_dns_label(name) or ""
            name_path = (*path, "name")
            problems.invalid(name_path, name, why, label_help(name), fix=fix_name(name, name_path))
        problems.check_unseen((*path, "name"), name, seen, "rename one: every container of a pod has its own name")
    image = container.get("image")
    if image is None or image == "":
        problems.required((*path, "image"), help="set the image to run")


def _check_pull_policy(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    if value:
        scope.problems.check_choice(path, value, PULL_POLICIES)


def _check_message_policy(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    if value:
        scope.problems.check_choice(path, value, ("FallbackToLogsOnError", "File"))


def _check_restart(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    """Check `restartPolicy`. Until 1.34 only init containers have it, and only Always (ContainerRestartRules is beta
    since 1.35).
    """
    if scope.context.has_gate("ContainerRestartRules", 35):
        scope.problems.check_choice(path, value, RESTART_POLICIES)
    elif path[-3] == "containers":
        scope.problems.forbidden(path, "may not be set for non-init containers")
    else:
        scope.problems.check_choice(path, value, ("Always",))


def _check_restart_rules(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    if type(value) is not list or not scope.context.has_gate("ContainerRestartRules", 35):
        return
    problems = scope.problems
    if container.get("restartPolicy") is None and value:
        why = "must specify restartPolicy when restart rules are used"
        problems.required((*path[:-1], "restartPolicy"), why)
    if len(value) > _RULES_MAX:
        problems.too_many(path, len(value), _RULES_MAX)
    all_containers = scope.context.has_gate("RestartAllContainersOnContainerExits", 36)
    actions = ("Restart", "RestartAllContainers") if all_containers else ("Restart",)
    for index, rule in indexed_mappings(value):
        rule_path = (*path, index)
        action = rule.get("action")
        codes = rule.get("exitCodes")
        action = "" if action is None else action
        problems.check_choice((*rule_path, "action"), action, actions)
        if codes is None:
            problems.required((*rule_path, "exitCodes"), "must be specified")
        elif type(codes) is dict:
            _check_exit_codes(codes, (*rule_path, "exitCodes"), problems)


def _check_exit_codes(codes: Json, path: Path, problems: FieldErrors) -> None:
    operator = codes.get("operator")
    values = codes.get("values")
    problems.check_choice((*path, "operator"), "" if operator is None else operator, ("In", "NotIn"))
    problems.check_length((*path, "values"), values, _EXIT_CODES_MAX)


def _check_resize(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    problems = scope.problems
    seen = set[str]()
    for index, item in indexed_mappings(value):
        name = item.get("resourceName")
        restart = item.get("restartPolicy")
        item_path = (*path, index)
        if is_empty(name):
            problems.required((*item_path, "resourceName"))
        elif type(name) is str:
            problems.check_choice((*item_path, "resourceName"), name, ("cpu", "memory"))
            problems.check_unseen(item_path, name, seen)
        restart_path = (*item_path, "restartPolicy")
        problems.check_required_choice(restart_path, restart, ("NotRequired", "RestartContainer"))
        if restart == "RestartContainer" and scope.spec.get("restartPolicy") == "Never":
            why = "must be 'NotRequired' when `restartPolicy` is 'Never'"
            problems.invalid(restart_path, restart, why, "use NotRequired", field_path(path))
        elif restart == "RestartContainer" and _is_run_once_init(container, path) and scope.context.at_least(36):
            why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            problems.invalid(restart_path, restart, why, "use NotRequired")


def _is_run_once_init(container: Json, path: Path) -> bool:
    return path[-3] == "initContainers" and container.get("restartPolicy") != "Always"


_FIELDS: dict[str, ContainerCheck] = {
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
