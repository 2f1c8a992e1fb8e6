"""What field rules know beside the object: server version, feature gates, the pod under check, an update."""

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
    """One pod spec under check: what its parts need to know of the whole."""

    spec: Mapping[str, Any]
    context: ApiServer
    template: bool
    """A template inside another object, not a Pod: fewer defaults, a few rules less."""
    volumes: Mapping[str, Any] | None
    """The volumes by name, or `None` where they cannot be known (so no mount is called missing)."""
    claims: frozenset[str] | None
    """Names in `resourceClaims`, or `None` where they cannot be known."""
    found: list[Problem]


ON_SINCE: Final[dict[str, int]] = {
    "claims": 34,  # DynamicResourceAllocation
    "image": 35,  # ImageVolume
    "resizePolicy": 33,  # InPlacePodVerticalScaling
    "resourceClaims": 34,  # DynamicResourceAllocation
    "seLinuxChangePolicy": 33,  # SELinuxChangePolicy
    "supplementalGroupsPolicy": 33,  # SupplementalGroupsPolicy
    "volumeAttributesClassName": 34,  # VolumeAttributesClass
}
"""The minor version of Kubernetes 1 in which a field's gate is first on, by the field's name in a pod, a container, a
claim or a volume."""


def is_dropped(field: str, context: ApiServer) -> bool:
    """Whether the server drops a field unread. Only fields of `ON_SINCE` need to be asked for."""
    return field in ON_SINCE and not context.at_least(ON_SINCE[field])
