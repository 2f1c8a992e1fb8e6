"""Fields behind a feature gate: where the gate is off by default, the server drops them before it looks.

By the field's name, as it stands in a pod, a container, a claim or a volume: the minor version of Kubernetes 1 in which
the gate is first on.
"""

from __future__ import annotations

from ptcompile.operators.record import ApiServer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

ON_SINCE: Final[dict[str, int]] = {
    "claims": 34,  # DynamicResourceAllocation
    "image": 35,  # ImageVolume
    "resizePolicy": 33,  # InPlacePodVerticalScaling
    "resourceClaims": 34,  # DynamicResourceAllocation
    "seLinuxChangePolicy": 33,  # SELinuxChangePolicy
    "supplementalGroupsPolicy": 33,  # SupplementalGroupsPolicy
    "volumeAttributesClassName": 34,  # VolumeAttributesClass
}


def is_dropped(field: str, context: ApiServer) -> bool:
    """Whether the server drops a field unread. Only fields of `ON_SINCE` need to be asked for."""
    return field in ON_SINCE and not context.at_least(ON_SINCE[field])
