"""Checks of the Pod Security levels baseline and restricted.

Loaded only if a level is set (`pod_security`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import (
    Json,
    as_list,
    as_mapping,
    nested_map,
    nested_string,
    nested_value,
)

CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


class Violation(NamedTuple):
    """One violation of a level: its path in the pod, and the server's message."""

    path: Path
    reason: str
    detail: str
    help: str


class CheckedPod(NamedTuple):
    """The pod being checked."""

    spec: Json
    meta: Json
    minor: int
    """Minor version of Kubernetes whose checks apply."""

    def containers(self) -> Iterator[tuple[Path, str, Json]]:
        """Yield path, name and container of each kind."""
        for key in CONTAINERS:
            for index, container in enumerate(as_list(self.spec.get(key))):
                if isinstance(container, Mapping):
                    yield ("spec", key, index), str(container.get("name")), container

    def contexts(self) -> Iterator[tuple[Path, str, Json]]:
        """Yield the security contexts of the pod and of each container: path, subject of the
        message, context.
        """
        yield ("spec", "securityContext"), "pod", nested_map(self.spec, "securityContext")
        for path, name, container in self.containers():
            context = nested_map(container, "securityContext")
            yield (*path, "securityContext"), f'container "{name}"', context

    def is_windows(self) -> bool:
        """Return whether the pod declares itself a Windows pod, which checks of Linux leave out
        since 1.25.
        """
        return self.minor >= 25 and nested_string(self.spec, "os", "name") == "windows"

    def has_own_users(self) -> bool:
        """Return whether the pod has its own user namespace, which some checks leave out
        since 1.35.
        """
        return self.minor >= 35 and self.spec.get("hostUsers") is False


PolicyCheck = Callable[[CheckedPod], Iterator[Violation]]


_APP_ARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/"
_TABLE = load_table("apiserver/admission/pod_security.json")
_BASELINE_CAPABILITIES = frozenset(_TABLE["baseline capabilities"])
_SAFE_SYSCTLS: Mapping[str, int] = _TABLE["safe sysctls"]
"""Safe sysctls, with the minor version since which they are safe."""

_SE_LINUX_TYPES = ("", "container_init_t", "container_kvm_t", "container_t")
_ALLOWED_PROFILES = ("Localhost", "RuntimeDefault")
_HANDLERS = (
    ("livenessProbe",),
    ("readinessProbe",),
    ("startupProbe",),
    ("lifecycle", "postStart"),
    ("lifecycle", "preStop"),
)


def _app_armor(pod: CheckedPod) -> Iterator[Violation]:
    reason = "forbidden AppArmor profile"
    help = "use RuntimeDefault, or remove it"
    for path, subject, context in pod.contexts():
        kind = nested_value(context, "appArmorProfile", "type")
        if isinstance(kind, str) and kind not in _ALLOWED_PROFILES:
            detail = f'{subject} must not set AppArmor profile type to "{kind}"'
            yield Violation((*path, "appArmorProfile", "type"), reason, detail, help)

    for key, value in nested_map(pod.meta, "annotations").items():
        allowed = value in ("", "runtime/default") or str(value).startswith("localhost/")
        if str(key).startswith(_APP_ARMOR_PREFIX) and not allowed:
            yield Violation(
                ("metadata", "annotations", key), reason, f'annotation "{key}={value}"', help
            )


def _capabilities(pod: CheckedPod) -> Iterator[Violation]:
    for path, subject, context in pod.contexts():
        added = as_list(nested_value(context, "capabilities", "add"))
        for index, name in enumerate(added):
            if isinstance(name, str) and name not in _BASELINE_CAPABILITIES:
                detail = f'{subject} must not include "{name}" in securityContext.capabilities.add'
                help = "remove it; RDMA needs IPC_LOCK and therefore a privileged namespace"
                yield Violation(
                    (*path, "capabilities", "add", index), "non-default capabilities", detail, help
                )


def _host_namespaces(pod: CheckedPod) -> Iterator[Violation]:
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.spec.get(name) is True:
            yield Violation(
                ("spec", name),
                "host namespaces",
                f"{name}=true",
                "remove it, or use another namespace",
            )


def _host_paths(pod: CheckedPod) -> Iterator[Violation]:
    for index, volume in enumerate(as_list(pod.spec.get("volumes"))):
        if nested_value(volume, "hostPath") is not None:
            detail = f'volume "{volume.get("name")}"'
            help = "use an emptyDir, or a PersistentVolumeClaim"
            yield Violation(
                ("spec", "volumes", index, "hostPath"), "hostPath volumes", detail, help
            )


def _host_ports(pod: CheckedPod) -> Iterator[Violation]:
    for path, name, container in pod.containers():
        for index, port in enumerate(as_list(container.get("ports"))):
            number: Any = nested_value(port, "hostPort")
            if number:
                detail = f'container "{name}" uses hostPort {number}'
                yield Violation(
                    (*path, "ports", index, "hostPort"), "hostPort", detail, "remove it"
                )


