"""The level restricted: baseline, and what a hardened pod says of itself (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import mapping
from ptcompile.validate.pod_security.baseline import proc_mount
from ptcompile.validate.pod_security.checks import Check, Pod, Violation, items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

OVERRIDDEN: Final = frozenset({"capabilities_baseline", "hostPathVolumes", "procMount", "seccompProfile_baseline"})
"""Checks of baseline in whose place stricter ones stand."""

_VOLUMES: Final = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)
_PROFILES: Final = ("Localhost", "RuntimeDefault")


def _escalation(pod: Pod) -> Iterator[Violation]:
    if pod.minor >= 25 and pod.is_windows():
        return
    for path, who, context in list(pod.contexts())[1:]:
        if context.get("allowPrivilegeEscalation") is not False:
            detail = f"{who} must set securityContext.allowPrivilegeEscalation=false"
            help = "set securityContext.allowPrivilegeEscalation: false"
            where = (*path, "allowPrivilegeEscalation")
            yield Violation(where, "allowPrivilegeEscalation != false", detail, help)


def _capabilities(pod: Pod) -> Iterator[Violation]:
    if pod.minor < 22 or (pod.minor >= 25 and pod.is_windows()):
        return
    for path, who, context in list(pod.contexts())[1:]:
        capabilities = mapping(context.get("capabilities"))
        if "ALL" not in items(capabilities.get("drop")):
            detail = f'{who} must set securityContext.capabilities.drop=["ALL"]'
            help = "set securityContext.capabilities.drop: [ALL]"
            yield Violation((*path, "capabilities", "drop"), "unrestricted capabilities", detail, help)
        for index, name in enumerate(items(capabilities.get("add"))):
            if isinstance(name, str) and name != "NET_BIND_SERVICE":
                detail = f'{who} must not include "{name}" in securityContext.capabilities.add'
                help = "remove it; RDMA needs IPC_LOCK, and so a namespace of the level privileged"
                yield Violation((*path, "capabilities", "add", index), "unrestricted capabilities", detail, help)


def _proc_mount(pod: Pod) -> Iterator[Violation]:
    return proc_mount(pod, always=pod.minor >= 35)


def _volumes(pod: Pod) -> Iterator[Violation]:
    for index, volume in enumerate(items(pod.spec.get("volumes"))):
        for kind, source in mapping(volume).items():
            if kind != "name" and source is not None and kind not in _VOLUMES:
                detail = f'volume "{volume.get("name")}" uses restricted volume type "{kind}"'
                help = "use a PersistentVolumeClaim"
                yield Violation(("spec", "volumes", index, kind), "restricted volume types", detail, help)


def _non_root(pod: Pod) -> Iterator[Violation]:
    if pod.minor >= 35 and pod.spec.get("hostUsers") is False:
        return
    contexts = list(pod.contexts())
    path, _, own = contexts[0]
    reason, help = "runAsNonRoot != true", "set securityContext.runAsNonRoot: true, and a user in the image"
    if own.get("runAsNonRoot") is False:
        where = (*path, "runAsNonRoot")
        yield Violation(where, reason, "pod must not set securityContext.runAsNonRoot=false", help)
    for place, who, context in contexts[1:]:
        value = context.get("runAsNonRoot")
        if value is False:
            detail = f"{who} must not set securityContext.runAsNonRoot=false"
            yield Violation((*place, "runAsNonRoot"), reason, detail, help)
        elif value is not True and own.get("runAsNonRoot") is not True:
            detail = f"pod or {who} must set securityContext.runAsNonRoot=true"
            yield Violation((*place, "runAsNonRoot"), reason, detail, help)


def _user(pod: Pod) -> Iterator[Violation]:
    if pod.minor < 23 or (pod.minor >= 35 and pod.spec.get("hostUsers") is False):
        return
    for path, who, context in pod.contexts():
        if context.get("runAsUser") == 0:
            yield Violation((*path, "runAsUser"), "runAsUser=0", f"{who} must not set runAsUser=0", "use another user")


def _seccomp(pod: Pod) -> Iterator[Violation]:
    if pod.minor < 19 or (pod.minor >= 25 and pod.is_windows()):
        return
    contexts = list(pod.contexts())
    own = mapping(contexts[0][2].get("seccompProfile")).get("type")
    help = "set securityContext.seccompProfile.type: RuntimeDefault"
    for index, (path, who, context) in enumerate(contexts):
        kind = mapping(context.get("seccompProfile")).get("type")
        where = (*path, "seccompProfile", "type")
        if isinstance(kind, str) and kind not in _PROFILES:
            detail = f'{who} must not set securityContext.seccompProfile.type to "{kind}"'
            yield Violation(where, "seccompProfile", detail, help)
        elif index and kind is None and own is None:
            detail = f'pod or {who} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
            yield Violation(where, "seccompProfile", detail, help)


RESTRICTED: Final[dict[str, Check]] = {
    "allowPrivilegeEscalation": _escalation,
    "capabilities_restricted": _capabilities,
    "procMount_restricted": _proc_mount,
    "restrictedVolumes": _volumes,
    "runAsNonRoot": _non_root,
    "runAsUser": _user,
    "seccompProfile_restricted": _seccomp,
}
"""By the server's own names of the checks."""
