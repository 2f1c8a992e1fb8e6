"""Fabrics as complete sets of settings, and NCCL tuning for them.

`fabrics.json` has both with their sources, from public documentation as of 2026. NCCL_SOCKET_IFNAME
makes processes use the pod's primary interface even if a second one is attached. Huge pages are
requested only along with cpu or memory, as Kubernetes requires.

Settings that the libraries choose are omitted: NCCL 2.21 and newer choose the HCAs and the GID of
RoCE v2, and aws-ofi-nccl enables RDMA on devices that support it and tunes NCCL on every EFA
machine (src/platform-aws.cpp, 2026-08-21). So are settings that name a file of the image, such as
NCCL_TOPO_FILE of Azure's ND machines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.hardware.accelerators import row_name
from ptcompile.kubernetes.unstructured import Json

_EMPTY: Json = {}


class FabricNeeds(NamedTuple):
    """The settings that a pod needs to use a fabric."""

    source: str
    resources: Mapping[str, str] = _EMPTY
    counted: str | None = None
    """The resource whose count comes from the machine type; its count in `resources` is only the
    minimum.
    """
    counted_on: tuple[str, ...] | None = None
    """Clouds to which `counted` applies, or None for all."""
    only_on: str = ""
    """The only cloud with the fabric's devices or node software, or "" if several clouds have
    them.
    """
    capabilities: tuple[str, ...] = ()
    env: Mapping[str, str] = _EMPTY
    annotations: Mapping[str, str] = _EMPTY
    pod_template: Json = _EMPTY
    claims: Mapping[str, tuple[str, int]] = _EMPTY
    """Devices that a pod claims (DRA): DeviceClass and count, keyed by claim name."""
    compute_domain: bool = False
    """Whether a job has a ComputeDomain and each pod claims one of its channels."""
    companions: Mapping[str, str] = _EMPTY
    """Additional fabric for nodes that this one does not connect, keyed by cloud."""
    by_accelerator: Mapping[str, FabricNeeds] = _EMPTY
    """Replacements for the machines of some accelerators, keyed by accelerator."""
    device_network: str = ""
    """The network that Multus' annotation repeats for each counted device."""
    node_has: Mapping[str, int] = _EMPTY
    """MiB of a resource that every node has; a pod gets at most its share, in proportion to its
    accelerators.
    """

    def with_companion(self, extra: FabricNeeds) -> FabricNeeds:
        """Return this fabric combined with another; values of this one take precedence."""
        return self._replace(
            resources={**extra.resources, **self.resources},
            counted=self.counted or extra.counted,
            counted_on=self.counted_on or extra.counted_on,
            capabilities=tuple(dict.fromkeys((*self.capabilities, *extra.capabilities))),
            env={**extra.env, **self.env},
            annotations={**extra.annotations, **self.annotations},
            pod_template=self.pod_template or extra.pod_template,
            claims={**extra.claims, **self.claims},
            device_network=self.device_network or extra.device_network,
            node_has={**extra.node_has, **self.node_has},
        )


class Tuning(NamedTuple):
    """One recommended set of variables."""

    fabric: str
    cloud: str
    accelerators: tuple[str, ...]
    """Names of accelerator rows, or () for all."""
    env: Mapping[str, str]
    source: str


_TABLE = load_table("hardware/fabrics.json")

TUNINGS = tuple(
    Tuning(**{**row, "accelerators": tuple(row["accelerators"])}) for row in _TABLE["tunings"]
)


def recommended_env(fabric: str, cloud: str | None, accelerator: str) -> dict[str, str]:
    """Return the recommended variables for a fabric on an accelerator's machines in a cloud;
    later rows win.
    """
    env: dict[str, str] = {}
    for tuning in TUNINGS:
        if (
            tuning.fabric == fabric
            and tuning.cloud == cloud
            and (not tuning.accelerators or accelerator in tuning.accelerators)
        ):
            env |= tuning.env
    return env


def _read_fabric(row: Json) -> FabricNeeds:
    """Return a row of the table; the fields that it does not name have their defaults."""
    fields = {name: row[name] for name in FabricNeeds._fields if name in row}
    if "counted_on" in row:
        fields["counted_on"] = tuple(row["counted_on"])
    fields["capabilities"] = tuple(row.get("capabilities", ()))
    fields["annotations"] = _network_annotations(row)
    fields["claims"] = {
        name: (claim["deviceClass"], claim["count"])
        for name, claim in row.get("claims", {}).items()
    }
    fields["by_accelerator"] = {
        name: _read_fabric(other) for name, other in row.get("by_accelerator", {}).items()
    }

    return FabricNeeds(**fields)


def _network_annotations(row: Json) -> Json:
    """Return the annotations of GKE's multi-networking: device files of a container, and the
    interfaces of the pod.
    """
    if "interfaces" not in row:
        return {}

    texts = {}
    for container, paths in row.get("device_files", {}).items():
        lines = [f"- path: {path}\n" for path in paths]
        texts[f"devices.gke.io/container.{container}"] = "".join(lines)

    interfaces = [
        {"interfaceName": name, "network": network} for name, network in row["interfaces"].items()
    ]
    texts["networking.gke.io/default-interface"] = "eth0"
    texts["networking.gke.io/interfaces"] = json.dumps(interfaces, separators=(",", ":"))

    return texts


FABRICS = {name: _read_fabric(row) for name, row in _TABLE["fabrics"].items()}
"""Keyed by fabric name."""


def fabric_in(name: str, cloud: str | None, accelerator: str | None) -> FabricNeeds | None:
    """Return the needs of a fabric on an accelerator's machines in a cloud, or None for an
    unknown name.
    """
    needs = FABRICS.get(name)
    if needs is None:
        return None
    base_name = row_name(accelerator or "")
    needs = needs.by_accelerator.get(base_name, needs)
    needs = needs._replace(env={**needs.env, **recommended_env(name, cloud, base_name)})
    companion = needs.companions.get(cloud or "")
    extra = fabric_in(companion, cloud, accelerator) if companion is not None else None
    return needs.with_companion(extra) if extra is not None else needs
