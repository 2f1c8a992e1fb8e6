"""What a job claims of DRA drivers (resource.k8s.io), as the compiler holds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

CHANNEL: Final = "compute-domain-channel"
"""What pods call their claim of a channel of the job's ComputeDomain."""

GPU: Final = "gpu"
"""What pods call their claim of whole GPUs."""

DOMAIN_LABEL: Final = "ptcompile/compute-domain"
"""Label of the nodes' pods with the job's name, by which they are kept in one rack: the same on every target."""


class Claim(NamedTuple):
    """Devices that each pod of some roles claims, by a ResourceClaimTemplate of the job's."""

    name: str
    """What pods call it, and its only request: a DNS label."""
    template: str
    """The template's name."""
    device_class: str
    count: int  # type: ignore[assignment]  # not the method that tuples have
    selectors: tuple[str, ...] = ()
    """CEL expressions."""
    accelerators: bool = False
    """Whether the devices are accelerators, one process each."""


def accelerators_in(claims: Iterable[Claim], pod: Mapping[str, Any]) -> int:
    """How many accelerators a pod's spec claims, by the job's templates."""
    named = {one.get("resourceClaimTemplateName") for one in pod.get("resourceClaims") or ()}
    return sum([one.count for one in claims if one.accelerators and one.template in named])


def channel_template(job: str) -> str:
    """The template of a channel, which the driver's controller makes for the job's ComputeDomain."""
    return f"{job}-{CHANNEL}"
