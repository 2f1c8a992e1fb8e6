"""Names of resources in ResourceQuotas and LimitRanges (Kubernetes 1.36)."""

from __future__ import annotations

from ptcompile.kubernetes.names import is_native_resource
from ptcompile.validate.core.metadata import why_not_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

COMPUTE: Final = frozenset({"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"})
_EPHEMERAL: Final = frozenset({"ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage"})
_COUNTED: Final = frozenset(
    [
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    ]
)
STANDARD: Final = COMPUTE | _EPHEMERAL | _COUNTED | {"requests.storage"}
"""What a quota can limit by a plain name."""


def is_standard(name: str) -> bool:
    """Whether a quota knows a plain name."""
    return name in STANDARD or name.startswith(("hugepages-", "requests.hugepages-"))


def is_whole(name: str) -> bool:
    """Whether amounts of a resource are whole numbers."""
    extended = not is_native_resource(name) and not name.startswith("requests.") and not why_not_key(f"requests.{name}")
    return name in _COUNTED or extended


def why_not_resource_type(name: str) -> str | None:
    """Why a text names no resource."""
    if why := why_not_key(name):
        return why
    if "/" not in name and not is_standard(name) and name != "storage":
        return "must be a standard resource type or fully qualified"
    return None


def why_not_quota(name: str) -> str | None:
    """Why a text names nothing that a quota can limit."""
    why = why_not_resource_type(name)
    if why is None and "/" not in name and not is_standard(name):
        return "must be a standard resource for quota"
    return why