def _probe_hosts(pod: CheckedPod) -> Iterator[Violation]:
    if pod.minor < 34:
        return

    for path, name, container in pod.containers():
        for steps in _HANDLERS:
            for kind in ("httpGet", "tcpSocket"):
                host = nested_value(container, *steps, kind, "host")
                if host:
                    detail = f'container "{name}" uses probe or lifecycle host "{host}"'
                    yield Violation(
                        (*path, *steps, kind, "host"),
                        "probe or lifecycle host",
                        detail,
                        "remove it: the default is the pod's address",
                    )


def _privileged(pod: CheckedPod) -> Iterator[Violation]:
    for path, subject, context in pod.contexts():
        if context.get("privileged") is True:
            detail = f"{subject} must not set securityContext.privileged=true"
            yield Violation((*path, "privileged"), "privileged", detail, "remove it")


def _proc_mount(pod: CheckedPod, *, restricted: bool = False) -> Iterator[Violation]:
    """Yield a violation for each `procMount` other than Default. Since 1.35 baseline allows any in
    a pod with its own user namespace.
    """
    if pod.has_own_users() and not restricted:
        return
    for path, subject, context in pod.contexts():
        value = context.get("procMount")
        if isinstance(value, str) and value != "Default":
            detail = f'{subject} must not set securityContext.procMount to "{value}"'
            yield Violation((*path, "procMount"), "procMount", detail, "remove it")


def _se_linux(pod: CheckedPod) -> Iterator[Violation]:
    allowed = (*_SE_LINUX_TYPES, "container_engine_t") if pod.minor >= 31 else _SE_LINUX_TYPES
    for path, subject, context in pod.contexts():
        options = nested_map(context, "seLinuxOptions")
        kind = options.get("type")
        if isinstance(kind, str) and kind not in allowed:
            details = [("type", f'type "{kind}"')]
        else:
            details = []

        details += [
            (name, f"{name} may not be set") for name in ("user", "role") if options.get(name)
        ]
        for name, detail in details:
            message = f"{subject} set forbidden securityContext.seLinuxOptions: {detail}"
            yield Violation((*path, "seLinuxOptions", name), "seLinuxOptions", message, "remove it")


def _seccomp(pod: CheckedPod) -> Iterator[Violation]:
    for path, subject, context in pod.contexts():
        kind = nested_value(context, "seccompProfile", "type")
        if isinstance(kind, str) and kind not in _ALLOWED_PROFILES:
            detail = f'{subject} must not set securityContext.seccompProfile.type to "{kind}"'
            yield Violation(
                (*path, "seccompProfile", "type"), "seccompProfile", detail, "use RuntimeDefault"
            )


def _sysctls(pod: CheckedPod) -> Iterator[Violation]:
    context = nested_map(pod.spec, "securityContext")
    for index, sysctl in enumerate(as_list(context.get("sysctls"))):
        name = nested_value(sysctl, "name")
        if isinstance(name, str) and pod.minor < _SAFE_SYSCTLS.get(name, 10**6):
            violation_path = ("spec", "securityContext", "sysctls", index, "name")
            yield Violation(violation_path, "forbidden sysctls", name, "set it on the nodes")


def _host_process(pod: CheckedPod) -> Iterator[Violation]:
    for path, subject, context in pod.contexts():
        if nested_value(context, "windowsOptions", "hostProcess") is True:
            detail = f"{subject} must not set securityContext.windowsOptions.hostProcess=true"
            yield Violation(
                (*path, "windowsOptions", "hostProcess"), "hostProcess", detail, "remove it"
            )


BASELINE: dict[str, PolicyCheck] = {
    "appArmorProfile": _app_armor,
    "capabilities_baseline": _capabilities,
    "hostNamespaces": _host_namespaces,
    "hostPathVolumes": _host_paths,
    "hostPorts": _host_ports,
    "hostProbesAndHostLifecycle": _probe_hosts,
    "privileged": _privileged,
    "procMount": _proc_mount,
    "seLinuxOptions": _se_linux,
    "seccompProfile_baseline": _seccomp,
    "sysctls": _sysctls,
    "windowsHostProcess": _host_process,
}
"""Checks keyed by the server's names."""


OVERRIDDEN = frozenset(
    {"capabilities_baseline", "hostPathVolumes", "procMount", "seccompProfile_baseline"}
)
"""Checks of baseline that stricter ones of restricted replace."""

_ALLOWED_VOLUMES = frozenset(_TABLE["restricted volumes"])


def _privilege_escalation(pod: CheckedPod) -> Iterator[Violation]:
    if pod.is_windows():
        return

    _, *contexts = pod.contexts()
    for path, subject, context in contexts:
        if context.get("allowPrivilegeEscalation") is not False:
            detail = f"{subject} must set securityContext.allowPrivilegeEscalation=false"
            help = "set securityContext.allowPrivilegeEscalation: false"
            violation_path = (*path, "allowPrivilegeEscalation")
            yield Violation(violation_path, "allowPrivilegeEscalation != false", detail, help)


