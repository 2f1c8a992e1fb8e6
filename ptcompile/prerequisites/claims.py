"""What a cluster must have for the devices that pods claim: the driver, its DeviceClasses, what queues ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ptcompile.kubernetes.untyped import at, items, text
from ptcompile.operators.all import BY_FOLDER
from ptcompile.operators.common.queue_system import QueueSystem
from ptcompile.operators.record import Operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.vocabulary.cluster.model import ClusterProfile

DRIVER: Final = BY_FOLDER["nvidia_dra"]
CHANNELS: Final = "compute-domain-default-channel.nvidia.com"
"""The DeviceClass of the channels of ComputeDomains, whose template the driver makes."""


def device_classes(manifests: Iterable[Mapping[str, Any]]) -> list[str]:
    """The DeviceClasses that the templates and ComputeDomains among some manifests ask for, each once."""
    found: dict[str, None] = {}
    for one in manifests:
        kind = text(one.get("kind"))
        if kind == "ComputeDomain":
            found[CHANNELS] = None
        elif kind in {"ResourceClaimTemplate", "ResourceClaim"}:
            spec = at(one, "spec", "spec") if kind == "ResourceClaimTemplate" else at(one, "spec")
            for request in items(at(spec, "devices").get("requests")):
                for exact in (request, at(request, "exactly"), *items(request.get("firstAvailable"))):
                    if name := text(exact.get("deviceClassName")):
                        found[name] = None
    return list(found)


def drivers(classes: Iterable[str]) -> Iterator[Operator]:
    """The drivers of DeviceClasses, of those that are known."""
    if any(name.endswith(".nvidia.com") for name in classes):
        yield DRIVER


def class_objects(
    classes: Iterable[str], queues: QueueSystem | None, cluster: ClusterProfile
) -> Iterator[tuple[str, str, str]]:
    """Kind, name and reason of what stands for DeviceClasses in the cluster; `queues` are of what admits the job."""
    for name in classes:
        yield "object", f"DeviceClass/{name}", "of its DRA driver"
        if queues is not None and queues.devices is not None:
            yield "object", *queues.devices(name, cluster.versions())
