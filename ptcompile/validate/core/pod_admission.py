"""What holds for a Pod and not for a template: the checks that come when the pod itself is created."""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path
from ptcompile.validate.core import found as f
from ptcompile.validate.core.context import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_MIRROR: Final = "kubernetes.io/config.mirror"
_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_INT32: Final = 2**31
_LINUX_ONLY: Final = ("hostPID", "hostIPC")
_LINUX_ONLY_SET: Final = ("hostUsers", "shareProcessNamespace")
_LINUX_SECURITY: Final = (
    "seLinuxOptions",
    "seccompProfile",
    "appArmorProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
)


def check_pod_alone(spec: dict[str, Any], path: Path, found: f.Found) -> None:
    """Checks that templates pass and their pods do not."""
    for key in ("containers", "initContainers"):
        for index, container in f.objects(spec.get(key)):
            image = container.get("image")
            if type(image) is str and image != image.strip():
                why = "must not have leading or trailing whitespace"
                f.invalid(found, (*path, key, index, "image"), image, why, "remove the blanks")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        why = "cannot be set until all schedulingGates have been cleared"
        f.forbidden(found, (*path, "nodeName"), why)
    _check_priority(spec, path, found)
    if spec.get("overhead") and not spec.get("runtimeClassName"):
        why = "Pod Overhead set without corresponding RuntimeClass defined Overhead"
        f.forbidden(found, (*path, "overhead"), why)


def _check_priority(spec: dict[str, Any], path: Path, found: f.Found) -> None:
    """What the priority admission plugin computes from the class may not be given as another value.

    A cluster may have a default class with just this priority, so a warning.
    """
    if spec.get("priorityClassName"):
        return
    before = len(found)
    if spec.get("priority") and type(spec["priority"]) is int:
        why = f"the integer value of priority ({spec['priority']}) must not be provided in pod spec"
        f.forbidden(found, (*path, "priority"), why, "name a class in priorityClassName")
    if spec.get("preemptionPolicy") == "Never":
        why = "the string value of PreemptionPolicy (Never) must not be provided in pod spec"
        f.forbidden(found, (*path, "preemptionPolicy"), why, "name a class in priorityClassName that has it")
    found[before:] = [problem._replace(severity="warning") for problem in found[before:]]


def check_pod_annotations(meta: Any, spec: Any, path: Path, found: f.Found) -> None:
    """Annotations that mean something to the server (Kubernetes 1.36 `ValidatePodSpecificAnnotations`)."""
    annotations = f.mapping(f.mapping(meta).get("annotations"))
    for key, value in annotations.items():
        here = (*path, "annotations", key)
        if key == _MIRROR and not f.mapping(spec).get("nodeName"):
            f.invalid(found, here, value, "must set spec.nodeName if mirror pod annotation is set", at=f.key_path(here))
        elif key == _DELETION_COST and type(value) is str and not _is_int32(value):
            f.invalid(found, here, value, "must be a 32bit integer", at=f.key_path(here))
        elif key.startswith(_APP_ARMOR) and type(value) is str:
            _check_app_armor(key[len(_APP_ARMOR) :], value, here, spec, found)


def _check_app_armor(container: str, profile: str, path: Path, spec: Any, found: f.Found) -> None:
    if container not in f.container_names(f.mapping(spec)):
        f.invalid(found, path, container, "container not found", "name one of the pod's containers", f.key_path(path))
    if profile not in ("runtime/default", "unconfined", "") and not profile.startswith("localhost/"):
        f.invalid(found, path, profile, "invalid AppArmor profile name", at=f.key_path(path))


def _is_int32(text: str) -> bool:
    if text.startswith("+") or (text.lstrip("-") != "0" and text.lstrip("-").startswith("0")) or text == "-0":
        return False
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 11 and -_INT32 <= int(text) < _INT32


def check_os(value: Any, path: Path, scope: Scope) -> None:
    """`spec.os`, and the fields that the other system has not."""
    if type(value) is not dict:
        return
    name, found = value.get("name"), scope.found
    if f.is_empty(name):
        f.required(found, (*path, "name"), "cannot be empty", "set it to linux, or remove `os`")
    elif name == "windows":
        _check_windows(scope, path[:-1])
    elif name == "linux":
        _check_linux(scope, path[:-1])
    else:
        f.check_choice(found, path, name, ("linux", "windows"))


def _contexts(scope: Scope, path: Path) -> list[tuple[Path, dict[str, Any]]]:
    out = [((*path, "securityContext"), f.mapping(scope.spec.get("securityContext")))]
    for key in ("containers", "initContainers"):
        for index, container in f.objects(scope.spec.get(key)):
            out.append(((*path, key, index, "securityContext"), f.mapping(container.get("securityContext"))))
    return out


def _check_linux(scope: Scope, path: Path) -> None:
    for here, context in _contexts(scope, path):
        if context.get("windowsOptions") is not None:
            why = "windows options cannot be set for a linux pod"
            f.forbidden(scope.found, (*here, "windowsOptions"), why)


def _check_windows(scope: Scope, path: Path) -> None:
    for name in (*_LINUX_ONLY, *_LINUX_ONLY_SET):
        value = scope.spec.get(name)
        if value is True or (value is False and name in _LINUX_ONLY_SET):
            f.forbidden(scope.found, (*path, name), "cannot be set for a windows pod")
    names = (*_LINUX_SECURITY, "capabilities", "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation")
    for here, context in _contexts(scope, path):
        for name in (*names, "procMount"):
            if context.get(name) is not None:
                f.forbidden(scope.found, (*here, name), "cannot be set for a windows pod")
