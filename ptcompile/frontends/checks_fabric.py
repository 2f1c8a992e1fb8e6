"""The fabric of a spec: whether there is one of that name, how many devices it has, and whether the set is whole."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.catalogue.fabric_words import concerns
from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.frontends.amounts import Parts, gpus_per_node
from ptcompile.frontends.errors import bad, problem
from ptcompile.job import pod_template
from ptcompile.job.model import Job
from ptcompile.kubernetes import names
from ptcompile.vocabulary.cluster import hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.vocabulary.cluster.model import ClusterProfile


def fabric(parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with the name of the fabric, and a warning for an unknown number of its devices."""
    job, cluster = parts.job, parts.cluster
    if job.fabric is None:
        return
    at: Path = ("spec", "fabric")
    if hardware.fabric(cluster, job.fabric) is None:
        from ptcompile.catalogue.fabrics import FABRICS

        known = sorted({*cluster.spec.fabrics, *FABRICS})
        near = names.suggest(job.fabric, known)
        message = f"{job.fabric!r} is not a fabric of the profile {cluster.metadata.name!r} and not built in"
        yield bad(at, message, f"did you mean {near}?" if near else f"there are {', '.join(known)}")
        return
    yield from _domain(parts)
    counted, entry = hardware.counted(cluster, job.fabric), hardware.accelerator(cluster, job.accelerator)
    least = hardware.fabric_amounts(cluster, job.fabric, None, 0).get(counted or "")
    for part in parts.nodes:
        there = entry is not None and hardware.devices_of_fabric(cluster, job.fabric, entry) is not None
        whole = entry.devices_per_node if entry is not None and there else None
        said = counted in part.amounts.limits
        if counted and not said and (whole is None or gpus_per_node(part, cluster) < whole):
            message = f"{least} {counted} per node, since the number on its machines is unknown"
            help = f"write resources.devices[{counted}], or name the accelerator of a whole node"
            yield _run(at, message, help)
            return
        if counted and not said and job.accelerator and job.accelerator not in cluster.spec.accelerators:
            yield from _unlike(job.accelerator, job.fabric, counted, cluster)
            return


def _domain(parts: Parts) -> Iterator[Problem]:
    """A ComputeDomain where NVLink ends at the node, of more nodes than a rack has, or of two pods on a node.

    A node gives one pod its channel: the second waits for it (dra-driver-nvidia-gpu, compute-domain-kubelet-plugin).
    """
    job, cluster = parts.job, parts.cluster
    found = hardware.fabric(cluster, job.fabric, job.accelerator)
    if found is None or not found.compute_domain:
        return
    entry, at = hardware.accelerator(cluster, job.accelerator), ("spec", "fabric")
    if entry is None:
        message = "an NVLink domain needs an accelerator, and none is named"
        yield _run(at, message, "add accelerator, such as nvidia-gb200")
        return
    (_, most), rack = job.node_range(), entry.nodes_per_domain
    if rack is None:
        message = f"NVLink of {job.accelerator} does not reach beyond the node, so there is no domain to join"
        yield _run(at, message, "use the fabric between the nodes, such as efa or infiniband")
    elif most > rack:
        message = (
            f"{most} nodes, but an NVLink domain has at most {rack}: traffic between domains uses the other network"
        )
        help = "or set topology to place them" if job.topology is None else "or expect both networks to be used"
        yield _run(at, message, f"use at most {rack} nodes, {help}")
    for part in parts.nodes:
        asked, whole = gpus_per_node(part, cluster), entry.devices_per_node
        if whole and 0 < asked < whole:
            message = (
                f"{asked} of a machine's {whole} GPUs, but a node has one channel: a second pod on it stays Pending"
            )
            yield _run((*part.path, "resources"), message, f"request {whole} GPUs per node, on fewer nodes")
            return


def _unlike(accelerator: str, fabric: str, counted: str, cluster: ClusterProfile) -> Iterator[Problem]:
    """Machines of one accelerator with different numbers of the fabric's devices: the job asks for the least."""
    from ptcompile.catalogue.accelerators import machines_of

    most = machines_of(accelerator, cluster.spec.cloud)
    counts = {one.name: one.fabrics[fabric] for one in most if fabric in one.fabrics}
    least = min(counts.values(), default=0)
    if more := {name: count for name, count in counts.items() if count > least}:
        name, count = next(iter(more.items()))
        message = f"{least} {counted} a node, and {name} has {count}: a job there uses only part of its bandwidth"
        help = f"for {name} write resources.devices[{counted}]: {count} and its node.kubernetes.io/instance-type"
        yield _run(("spec", "fabric"), message, f"{help}; for the others write {least}")


def incomplete(job: Job) -> Iterator[tuple[str, Problem]]:
    """Yield what a job after its passes has of a fabric without the rest of it: a role, and what its template lacks."""
    for role in job.trainers:
        main, amounts = role.template.main, role.template.main.resources
        if not role.template.sidecars and not concerns(main.env, (*amounts.requests, *amounts.limits)):
            continue
        from ptcompile.catalogue.fabric_gaps import gaps

        for gap in gaps(pod_template.written(role.template)):
            yield role.name, _run(gap.path, gap.message, gap.help)


def _run(path: Path, message: str, help: str) -> Problem:
    text = f"{field_path(path)}: {message}"
    return problem("partial-fabric", path, text, help, severity="warning", stage="run", authority="ptcompile")
