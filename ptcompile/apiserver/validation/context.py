"""What field rules use besides the object: server version, feature gates, the pod being checked, an update."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Problem
from ptcompile.registry.model import ApiServer, Update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


UpdateValidator = Callable[[Update], Iterator[Problem]]


class PodContext(NamedTuple):
    """The pod spec being checked, as its parts need it."""

    spec: Mapping[str, Any]
    context: ApiServer
    template: bool
    """Whether the spec is a template in another object instead of a Pod: fewer defaults and fewer rules apply."""
    volumes: Mapping[str, Any] | None
    """Volumes by name, or None if they are unknown, so no mount is reported as missing."""
    claims: frozenset[str] | None
    """Names in `resourceClaims`, or None if they are unknown."""
    problems: list[Problem]


FIELD_ON_SINCE: Final[dict[str, int]] = {
    "claims": 34,  # DynamicResourceAllocation
    "image": 35,  # ImageVolume
    "resizePolicy": 33,  # InPlacePodVerticalScaling
    "resourceClaims": 34,  # DynamicResourceAllocation
    "seLinuxChangePolicy": 33,  # SELinuxChangePolicy
    "supplementalGroupsPolicy": 33,  # SupplementalGroupsPolicy
    "volumeAttributesClassName": 34,  # VolumeAttributesClass
}
"""Minor version of Kubernetes 1 in which a field's feature gate is first on, keyed by the field of a pod, container,
claim or volume.
"""


def is_dropped(field: str, context: ApiServer) -> bool:
    """Return whether the server drops a field unread. Only fields of `FIELD_ON_SINCE` can be dropped."""
    return field in FIELD_ON_SINCE and not context.at_least(FIELD_ON_SINCE[field])
