"""Containers, init containers and sidecars.

Source: docs/facts/api-server.md#containers 12 to 26, Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile.findings.diagnostics import Path, field_path
from ptcompile.findings.value_fixes import as_label
from ptcompile.kubernetes import names
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Scope
from ptcompile.validate.core.env import check_env, check_env_from
from ptcompile.validate.core.gates import ON_SINCE, is_dropped
from ptcompile.validate.core.mounts import check_devices, check_mounts
from ptcompile.validate.core.ports import check_ports
from ptcompile.validate.core.probes import check_lifecycle, check_probe
from ptcompile.validate.core.resources import check_resources
from ptcompile.validate.core.security import check_container_security

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Check = Callable[[Any, Path, dict[str, Any], Scope], None]

RESTART: Final = ("Always", "Never", "OnFailure")
PULL: Final = ("Always", "IfNotPresent", "Never")
_ONLY_SIDECARS: Final = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle")
_MAX_RULES: Final = 20
_MAX_CODES: Final = 255


def check_containers(value: Any, path: Path, seen: set[str], scope: Scope) -> None:
    """`containers` or `initContainers`: the last part of the path says which. `seen` has the names used before."""
    if value is None or value == []:
        if path[-1] == "containers":
            f.required(scope.found, path, help="add a container")
        return
    init = path[-1] == "initContainers"
    for index, container in f.objects(value):
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


def _check_names(container: dict[str, Any], path: Path, seen: set[str], found: f.Found) -> None:
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


def _check_pull_policy(value: Any, path: Path, container: dict[str, Any], scope: Scope) -> None:
    if value:
        f.check_choice(scope.found, path, value, PULL)


def _check_message_policy(value: Any, path: Path, container: dict[str, Any], scope: Scope) -> None:
    if value:
        f.check_choice(scope.found, path, value, ("FallbackToLogsOnError", "File"))


def _check_restart(value: Any, path: Path, container: dict[str, Any], scope: Scope) -> None:
    """Until 1.34 only init containers have one, and only Always (ContainerRestartRules is beta since 1.35)."""
    if scope.context.at_least(35):
        f.check_choice(scope.found, path, value, RESTART)
    elif path[-3] == "containers":
        f.forbidden(scope.found, path, "may not be set for non-init containers")
    else:
        f.check_choice(scope.found, path, value, ("Always",))


def _check_restart_rules(value: Any, path: Path, container: dict[str, Any], scope: Scope) -> None:
    if type(value) is not list or not scope.context.at_least(35):
        return
    found = scope.found
    if container.get("restartPolicy") is None and value:
        why = "must specify restartPolicy when restart rules are used"
        f.required(found, (*path[:-1], "restartPolicy"), why)
    if len(value) > _MAX_RULES:
        f.too_many(found, path, len(value), _MAX_RULES)
    for index, rule in f.objects(value):
        here = (*path, index)
        action, codes = rule.get("action"), rule.get("exitCodes")
        action = "" if action is None else action
        f.check_choice(found, (*here, "action"), action, ("Restart", "RestartAllContainers"))
        if codes is None:
            f.required(found, (*here, "exitCodes"), "must be specified")
        elif type(codes) is dict:
            _check_exit_codes(codes, (*here, "exitCodes"), found)


def _check_exit_codes(codes: dict[str, Any], path: Path, found: f.Found) -> None:
    operator, values = codes.get("operator"), codes.get("values")
    f.check_choice(found, (*path, "operator"), "" if operator is None else operator, ("In", "NotIn"))
    if type(values) is list and len(values) > _MAX_CODES:
        f.too_many(found, (*path, "values"), len(values), _MAX_CODES)


def _check_resize(value: Any, path: Path, container: dict[str, Any], scope: Scope) -> None:
    found, seen = scope.found, set[str]()
    for index, item in f.objects(value):
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


_FIELDS: Final[dict[str, Check]] = {
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
