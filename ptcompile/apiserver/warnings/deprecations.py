"""Warnings about deprecated versions of built-in kinds.

Source: Kubernetes 1.36, apiserver/pkg/endpoints/deprecation: WarningMessage, and the lifecycles of the types. For
versions of custom resources, see `crds.loader.deprecation_of`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.apiserver.warnings.header import warning
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes.requests import ApiServer, GroupVersionKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_LIFECYCLES: Final[dict[GroupVersionKind, tuple[int, int | None, str]]] = {
    ("v1", "Endpoints"): (33, None, "discovery.k8s.io/v1 EndpointSlice"),
    **{
        ("flowcontrol.apiserver.k8s.io/v1beta3", kind): (29, 32, f"flowcontrol.apiserver.k8s.io/v1 {kind}")
        for kind in ("FlowSchema", "PriorityLevelConfiguration")
    },
    **{
        ("admissionregistration.k8s.io/v1beta1", kind): (31, 34, "")
        for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    },
    ("storage.k8s.io/v1beta1", "VolumeAttributesClass"): (34, 37, "storage.k8s.io/v1 VolumeAttributesClass"),
    **{("networking.k8s.io/v1beta1", kind): (34, 37, "") for kind in ("IPAddress", "ServiceCIDR")},
    **{
        (f"resource.k8s.io/{version}", kind): (deprecated, deprecated + 3, "")
        for version, deprecated in (("v1beta1", 35), ("v1beta2", 36))
        for kind in ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")
    },
}
"""Minor releases of Kubernetes 1 that deprecated a kind and that no longer serve it, and its replacement or ""."""


def built_in_version_warnings(kind: GroupVersionKind, server: ApiServer) -> Iterator[Problem]:
    """Yield a warning if the server deprecates this version of a built-in kind."""
    deprecated, removed, replacement = _LIFECYCLES.get(kind, (None, None, ""))
    if deprecated is None or not server.at_least(deprecated):
        return
    text = f"{kind[0]} {kind[1]} is deprecated in v1.{deprecated}+"
    text += f", unavailable in v1.{removed}+" if removed is not None else ""
    text += f"; use {replacement}" if replacement else ""
    help = f"use {replacement}" if replacement else "use a newer apiVersion"
    yield deprecated_version(text, help)


def deprecated_version(text: str, help: str) -> Problem:
    """Return the warning that an apiVersion is deprecated, in the server's words."""
    return warning("deprecated-api", ("apiVersion",), text, help, field="")
