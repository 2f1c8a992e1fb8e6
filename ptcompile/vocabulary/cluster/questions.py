"""What a cluster profile can be asked: which accelerators and fabrics are there, and what an amount of them means."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.accelerators import is_accelerator
from ptcompile.kubernetes.versions import Versions, parse_version
from ptcompile.vocabulary.fields import Fields, as_text

if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.devices import Accelerator, Fabric
    from ptcompile.vocabulary.cluster.model import ProfileSpec


class Profile(Fields):
    """A cluster profile, for its answers."""

    __slots__ = ()

    if TYPE_CHECKING:
        spec: ProfileSpec

    def versions(self) -> Versions:
        """The versions in force: those given, else the newest known."""
        given = vars(self.spec.versions)
        return _releases(tuple([(name, text) for name, text in given.items() if text is not None]))

    def accelerator(self, name: str | None) -> Accelerator | None:
        """The entry of a name: the profile's own, else the built-in one for its cloud; None where there is none."""
        if name is None:
            return None
        return self.spec.accelerators.get(name) or built_in_accelerator(name, self.spec.cloud)

    def gpu_resource(self, accelerator: str | None) -> str:
        """What `gpu` is called: the named accelerator's resource, else the cluster's."""
        entry = self.accelerator(accelerator)
        return (entry and entry.resource_name) or self.spec.gpu.resource_name

    def fabric(self, name: str | None) -> Fabric | None:
        """The fabric of a name: what the profile's entry says, over the built-in one; None where there is neither."""
        if name is None:
            return None
        own, known = self.spec.fabrics.get(name), built_in_fabric(name)
        if own is None or known is None:
            return own or known
        return known.but(**{field: getattr(own, field) for field in own.model_fields_set})

    def fabric_amounts(self, name: str | None, accelerator: str | None, devices: int) -> dict[str, str]:
        """What a pod with this many of the named accelerator asks for on a fabric, by Kubernetes resource name.

        The profile's amounts, else those of a whole node of that accelerator, else the built-in ones.
        """
        fabric, entry = self.fabric(name), self.accelerator(accelerator)
        amounts = dict(as_text(fabric.resources)) if fabric else {}
        counted = self.counted(name)
        if entry and counted in amounts and entry.devices_per_node and devices >= entry.devices_per_node:
            amounts[counted] = str(entry.fabric_devices.get(name or "", amounts[counted]))
        return amounts

    def counted(self, name: str | None) -> str | None:
        """The resource of a fabric of which each machine has its own number, where the profile does not give it."""
        own = self.spec.fabrics.get(name or "")
        return None if own and own.resources else counted_resource(name or "")

    def is_accelerator(self, resource: str) -> bool:
        """Whether a resource name stands for an accelerator here."""
        if resource == "gpu" or is_accelerator(resource) or resource == self.spec.gpu.resource_name:
            return True
        own = self.spec.accelerators
        return bool(own) and any(entry.resource_name == resource for entry in own.values())

    def accelerators_in(self, amounts: Mapping[str, str]) -> int:
        """How many accelerators these amounts are, of whatever kind."""
        counts = [quantity.parse(text) for name, text in amounts.items() if self.is_accelerator(name)]
        return sum([count.value for count in counts if count is not None])

    def processes_in(self, amounts: Mapping[str, str], accelerator: str | None) -> int:
        """How many processes these amounts take: one for each accelerator, or as many as the named one's entry says."""
        entry = self.accelerator(accelerator)
        each = entry.processes_per_device if entry else 1
        if each == 1:
            return self.accelerators_in(amounts)
        named = {"gpu", self.gpu_resource(accelerator)}
        ours = {name: amount for name, amount in amounts.items() if name in named}
        others = {name: amount for name, amount in amounts.items() if name not in named}
        return self.accelerators_in(ours) * each + self.accelerators_in(others)

    def uncounted(self, amounts: Mapping[str, str], accelerator: str | None) -> int | None:
        """How many processes these amounts take, where `auto` on the node would be another number; else None.

        torchrun's `auto` counts the devices of CUDA, ROCm and XPU, one process each, and host cores where it sees none
        (PyTorch 2.13); Trainer 2.3 takes a resource for GPUs by the word "gpu" in its name, and counts CPUs otherwise.
        """
        seen = any("gpu" in name.lower() for name in amounts if self.is_accelerator(name))
        processes = self.processes_in(amounts, accelerator)
        return None if seen and processes == self.accelerators_in(amounts) else processes or None


@lru_cache(256)
def _releases(given: tuple[tuple[str, str], ...]) -> Versions:
    return Versions(**{name: parse_version(text) for name, text in given})


@cache
def built_in_accelerator(name: str, cloud: str | None) -> Accelerator | None:
    """The catalogue's entry of a name in a cloud; None where there is none."""
    from ptcompile.catalogue import accelerators
    from ptcompile.catalogue.vendors import ANYWHERE
    from ptcompile.vocabulary import from_schema

    entry = accelerators.find(name, cloud or ANYWHERE)
    if entry is None:
        return None
    several = [
        {"key": key, "operator": "In", "values": list(values)}
        for key, values in entry.labels.items()
        if len(values) > 1
    ]
    absent = [{"key": key, "operator": "DoesNotExist"} for key in entry.without]
    taints = [
        {"key": one.key, "operator": "Equal", "value": one.value, "effect": "NoSchedule"}
        if one.value
        else {"key": one.key, "operator": "Exists", "effect": "NoSchedule"}
        for one in entry.taints
    ]
    return from_schema.accelerator(
        {
            "resourceName": entry.resource,
            "nodeLabels": {key: values[0] for key, values in entry.labels.items() if len(values) == 1},
            "matchExpressions": [*several, *absent],
            "tolerations": taints,
            "processesPerDevice": entry.processes,
            "oneDrivesAll": entry.one_drives_all,
            "env": dict(entry.env),
            "devicesPerNode": entry.whole.devices if entry.whole else None,
            "fabricDevices": dict(entry.whole.fabrics) if entry.whole else {},
        }
    )


@cache
def built_in_fabric(name: str) -> Fabric | None:
    """The built-in fabric of a name; None where there is none."""
    from ptcompile.catalogue.fabrics import FABRICS
    from ptcompile.vocabulary import from_schema

    entry = FABRICS.get(name)
    if entry is None:
        return None
    return from_schema.fabric(
        {
            "resources": dict(entry.resources),
            "capabilities": list(entry.capabilities),
            "env": dict(entry.env),
            "annotations": dict(entry.annotations),
            "podTemplate": dict(entry.pod_template),
        }
    )


def counted_resource(fabric: str) -> str | None:
    """The resource of a built-in fabric of which a machine has its own number, such as that of EFA."""
    from ptcompile.catalogue.fabrics import FABRICS

    return FABRICS[fabric].counted if fabric in FABRICS else None
