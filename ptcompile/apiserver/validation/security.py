"""Security contexts of containers and pods.

Source: docs/facts/api-server.md#probes-lifecycle-and-security 113 to 120, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.validation.context import is_dropped
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.mounts import why_not_relative
from ptcompile.diagnostics import field_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import (
    Json,
    as_list,
    nested_maps,
    nested_value,
)

ID_MAX = 2**31 - 1
_APP_ARMOR_PROFILE_MAX = 4095
_is_sysctl = Pattern(
    r"(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?"
).fullmatch
_IPC_SYSCTLS = ("kernel.shm", "kernel.msg", "fs.mqueue.")
_FIELD_CHOICES = {
    "fsGroupChangePolicy": ("Always", "OnRootMismatch"),
    "supplementalGroupsPolicy": ("Merge", "Strict"),
    "seLinuxChangePolicy": ("MountOption", "Recursive"),
}


def check_container_security(security: FieldValue, container: Json) -> None:
    """Check `securityContext` of a container."""
    proc = security["procMount"]
    for name in ("runAsUser", "runAsGroup"):
        security[name].check_range(0, ID_MAX)
    _check_profiles(security)
    proc.check_choice(("Default", "Unmasked"))
    kept = security.server.has_gate("ProcMountType", 33)
    if proc.value == "Unmasked" and kept and security.scope.pod.get("hostUsers") is not False:
        proc.invalid("`hostUsers` must be false to use `Unmasked`")
    if security.get("allowPrivilegeEscalation") is False:
        added = security["capabilities"].get("add")
        conflict = "privileged" if security.get("privileged") is True else None
        if type(added) is list and "CAP_SYS_ADMIN" in added:
            conflict = conflict or "capabilities.Add CAP_SYS_ADMIN"
        if conflict:
            why = f"cannot set `allowPrivilegeEscalation` to false and `{conflict}` to true"
            security.invalid(why, "leave `allowPrivilegeEscalation` out")


def check_pod_security(security: FieldValue) -> None:
    """Check `spec.securityContext`."""
    groups = security["supplementalGroups"]
    for name in ("runAsUser", "runAsGroup", "fsGroup"):
        security[name].check_range(0, ID_MAX)
    for group in groups.items(as_list(groups.value)):
        group.check_range(0, ID_MAX)
    for name, allowed in _FIELD_CHOICES.items():
        if not is_dropped(name, security.server):
            security[name].check_choice(allowed)
    _check_profiles(security)
    _check_sysctls(security["sysctls"])


def _check_profiles(security: FieldValue) -> None:
    for name in ("seccompProfile", "appArmorProfile"):
        if security[name].is_mapping:
            _check_profile(security[name])
    _check_windows(security["windowsOptions"])


def _check_profile(profile: FieldValue) -> None:
    kind = profile["type"]
    local = profile["localhostProfile"]
    if kind.is_empty:
        kind.required(f"type is required when {profile.key} is set")
        return

    kind.check_choice(("Localhost", "RuntimeDefault", "Unconfined"))
    if kind.value != "Localhost":
        if local.is_text:
            local.invalid("can only be set when type is Localhost", "remove it")
    elif local.value is None:
        local.required("must be set when type is Localhost")
    elif profile.key == "appArmorProfile":
        _check_app_armor(local)
    else:
        local.check_text(why_not_relative)


def _check_app_armor(local: FieldValue) -> None:
    text = local.value
    if type(text) is not str:
        return
    if not text.strip():
        local.required("must be set when AppArmor type is Localhost")
    elif text.strip() != text:
        local.invalid("must not be padded with whitespace")
    elif len(text) > _APP_ARMOR_PROFILE_MAX:
        local.too_long(_APP_ARMOR_PROFILE_MAX)


def _check_windows(options: FieldValue) -> None:
    spec = options["gmsaCredentialSpec"]
    user = options["runAsUserName"]
    options["gmsaCredentialSpecName"].check_text(names.why_not_dns_subdomain)
    if spec.value == "":
        spec.invalid("gmsaCredentialSpec cannot be an empty string")
    elif spec.is_longer(64 * 1024):
        spec.invalid("gmsaCredentialSpec size must be under 64 KiB")
    if user.value == "":
        user.invalid("runAsUserName cannot be an empty string")
    elif user.is_text and (user.value.count("\\") > 1 or not user.value.isprintable()):
        user.invalid("must be DOMAIN\\USER or USER, without control characters")


def _check_sysctls(sysctls: FieldValue) -> None:
    seen = set[str]()
    for item in sysctls.objects():
        name = item["name"]
        if name.is_empty:
            name.required()
        elif name.is_text:
            name.check_name(_why_not_sysctl, seen)
            _check_sysctl_host(name)


def _why_not_sysctl(name: str) -> str | None:
    if len(name) <= 253 and _is_sysctl(name):
        return None
    return "must have at most 253 characters and be parts joined by '.' or '/'"


def _check_sysctl_host(name: FieldValue) -> None:
    text = name.value
    pod = name.scope.pod
    # a sysctl whose first separator is a slash has slashes and dots exchanged
    first = min((i for i in (text.find("."), text.find("/")) if i >= 0), default=-1)
    dotted = text.replace("/", ".") if first >= 0 and text[first] == "/" else text
    if dotted.startswith("net.") and pod.get("hostNetwork") is True:
        name.invalid("may not be specified when 'hostNetwork' is set to true")
    elif (dotted.startswith(_IPC_SYSCTLS) or dotted == "kernel.sem") and pod.get("hostIPC") is True:
        name.invalid("may not be specified when 'hostIPC' is set to true")


def check_host_process(spec: FieldValue) -> None:
    """Check that a pod with Windows host processes uses the host's network."""
    if spec.get("hostNetwork") is True:
        return
    for holder in (spec.mapping, *nested_maps(spec.value, "containers")):
        if nested_value(holder, "securityContext", "windowsOptions", "hostProcess") is True:
            why = "hostNetwork must be true if pod contains any hostProcess containers"
            spec["hostNetwork"].replaced(False).invalid(why, "set hostNetwork: true")
            return


def check_host_namespaces(spec: FieldValue) -> None:
    """Check which host namespaces a pod may share, given its other settings."""
    if spec.get("shareProcessNamespace") is True and spec.get("hostPID") is True:
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        field = field_path(spec["securityContext"]["shareProcessNamespace"].path)
        spec["shareProcessNamespace"].invalid(why, field=field)
    if spec.get("hostUsers") is not False:
        return

    why_alone = "when `hostUsers` is false"
    help = "leave `hostUsers` out"
    namespaces: tuple[str, ...] = ("hostPID", "hostIPC")
    if not spec.server.has_gate("UserNamespacesHostNetworkSupport"):
        namespaces = ("hostNetwork", *namespaces)
    for name in namespaces:
        if spec.get(name) is True:
            spec[name].forbidden(why_alone, help)

    if not spec.server.at_least(35):
        return

    for key in ("containers", "initContainers"):
        for container in spec[key].objects():
            if container.get("volumeDevices"):
                container["volumeDevices"].forbidden(why_alone, help)
