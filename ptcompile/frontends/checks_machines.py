"""Whether a node of a spec fits a machine that its cloud has with the accelerator it names.

A pod for which there is no machine waits forever, and no autoscaler makes one. A profile's own entry of an accelerator
wins over the built-in one, and says nothing of machines: such jobs are not judged. Neither are those of a profile that
names its node pools, which are judged by these (`checks_pools`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.frontends.amounts import Part, Parts, amount
from ptcompile.frontends.errors import problem
from ptcompile.kubernetes.quantity import NANO
from ptcompile.typed import NamedTuple
from ptcompile.vocabulary.cluster import hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.catalogue.fit import Ask, Misfit
    from ptcompile.catalogue.shapes import Machines
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.model import Resources
    from ptcompile.vocabulary.spec import JobSpec

_INSTANCE_TYPE = "node.kubernetes.io/instance-type"


class _Said(NamedTuple):
    """An amount of a block: where it is written, and what of a machine it takes."""

    path: Path
    text: str
    ask: Ask


def fit(parts: Parts) -> Iterator[Problem]:
    """Yield what no machine has, and what the kubelet keeps."""
    job, cluster = parts.job, parts.cluster
    from ptcompile.catalogue.accelerators import machines_of

    name, cloud = job.accelerator or "", cluster.spec.cloud
    known = name not in cluster.spec.accelerators and hardware.accelerator(cluster, name) is not None
    if not known or cluster.spec.node_pools:
        return
    every = machines_of(name, cloud, largest=False)
    pinned = job.node_selector.get(_INSTANCE_TYPE)
    machines = tuple(one for one in every if one.name == pinned) or every
    told = set()
    for part in parts.nodes if machines else ():
        for found in _of_part(part, job, machines, cluster):
            if found.path not in told:
                told.add(found.path)
                yield found


def _of_part(part: Part, job: JobSpec, machines: Machines, cluster: ClusterProfile) -> Iterator[Problem]:
    from ptcompile.catalogue.fit import misfits

    said, cloud = _said(part, job, cluster), cluster.spec.cloud
    found = list(misfits([one.ask for one in said], machines, cloud))
    for one in found:
        yield _told(one, next(each for each in said if each.ask is one.ask), job.accelerator or "", cloud)
    if not found and "/" not in (job.accelerator or ""):  # a slice says itself how much of a machine it is
        yield from _share(said, machines, job, cloud)
    yield from _disk(part, job, machines, cluster)


def _said(part: Part, job: JobSpec, cluster: ClusterProfile) -> list[_Said]:
    """The accelerators first, since they decide which machines it can be."""
    from ptcompile.catalogue.fit import Ask

    amounts = part.amounts
    device, nics = hardware.gpu_resource(cluster, job.accelerator), hardware.counted(cluster, job.fabric)
    parts = "/" in (job.accelerator or "") and device != "google.com/tpu"  # slices: several of each device
    words = {**({} if parts else {"gpu": "devices", device: "devices"}), "cpu": "cpu", "memory": "memory"}
    if nics is not None and job.fabric:
        words[nics] = _counted_fabric(job.fabric, cluster)
    blocks: list[tuple[Path, Resources]] = [(part.path, part.fields.resources), (("spec",), job.resources)]
    found = []
    for name, what in words.items():
        text = amounts.requests.get(name) or amounts.limits.get(name)
        if text is not None:
            found.append(_Said(_place(blocks, name), text, Ask(what, amount(text).nano)))
    return found


def _counted_fabric(fabric: str, cluster: ClusterProfile) -> str:
    """The fabric whose devices are counted: that of the name, or the one that comes along with it."""
    from ptcompile.catalogue.fabrics import FABRICS

    known = FABRICS.get(fabric)
    return known.beyond.get(cluster.spec.cloud or "", fabric) if known is not None else fabric


def _place(blocks: Sequence[tuple[Path, Resources]], name: str) -> Path:
    """Where an amount is written; the accelerator, whose machines it is held against, where it is a default."""
    word: Path = (name,) if name in {"cpu", "memory", "gpu"} else ("devices", name)
    if name == "ephemeral-storage":
        word = ("ephemeralStorage",)
    for path, resources in blocks:
        halves = (("requests", resources.requests), ("limits", resources.limits), ("", resources))
        for half, amounts in halves:
            if amounts.by_name().get(name) is not None:
                return (*path, "resources", *((half,) if half else ()), *word)
    return ("spec", "accelerator")


def _told(found: Misfit, said: _Said, name: str, cloud: str | None) -> Problem:
    """A misfit at the line that asks for it."""
    if found.left is not None:
        message = f"{said.text}: of its {found.has}, {found.machine} leaves at most {found.left} to pods"
        text = f"{field_path(said.path)}: {message}"
        help = "request less: DaemonSets need their share too"
        return problem(
            "takes-the-whole-machine", said.path, text, help, severity="warning", stage="run", authority="kubelet"
        )
    where = f" on {cloud}" if cloud else ""
    message = f"{said.text}: no machine with {name}{where} has more than {found.has} ({found.machine})"
    many = ", on more nodes" if said.ask.what == "devices" else ""
    help = f"request at most {found.has} per node{many}"
    return problem("fits-no-machine", said.path, f"{field_path(said.path)}: {message}", help, stage="run")


def _share(said: Sequence[_Said], machines: Machines, job: JobSpec, cloud: str | None) -> Iterator[Problem]:
    """A node that takes a part of its machine's accelerators: what is left of them is of use to other pods alone."""
    from ptcompile.catalogue.fit import shared

    found = shared([one.ask for one in said], machines, cloud)
    devices = next((one for one in said if one.ask.what == "devices"), None)
    if found is None or devices is None:
        return
    asked, (_, nodes) = devices.ask.nano // NANO, job.node_range()
    here = min(nodes, found.pods)
    if here * asked >= found.devices:
        return
    rest, fill = found.devices - here * asked, found.pods * asked
    message = f"{asked} of the {found.devices} accelerators of {found.machine}, and {rest} are left to other pods"
    if fill < found.devices and here == found.pods:
        message = (
            f"{found.machine} fits {here} of these pods, which leaves {found.devices - fill} accelerators unusable"
        )
    help = f"request {found.devices} per node, on fewer nodes"
    text = f"{field_path(devices.path)}: {message}"
    yield problem("part-of-a-machine", devices.path, text, help, severity="note", stage="style", authority="ptcompile")


