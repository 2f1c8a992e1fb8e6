"""Security contexts of containers and pods.

Source: docs/facts/api-server.md#probes-lifecycle-and-security 113 to 120, Kubernetes 1.36.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import Any
from ptcompile.apiserver.validation.context import PodContext, is_dropped
from ptcompile.apiserver.validation.mounts import why_not_relative
from ptcompile.diagnostics import Path, field_path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_items, indexed_mappings, is_empty
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_mapping, nested_map

ID_MAX = 2**31 - 1
_is_sysctl = Pattern(r"(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?").fullmatch
_IPC_SYSCTLS = ("kernel.shm", "kernel.msg", "fs.mqueue.")
_FIELD_CHOICES = {
    "fsGroupChangePolicy": ("Always", "OnRootMismatch"),
    "supplementalGroupsPolicy": ("Merge", "Strict"),
    "seLinuxChangePolicy": ("MountOption", "Recursive"),
}


def check_container_security(value: Any, path: Path, container: Json, scope: PodContext) -> None:
    """Check `securityContext` of a container."""
    if type(value) is not dict:
        return
    problems = scope.problems
    for name in ("runAsUser", "runAsGroup"):
        problems.check_range((*path, name), value.get(name), 0, ID_MAX)
    _check_profiles(value, path, problems)
    proc = value.get("procMount")
    problems.check_choice((*path, "procMount"), proc, ("Default", "Unmasked"))
    kept = scope.context.has_gate("ProcMountType", 33)
    if proc == "Unmasked" and kept and scope.spec.get("hostUsers") is not False:
        problems.invalid((*path, "procMount"), proc, "`hostUsers` must be false to use `Unmasked`")
    if value.get("allowPrivilegeEscalation") is False:
        added = nested_map(value, "capabilities").get("add")
        conflict = "privileged" if value.get("privileged") is True else None
        if type(added) is list and "CAP_SYS_ADMIN" in added:
            conflict = conflict or "capabilities.Add CAP_SYS_ADMIN"
        if conflict:
            why = f"cannot set `allowPrivilegeEscalation` to false and `{conflict}` to true"
            problems.invalid(path, value, why, "leave `allowPrivilegeEscalation` out")


def check_pod_security(value: Any, path: Path, scope: PodContext) -> None:
    """Check `spec.securityContext`."""
    if type(value) is not dict:
        return
    problems = scope.problems
    for name in ("runAsUser", "runAsGroup", "fsGroup"):
        problems.check_range((*path, name), value.get(name), 0, ID_MAX)
    for index, group in indexed_items(value.get("supplementalGroups")):
        problems.check_range((*path, "supplementalGroups", index), group, 0, ID_MAX)
    for name, allowed in _FIELD_CHOICES.items():
        if not is_dropped(name, scope.context):
            problems.check_choice((*path, name), value.get(name), allowed)
    _check_profiles(value, path, problems)
    if value.get("sysctls"):
        _check_sysctls(value["sysctls"], (*path, "sysctls"), scope)


def _check_profiles(value: Json, path: Path, problems: FieldErrors) -> None:
    for name in ("seccompProfile", "appArmorProfile"):
        profile = value.get(name)
        if type(profile) is dict:
            _check_profile(profile, (*path, name), problems)
    windows = value.get("windowsOptions")
    if type(windows) is dict:
        _check_windows(windows, (*path, "windowsOptions"), problems)


def _check_profile(profile: Json, path: Path, problems: FieldErrors) -> None:
    kind = profile.get("type")
    local = profile.get("localhostProfile")
    if is_empty(kind):
        problems.required((*path, "type"), f"type is required when {path[-1]} is set")
        return
    problems.check_choice((*path, "type"), kind, ("Localhost", "RuntimeDefault", "Unconfined"))
    local_path = (*path, "localhostProfile")
    if kind != "Localhost":
        if type(local) is str:
            problems.invalid(local_path, local, "can only be set when type is Localhost", "remove it")
    elif local is None:
        problems.required(local_path, "must be set when type is Localhost")
    elif type(local) is str:
        _check_local(local, local_path, problems)


def _check_local(local: str, path: Path, problems: FieldErrors) -> None:
    if path[-2] == "appArmorProfile":
        if not local.strip():
            problems.required(path, "must be set when AppArmor type is Localhost")
        elif local.strip() != local:
            problems.invalid(path, local, "must not be padded with whitespace")
        elif len(local) > 4095:
            problems.too_long(path, 4095)
    else:
        problems.check_text(path, local, why_not_relative)


def _check_windows(options: Json, path: Path, problems: FieldErrors) -> None:
    name, spec, user = (options.get(k) for k in ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName"))
    problems.check_text((*path, "gmsaCredentialSpecName"), name, names.why_not_dns_subdomain)
    if spec == "":
        problems.invalid((*path, "gmsaCredentialSpec"), spec, "gmsaCredentialSpec cannot be an empty string")
    elif type(spec) is str and len(spec.encode("utf-8", "surrogatepass")) > 64 * 1024:
        problems.invalid((*path, "gmsaCredentialSpec"), spec, "gmsaCredentialSpec size must be under 64 KiB")
    if user == "":
        problems.invalid((*path, "runAsUserName"), user, "runAsUserName cannot be an empty string")
    elif type(user) is str and (user.count("\\") > 1 or not user.isprintable()):
        problems.invalid((*path, "runAsUserName"), user, "must be DOMAIN\\USER or USER, without control characters")


def _check_sysctls(sysctls: Any, path: Path, scope: PodContext) -> None:
    problems = scope.problems
    seen = set[str]()
    for index, item in indexed_mappings(sysctls):
        name = item.get("name")
        name_path = (*path, index, "name")
        if is_empty(name):
            problems.required(name_path)
        elif type(name) is str:
            if len(name) > 253 or not _is_sysctl(name):
                problems.invalid(name_path, name, "must have at most 253 characters and be parts joined by '.' or '/'")
            elif name in seen:
                problems.duplicate(name_path, name)
            seen.add(name)
            _check_sysctl_host(name, name_path, scope)


def _check_sysctl_host(name: str, path: Path, scope: PodContext) -> None:
    first = min((i for i in (name.find("."), name.find("/")) if i >= 0), default=-1)
    dotted = name.replace("/", ".") if first >= 0 and name[first] == "/" else name
    if dotted.startswith("net.") and scope.spec.get("hostNetwork") is True:
        scope.problems.invalid(path, name, "may not be specified when 'hostNetwork' is set to true")
    elif (dotted.startswith(_IPC_SYSCTLS) or dotted == "kernel.sem") and scope.spec.get("hostIPC") is True:
        scope.problems.invalid(path, name, "may not be specified when 'hostIPC' is set to true")


def check_host_process(spec: Any, path: Path, problems: FieldErrors) -> None:
    """Check that a pod with Windows host processes uses the host's network."""
    if spec.get("hostNetwork") is True:
        return
    holders = [spec, *(container for _, container in indexed_mappings(spec.get("containers")))]
    contexts = [context for holder in holders if (context := holder.get("securityContext")) is not None]
    if any(as_mapping(as_mapping(context).get("windowsOptions")).get("hostProcess") is True for context in contexts):
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        problems.invalid((*path, "hostNetwork"), False, why, "set hostNetwork: true")


def check_host_namespaces(spec: Any, path: Path, context: ApiServer, problems: FieldErrors) -> None:
    """Check which host namespaces a pod may share, given its other settings."""
    if spec.get("shareProcessNamespace") is True and spec.get("hostPID") is True:
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        field = field_path((*path, "securityContext", "shareProcessNamespace"))
        problems.invalid((*path, "shareProcessNamespace"), True, why, field=field)
    if spec.get("hostUsers") is False:
        namespaces: tuple[str, ...] = ("hostPID", "hostIPC")
        if not context.has_gate("UserNamespacesHostNetworkSupport", None):
            namespaces = ("hostNetwork", *namespaces)
        for name in namespaces:
            if spec.get(name) is True:
                problems.forbidden((*path, name), "when `hostUsers` is false", "leave `hostUsers` out")
        for key in ("containers", "initContainers") if context.at_least(35) else ():
            for index, container in indexed_mappings(spec.get(key)):
                if container.get("volumeDevices"):
                    devices_path = (*path, key, index, "volumeDevices")
                    problems.forbidden(devices_path, "when `hostUsers` is false", "leave `hostUsers` out")
