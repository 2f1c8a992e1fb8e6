"""What a network between nodes is, as data."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = Mapping[str, Any]

_NOTHING: Json = {}


class Fabric(NamedTuple):
    """What a pod needs to reach others over a fabric."""

    source: str
    resources: Mapping[str, str] = _NOTHING
    counted: str | None = None
    """The resource whose amount is the machine's, so that the one in `resources` is only the least."""
    counted_on: tuple[str, ...] | None = None
    """The clouds where that is so; None for everywhere."""
    capabilities: tuple[str, ...] = ()
    env: Mapping[str, str] = _NOTHING
    annotations: Mapping[str, str] = _NOTHING
    pod_template: Json = _NOTHING
    claims: Mapping[str, tuple[str, int]] = _NOTHING
    """Devices that a pod claims (DRA): DeviceClass and number, by the claim's name."""
    compute_domain: bool = False
    """Whether a job has a ComputeDomain, and each of its pods a channel of it."""
    beyond: Mapping[str, str] = _NOTHING
    """The fabric of a cloud that comes along, for the nodes that this one does not reach."""
    of: Mapping[str, Fabric] = _NOTHING
    """What it is instead on the machines of some accelerators."""
    device_network: str = ""
    """The network that the annotation of Multus names once for each of the counted devices."""
    node_has: Mapping[str, int] = _NOTHING
    """What every node has of a resource, in MiB: a pod gets no more than its share of that, by its accelerators."""

    def with_beyond(self, other: Fabric) -> Fabric:
        """This fabric and another one that comes along; what both say is this one's."""
        return self._replace(
            resources={**other.resources, **self.resources},
            counted=self.counted or other.counted,
            counted_on=self.counted_on or other.counted_on,
            capabilities=tuple(dict.fromkeys((*self.capabilities, *other.capabilities))),
            env={**other.env, **self.env},
            annotations={**other.annotations, **self.annotations},
            pod_template=self.pod_template or other.pod_template,
            claims={**other.claims, **self.claims},
            device_network=self.device_network or other.device_network,
            node_has={**other.node_has, **self.node_has},
        )


ON_ETH0 = {"NCCL_SOCKET_IFNAME": "eth0"}
"""Processes find each other on the pod's own interface, also where a second one is attached."""
