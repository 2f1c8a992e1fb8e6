"""Containers, their probes and lifecycle hooks.

Source: docs/facts/api-server.md#containers 12 to 26 and
docs/facts/api-server.md#probes-lifecycle-and-security 102 to 112, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.validation.context import FIELD_GATES, is_dropped
from ptcompile.apiserver.validation.env import check_env, check_env_from
from ptcompile.apiserver.validation.field import FieldValue, only_field
from ptcompile.apiserver.validation.mounts import check_devices, check_mounts
from ptcompile.apiserver.validation.resources import check_resources
from ptcompile.apiserver.validation.security import check_container_security
from ptcompile.apiserver.validation.values import (
    PULL_POLICIES,
    check_port_number,
    check_port_reference,
    check_ports,
)
from ptcompile.diagnostics import field_path
from ptcompile.diagnostics.field_errors import as_field_int, is_empty, label_help
from ptcompile.diagnostics.fixes import fix_name
from ptcompile.kubernetes import names
from ptcompile.kubernetes.pod_spec import GRACE_SECONDS
from ptcompile.kubernetes.unstructured import Json, nested_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    ContainerCheck = Callable[[FieldValue, Json], None]


_PROBE_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOK_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")
_TIMINGS = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
_is_header = Pattern(r"[-A-Za-z0-9]+").fullmatch


def check_probe(probe: FieldValue, container: Json) -> None:
    """Check a probe; the key of the field says whether it is a liveness, readiness or startup
    probe.
    """
    if not probe.is_mapping:
        return

    grace = probe["terminationGracePeriodSeconds"]
    threshold = probe["successThreshold"]
    has_grace = grace.is_integer
    _check_handler(probe, _PROBE_HANDLERS)
    probe.check_not_negative(*_TIMINGS)
    if probe.key == "readinessProbe":
        if has_grace:
            grace.invalid("must not be set for readinessProbes", "remove it")
    elif has_grace and grace.value <= 0:
        grace.invalid("must be greater than 0")
    elif threshold.is_integer and threshold.value > 1:
        threshold.invalid("must be 1", "leave it out")


def check_lifecycle(hooks: FieldValue, container: Json) -> None:
    """Check `lifecycle` of a container."""
    for name in ("postStart", "preStop"):
        if hooks[name].is_mapping:
            _check_handler(hooks[name], _HOOK_HANDLERS)
    is_kept = hooks.get("stopSignal") and hooks.server.has_gate("ContainerStopSignals")
    if is_kept and is_empty(nested_value(hooks.scope.pod, "os", "name")):
        why = "may not be set for containers with empty `spec.os.name`"
        hooks["stopSignal"].forbidden(why, "set spec.os.name, such as linux")


def _check_handler(hook: FieldValue, kinds: tuple[str, ...]) -> None:
    handler = only_field(hook.set_fields(kinds), "handler")
    if handler is None:
        hook.required("must specify a handler type", f"set one of {', '.join(kinds)}")
    elif handler.is_mapping:
        _ACTIONS[str(handler.key)](handler)


def _check_http(action: FieldValue) -> None:
    headers = action["httpHeaders"]
    check_port_reference(action["port"])
    action["scheme"].check_optional_choice(("HTTP", "HTTPS"))
    for header in headers.objects():
        name = header["name"].or_default("")
        if name.is_text and not _is_header(name.value):
            why = "a valid HTTP header must consist of alphanumeric characters or '-'"
            name.invalid(why, field=field_path(headers.path))


def _check_grpc(action: FieldValue) -> None:
    check_port_number(action["port"])
    action["mode"].check_choice(("Plaintext", "TLS"))


def _check_sleep(action: FieldValue) -> None:
    seconds = action["seconds"].or_zero(0).value
    configured = as_field_int(action.scope.pod.get("terminationGracePeriodSeconds"))
    grace = GRACE_SECONDS if configured is None else max(configured, 1)
    # before 1.33 a sleep of 0 is rejected (PodLifecycleSleepActionAllowZero)
    low = 0 if action.server.has_gate("PodLifecycleSleepActionAllowZero", 33) else 1
    if type(seconds) is int and not low <= seconds <= grace:
        why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
        action.replaced(seconds).invalid(why, "shorten the sleep, or lengthen the grace period")


_ACTIONS: dict[str, Callable[[FieldValue], None]] = {
    "exec": lambda action: action.require("command"),
    "httpGet": _check_http,
    "tcpSocket": lambda action: check_port_reference(action["port"]),
    "grpc": _check_grpc,
    "sleep": _check_sleep,
}


RESTART_POLICIES = ("Always", "Never", "OnFailure")
_MESSAGE_POLICIES = ("FallbackToLogsOnError", "File")
_SIDECAR_FIELDS = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle")
_RULES_MAX = 20
_EXIT_CODES_MAX = 255


def check_containers(containers: FieldValue, seen: set[str]) -> None:
    """Check `containers` or `initContainers`; the key of the field says which. `seen` holds the
    names used before.
    """
    init = containers.key == "initContainers"
    if containers.value in (None, []):
        if not init:
            containers.required(help="add a container")
        return

    for container in containers.objects():
        _check_names(container, seen)
        sidecar = not init or container.get("restartPolicy") == "Always"
        for key, value in container.mapping.items():
            check = _FIELDS.get(key)
            if (
                check is None
                or value is None
                or (key in FIELD_GATES and is_dropped(key, containers.server))
            ):
                continue

            if not sidecar and key in _SIDECAR_FIELDS:
                container[key].forbidden(
                    "may not be set for init containers without restartPolicy=Always"
                )
            else:
                check(container[key], container.value)


def _check_names(container: FieldValue, seen: set[str]) -> None:
    name = container["name"]
    if name.is_empty:
        name.required(help="name the container")
    elif name.is_text:
        if not names.is_dns_label(name.value):
            why = names.why_not_dns_label(name.value) or ""
            fix = fix_name(name.value, name.path)
            name.problems.invalid(name.path, name.value, why, label_help(name.value), fix=fix)
        name.check_unseen(seen, "rename one: every container of a pod has its own name")
    if is_empty(container.get("image")):
        container["image"].required(help="set the image to run")


def _check_restart(policy: FieldValue, container: Json) -> None:
    """Check `restartPolicy`. Until 1.34 only init containers have it, and only Always
    (ContainerRestartRules is beta since 1.35).
    """
    if policy.server.has_gate("ContainerRestartRules", 35):
        policy.check_choice(RESTART_POLICIES)
    elif policy.path[-3] == "containers":
        policy.forbidden("may not be set for non-init containers")
    else:
        policy.check_choice(("Always",))


def _check_restart_rules(rules: FieldValue, container: Json) -> None:
    if not rules.is_list or not rules.server.has_gate("ContainerRestartRules", 35):
        return

    if container.get("restartPolicy") is None and rules.value:
        why = "must specify restartPolicy when restart rules are used"
        rules.problems.required((*rules.path[:-1], "restartPolicy"), why)
    rules.check_length(_RULES_MAX)
    all_containers = rules.server.has_gate("RestartAllContainersOnContainerExits", 36)
    actions = ("Restart", "RestartAllContainers") if all_containers else ("Restart",)
    for rule in rules.objects():
        codes = rule["exitCodes"]
        rule["action"].or_zero("").check_choice(actions)
        codes.check_set("must be specified")
        if codes.is_mapping:
            codes["operator"].or_zero("").check_choice(("In", "NotIn"))
            codes["values"].check_length(_EXIT_CODES_MAX)


def _check_resize(policies: FieldValue, container: Json) -> None:
    seen = set[str]()
    is_init = policies.path[-3] == "initContainers"
    runs_once = is_init and container.get("restartPolicy") != "Always"
    for item in policies.objects():
        name = item["resourceName"]
        restart = item["restartPolicy"]
        if name.is_empty:
            name.required()
        elif name.is_text:
            name.check_choice(("cpu", "memory"))
            item.replaced(name.value).check_unseen(seen)

        restart.check_required_choice(("NotRequired", "RestartContainer"))
        if restart.value != "RestartContainer":
            continue

        if policies.scope.pod.get("restartPolicy") == "Never":
            why = "must be 'NotRequired' when `restartPolicy` is 'Never'"
            restart.invalid(why, "use NotRequired", field_path(policies.path))
        elif runs_once and policies.server.at_least(36):
            restart.invalid(
                "must not be set to 'RestartContainer' for non-sidecar initContainers",
                "use NotRequired",
            )


_FIELDS: dict[str, ContainerCheck] = {
    "imagePullPolicy": lambda policy, _: policy.check_optional_choice(PULL_POLICIES),
    "terminationMessagePolicy": lambda policy, _: policy.check_optional_choice(_MESSAGE_POLICIES),
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