def _disk(part: Part, job: JobSpec, machines: Machines, cluster: ClusterProfile) -> Iterator[Problem]:
    """Ephemeral storage beyond what the nodes have: on EKS by default it is the root volume, elsewhere local disks."""
    from ptcompile.catalogue.disks import DISKS, EKS_ROOT_LEFT
    from ptcompile.catalogue.fit import amount as nano

    name, cloud = "ephemeral-storage", cluster.spec.cloud
    asked = part.amounts.requests.get(name) or part.amounts.limits.get(name)
    disks = {one.name: nano(DISKS[one.name]) for one in machines if one.name in DISKS}
    if asked is None or len(disks) < len(machines):
        return
    most, wanted = max(disks, key=disks.__getitem__), amount(asked).nano
    if wanted > disks[most]:
        message, help = f"{most} has local disks of {DISKS[most]}", "mount a volume for the rest"
    elif cloud == "eks" and wanted > nano(EKS_ROOT_LEFT):
        message = f"EKS's default root volume leaves pods {EKS_ROOT_LEFT}"
        help = f"have the nodes made with a larger one, or with their local disks ({DISKS[most]}, RAID0)"
    else:
        return
    at = _place([(part.path, part.fields.resources), (("spec",), job.resources)], name)
    text = f"{field_path(at)}: {asked}: {message}"
    yield problem("ephemeral-storage-above-disk", at, text, help, severity="warning", stage="run", authority="kubelet")
