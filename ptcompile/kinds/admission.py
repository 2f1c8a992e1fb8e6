"""What a queue system answers about a job: whether it is admitted, where its pods run, and what
prevents it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import pluralize
from ptcompile.kubernetes.unstructured import Json, JsonDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.kubernetes.index import Objects
    from ptcompile.kubernetes.quantity import Quantity
    from ptcompile.kubernetes.versions import Versions

    Outcome = Literal["admitted", "waits", "never"]
else:
    # annotations that are strings would be compiled by NamedTuple
    Objects = Json = Quantity = Versions = Outcome = object


_MAX_SHOWN = 8
"""Domains that the text shows of each pod set."""


class AdmissionRequest(NamedTuple):
    """The jobs that are to be admitted, in order, and what the cluster has."""

    jobs: Sequence[Json]
    objects: Objects
    """All objects of the files and of the cluster, with the jobs."""
    versions: Versions
    is_complete: bool
    """Whether the objects are all those of the cluster, so that what is absent does not exist."""
    frameworks: tuple[str, ...] = ()
    """Kinds that the queue system manages beyond its defaults: `queueFrameworks` of the profile."""


class AdmittedPodSet(NamedTuple):
    """Equal pods of an admitted job."""

    name: str
    count: int  # type: ignore[assignment]  # not the method that tuples have
    flavors: Mapping[str, str]
    """Flavor by resource."""
    levels: tuple[str, ...] = ()
    """The levels of the topology in which the domains are named."""
    domains: tuple[tuple[tuple[str, ...], int], ...] = ()
    """Domains with the number of pods in each."""

    def as_text(self) -> str:
        """Return the pod set as one line."""
        by_flavor: dict[str, list[str]] = {}
        for resource, flavor in self.flavors.items():
            by_flavor.setdefault(flavor, []).append(resource)
        flavors = "; ".join(
            f"{', '.join(sorted(names))} from {flavor}"
            for flavor, names in sorted(by_flavor.items())
        )
        places = ", ".join(
            f"{count} in {'/'.join(values)}" for values, count in self.domains[:_MAX_SHOWN]
        )
        hidden = len(self.domains) - _MAX_SHOWN
        more = f", and {hidden} more domains" if hidden > 0 else ""

        pods = f"{self.name}: {pluralize(self.count, 'pod')}"
        return ", ".join(filter(None, [pods, flavors])) + (f": {places}{more}" if places else "")

    def to_dict(self) -> JsonDict:
        """Return the JSON form; pods that request nothing have no flavors."""
        domains = [{"values": list(values), "count": count} for values, count in self.domains]
        return {
            "name": self.name,
            "count": self.count,
            **({"flavors": dict(self.flavors)} if self.flavors else {}),
            **({"topology": {"levels": list(self.levels), "domains": domains}} if domains else {}),
        }


class PreemptedJob(NamedTuple):
    """A workload that had to go."""

    name: str
    namespace: str
    how: str
    """The queue system's word for the reason."""


class QuotaShare(NamedTuple):
    """What one flavor has of one resource for a job's queue, and what the job takes or would
    take of it.
    """

    flavor: str
    resource: str
    nominal: Quantity
    """The queue's own quota."""
    borrowable: Quantity
    """The most that its cohort lends it beyond that."""
    in_use: Quantity
    """What others have taken of both."""
    requested: Quantity
    """What the job takes; if it is not admitted, what it would take if all its pods got this
    flavor.
    """

    def to_dict(self) -> dict[str, str]:
        """Return the JSON form, with amounts as Kubernetes writes them."""
        return {
            "flavor": self.flavor,
            "resource": self.resource,
            "nominal": str(self.nominal),
            "borrowable": str(self.borrowable),
            "inUse": str(self.in_use),
            "requested": str(self.requested),
        }


class JobAdmission(NamedTuple):
    """What becomes of one job after all jobs were created."""

    kind: str
    name: str
    namespace: str
    outcome: Outcome
    reason: str = ""
    """Why it is not admitted, in the queue system's words, or why no queue keeps it although it
    names one.
    """
    queue: str = ""
    queue_path: tuple[str, ...] = ()
    """Path of the queue's name in the job."""
    cluster_queue: str = ""
    pod_sets: tuple[AdmittedPodSet, ...] = ()
    victims: tuple[PreemptedJob, ...] = ()
    """The workloads that were preempted for it."""
    preempted_by: str = ""
    """The job for which it was preempted after it had been admitted, or an empty string."""
    advice: str = ""
    """What would certainly let it in, or an empty string."""
    notes: tuple[str, ...] = ()
    """The parts of its admission that are not modeled."""
    is_certain: bool = True
    """Whether `never` holds whatever else the cluster has."""
    quota: tuple[str, str] | None = None
    """Flavor and resource of the quota that is too small, or None."""
    quotas: tuple[QuotaShare, ...] = ()
    """The quotas of its queue that it asks for, or none if its ClusterQueue is not known."""

    def to_dict(self) -> JsonDict:
        """Return the JSON form."""
        return {
            "kind": self.kind,
            "namespace": self.namespace,
            "outcome": self.outcome,
            "admitted": self.outcome == "admitted",
            "preempted": bool(self.preempted_by),
            "queue": self.queue,
            "clusterQueue": self.cluster_queue,
            "podSets": [pod_set.to_dict() for pod_set in self.pod_sets],
            "preempts": [victim._asdict() for victim in self.victims],
            **({"preemptedBy": self.preempted_by} if self.preempted_by else {}),
            **({"reason": self.reason} if self.reason else {}),
            **({"advice": self.advice} if self.advice else {}),
            **({"notes": list(self.notes)} if self.notes else {}),
            **({"quotas": [quota.to_dict() for quota in self.quotas]} if self.quotas else {}),
        }

    def lines(self) -> list[str]:
        """Return the answer as text, with a line for each pod set."""
        head = f"{self.kind}/{self.name}: {self._summary()}"
        out = [head, *(f"  {pod_set.as_text()}" for pod_set in self.pod_sets)]
        out += [
            f"  preempts {victim.name} in {victim.namespace} ({victim.how})"
            for victim in self.victims
        ]
        if self.advice:
            out.append(f"  help: {self.advice}")
        return out + [f"  note: {note}" for note in self.notes]

    def _summary(self) -> str:
        place = self.cluster_queue or self.queue
        if self.outcome == "admitted":
            alone = "starts outside of the queue" if self.reason else "kept by no queue"
            return f"admitted by {place}" if place else alone
        if self.outcome == "waits":
            return " ".join(filter(None, ["waits", "in" * bool(place), place])) + f": {self.reason}"
        return f"never admitted: {self.reason}"
