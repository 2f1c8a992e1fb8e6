"""One simulated workload: its pods, its gang and its operator's reaction to failures."""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile.kinds.model import KindContext
from ptcompile.kinds.pods import Expansion
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import (
    GENERATED,
    Json,
    JsonDict,
    as_mapping,
    nested_map,
    nested_value,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.queues.queue_systems import queued
from ptcompile.operators.table import expand, record_of
from ptcompile.simulator.pod import WorkloadPods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.nodes import NodeGroup


class SimulatedJob(WorkloadPods):
    """One workload manifest and its expansion. The first two pods and the last pod of each role
    are built once.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the inputs: roles build their pods with functions, which cannot be pickled."""
        return job_of, (self.manifest, self.stream, self.versions, self.target, self.frameworks)

    @property
    def failure(self) -> tuple[str, ...]:
        """What happens when a pod fails and when the job ends, one sentence each."""
        from ptcompile.simulator.agents import agents_of
        from ptcompile.simulator.faults import fault_sentences, restarts_as_a_whole

        agents = agents_of(self)
        context = KindContext(versions=self.versions, related=self.stream)
        texts = tuple(self.record.on_failure(self.manifest, context))
        if agents is None:
            return texts

        return (*texts, *fault_sentences(agents, whole=restarts_as_a_whole(self)))

    def where(self, nodes: Sequence[NodeGroup]) -> list[str]:
        """Return for each kind of pods which of the nodes take them, a sentence each; none
        without nodes.
        """
        from ptcompile.kubernetes.nodes import fits

        pods = [pod for _, pod in self.first_pods if nodes]
        return [*dict.fromkeys(fits(pod.view.spec, nodes).text() for pod in pods)]

    @property
    def pod_group(self) -> Json | None:
        """The gang with its total requests, or None if the job has no gang."""
        return pod_group(self.manifest, self.expansion, self.stream)

    @property
    def notes(self) -> tuple[str, ...]:
        """Assumptions, the queue systems that must admit the job, and what only a live cluster
        decides.
        """
        from ptcompile.operators.queues.queue_systems import queue_sentences

        queues = queue_sentences(self.manifest, self.versions, self.frameworks)
        is_named = nested_value(self.manifest, "metadata", "name")
        generated = () if is_named else (f"the name is generated: {GENERATED} stands for its end",)
        return (*self.expansion.notes, *queues, *generated)


def job_of(
    manifest: Json,
    stream: Objects,
    versions: Versions,
    target: str | None,
    frameworks: tuple[str, ...] = (),
) -> SimulatedJob:
    """Return the job of a manifest in its stream. `frameworks`: see `queueFrameworks` of a
    profile.
    """
    expansion = queued(
        expand(manifest, versions=versions, related=stream), manifest, stream, versions, frameworks
    )
    return SimulatedJob(manifest, expansion, stream, target, versions, frameworks)


def job_in(stream: Objects, manifest: Json, versions: Versions) -> SimulatedJob:
    """Return the job of an object of a stream, the same one until it is dropped."""
    return stream.cached(
        (job_of, id(manifest), versions), lambda: job_of(manifest, stream, versions, None)
    )


def drop_job(job: WorkloadPods) -> None:
    """Free a job of a stream. It and its pods reference each other: breaking the cycle frees
    them at once.
    """
    job.stream.forget((job_of, id(job.manifest), job.versions))
    job.__dict__.clear()


def pod_group(manifest: Json, expansion: Expansion, stream: Objects) -> Json | None:
    """Return the operator's PodGroup with its `minResources`, or the one in the stream that the
    pods name.

    Return None if the job has no gang. `stream` holds all objects of the stream.
    """
    group = expansion.pod_group
    if group is None:
        return _existing_pod_group(expansion, stream)
    if "minResources" in group:  # set by the controller, instead of the sum over the pods
        return group

    user_value = nested_value(manifest, "spec", "runPolicy", "schedulingPolicy", "minResources")
    if isinstance(user_value, dict):
        return {**group, "minResources": user_value}

    kind = record_of(manifest)
    total: dict[str, Quantity] = {}
    for role, count in kind.gang(group, expansion.roles):
        if count > 0:
            requests = amounts.pod_requests(role.pod(0).spec, defaulted=kind.gang_counts_limits)
            total = amounts.add(total, amounts.multiply(requests, count))

    return {**group, "minResources": amounts.as_text(total)}


def _existing_pod_group(expansion: Expansion, stream: Objects) -> Json | None:
    """Return the existing PodGroup that the pods name, marked `missing` if no file defines it."""
    from ptcompile.operators.queues.gangs import named_groups

    first = next((role.pod(0) for role in expansion.roles if role.count), None)
    if first is None:
        return None

    pod = {
        "metadata": {"annotations": first.annotations, "labels": first.labels},
        "spec": first.spec,
    }
    group = next(named_groups(pod, stream), None)
    if group is None:
        return None

    out: JsonDict = {"name": group.name, "scheduler": group.scheduler, "minMember": group.size}
    if group.manifest is None or group.lacks_member:
        return out | {"missing": True}

    spec = nested_map(group.manifest, "spec")
    out |= {
        field: spec[field]
        for field in ("queue", "priorityClassName", "networkTopology")
        if field in spec
    }
    if group.counts_resources:
        return out | {"minResources": dict(nested_map(spec, "minResources"))}

    constraints = nested_map(spec, "schedulingConstraints")
    mode = spec.get("disruptionMode")
    if constraints.get("topology"):
        out["topology"] = constraints["topology"]

    return out | (
        {"preemptedTogether": True} if mode == "PodGroup" or "all" in as_mapping(mode) else {}
    )