def _restricted_capabilities(pod: CheckedPod) -> Iterator[Violation]:
    if pod.minor < 22 or pod.is_windows():
        return

    _, *contexts = pod.contexts()
    for path, subject, context in contexts:
        capabilities = nested_map(context, "capabilities")
        if "ALL" not in as_list(capabilities.get("drop")):
            detail = f'{subject} must set securityContext.capabilities.drop=["ALL"]'
            help = "set securityContext.capabilities.drop: [ALL]"
            yield Violation(
                (*path, "capabilities", "drop"), "unrestricted capabilities", detail, help
            )

        for index, name in enumerate(as_list(capabilities.get("add"))):
            if isinstance(name, str) and name != "NET_BIND_SERVICE":
                detail = f'{subject} must not include "{name}" in securityContext.capabilities.add'
                help = "remove it; RDMA needs IPC_LOCK and therefore a privileged namespace"
                yield Violation(
                    (*path, "capabilities", "add", index), "unrestricted capabilities", detail, help
                )


def _restricted_volumes(pod: CheckedPod) -> Iterator[Violation]:
    for index, volume in enumerate(as_list(pod.spec.get("volumes"))):
        for kind, source in as_mapping(volume).items():
            if kind != "name" and source is not None and kind not in _ALLOWED_VOLUMES:
                detail = f'volume "{volume.get("name")}" uses restricted volume type "{kind}"'
                help = "use a PersistentVolumeClaim"
                yield Violation(
                    ("spec", "volumes", index, kind), "restricted volume types", detail, help
                )


def _non_root(pod: CheckedPod) -> Iterator[Violation]:
    if pod.has_own_users():
        return

    (path, _, pod_context), *contexts = pod.contexts()
    reason = "runAsNonRoot != true"
    help = "set securityContext.runAsNonRoot: true, and a user in the image"
    if pod_context.get("runAsNonRoot") is False:
        violation_path = (*path, "runAsNonRoot")
        yield Violation(
            violation_path, reason, "pod must not set securityContext.runAsNonRoot=false", help
        )

    for path_of_container, subject, context in contexts:
        value = context.get("runAsNonRoot")
        if value is False:
            detail = f"{subject} must not set securityContext.runAsNonRoot=false"
            yield Violation((*path_of_container, "runAsNonRoot"), reason, detail, help)
        elif value is not True and pod_context.get("runAsNonRoot") is not True:
            detail = f"pod or {subject} must set securityContext.runAsNonRoot=true"
            yield Violation((*path_of_container, "runAsNonRoot"), reason, detail, help)


def _root_user(pod: CheckedPod) -> Iterator[Violation]:
    if pod.minor < 23 or pod.has_own_users():
        return
    for path, subject, context in pod.contexts():
        if context.get("runAsUser") == 0:
            yield Violation(
                (*path, "runAsUser"),
                "runAsUser=0",
                f"{subject} must not set runAsUser=0",
                "use another user",
            )


def _restricted_seccomp(pod: CheckedPod) -> Iterator[Violation]:
    if pod.minor < 19 or pod.is_windows():
        return

    contexts = list(pod.contexts())
    _, _, pod_context = contexts[0]
    pod_profile_type = nested_value(pod_context, "seccompProfile", "type")
    help = "set securityContext.seccompProfile.type: RuntimeDefault"
    for index, (path, subject, context) in enumerate(contexts):
        kind = nested_value(context, "seccompProfile", "type")
        violation_path = (*path, "seccompProfile", "type")
        if isinstance(kind, str) and kind not in _ALLOWED_PROFILES:
            detail = f'{subject} must not set securityContext.seccompProfile.type to "{kind}"'
            yield Violation(violation_path, "seccompProfile", detail, help)
        elif index and kind is None and pod_profile_type is None:
            detail = (
                f"pod or {subject} must set securityContext.seccompProfile.type to "
                '"RuntimeDefault" or "Localhost"'
            )
            yield Violation(violation_path, "seccompProfile", detail, help)


RESTRICTED: dict[str, PolicyCheck] = {
    "allowPrivilegeEscalation": _privilege_escalation,
    "capabilities_restricted": _restricted_capabilities,
    "procMount_restricted": partial(_proc_mount, restricted=True),
    "restrictedVolumes": _restricted_volumes,
    "runAsNonRoot": _non_root,
    "runAsUser": _root_user,
    "seccompProfile_restricted": _restricted_seccomp,
}
"""Checks keyed by the server's names."""


def violations(level: str, minor: int, spec: Json, meta: Json) -> Iterator[Violation]:
    """Yield the violations of a level by a pod."""
    pod = CheckedPod(spec, meta, minor)
    for name, check in BASELINE.items():
        if level == "baseline" or name not in OVERRIDDEN:
            yield from check(pod)
    if level == "restricted":
        for check in RESTRICTED.values():
            yield from check(pod)
