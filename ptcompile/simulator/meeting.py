"""The meetings of a job's pods, real and intended: endpoints compared by what they lead to, not by
their text.

A role of one pod may name itself in any way, such as localhost, and the others by its DNS name:
they meet (docs/facts/torchrun.md#rendezvous).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.kinds.pods import ExpandedRole, PodView
from ptcompile.kinds.templates import cluster_host_name
from ptcompile.kubernetes.commands import basename
from ptcompile.kubernetes.index import Objects, selector, service_selects
from ptcompile.kubernetes.names import first_label
from ptcompile.kubernetes.unstructured import (
    Json,
    namespace_of,
    nested_string,
    object_name,
)
from ptcompile.operators.table import RUNS_PODS
from ptcompile.simulator.launchers import LAUNCHERS, TORCHRUN_TABLE
from ptcompile.simulator.launchers.rendezvous import (
    NO_RANK,
    STANDALONE_ENDPOINT,
    Rendezvous,
    variable_of,
)
from ptcompile.simulator.launchers.torchrun import SHARED_STORE, is_literal, torch_of
from ptcompile.simulator.pod import Pod, WorkloadPods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.versions import Version, Versions
    from ptcompile.shell.values import Doubt

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 - compared only, never bound
OWN_HOST_TEXTS = (
    "$(hostname",
    "`hostname",
    "$HOSTNAME",
    "${HOSTNAME}",
    "<status.podIP",
    "<status.hostIP",
    "<metadata.name>",
)
"""Beginnings of hosts that stand for the pod itself, where no manifest has the value."""
_C10D_PORT = "29400"
ENV_VARIABLES: dict[str, str] = {
    "nnodes": "WORLD_SIZE",
    "node-rank": "RANK",
    "master-addr": "MASTER_ADDR",
    "master-port": "MASTER_PORT",
}
"""Variables that a script without a launcher reads (torch.distributed, env://), keyed by torchrun's
options.

WORLD_SIZE counts processes.
"""
_MEETING_OPTIONS: list[str] = TORCHRUN_TABLE["meeting"]
"""Options that decide which pods meet."""


class Lead(NamedTuple):
    """A role, its first pod, and that pod's rendezvous."""

    role: ExpandedRole
    pod: Pod
    rendezvous: Rendezvous


class HostAddress(NamedTuple):
    """The destination of a host name, seen from one pod."""

    name: str
    """What two hosts that lead to one place have in common: the pod's shortest DNS name or its
    name, the Service's name, or the host without the pod's namespace and the cluster's domain.
    """
    pod: Pod | None = None
    """The pod of the job, if it is one."""
    title: str = ""
    """The pod or Service in output, or empty if nothing in the stream answers to the host."""
    is_own: bool = False
    """Whether it is the asking pod itself."""
    is_blind: bool = False
    """Whether the host means the asking pod, whoever asks, such as localhost."""

    @property
    def is_unknown(self) -> bool:
        """Whether nothing in the stream answers to the host."""
        return not self.title and not self.is_own


class MeetingMember(NamedTuple):
    """One training role in a meeting."""

    role: ExpandedRole
    pod: Pod
    """Its first pod."""
    rendezvous: Rendezvous
    address: HostAddress
    is_apart: bool
    """Whether each pod of the role meets only itself."""

    @property
    def key(self) -> tuple[str, ...]:
        """What two roles must share to meet: backend, address, port and, where agents compare
        it, the run's id.
        """
        rendezvous = self.rendezvous
        if self.is_apart:
            return ("apart", self.role.name)

        port = rendezvous.port or (_C10D_PORT if rendezvous.backend == "c10d" else "")
        if rendezvous.backend in ("static", "env"):
            run = ""
        else:
            run = rendezvous.options.get("rdzv-id", "")

        return (rendezvous.backend, self.address.name, port, run)

    @property
    def is_python_script(self) -> bool:
        """Whether the command is a Python script without a launcher."""
        words = self.pod.launch.entry
        return (
            self.rendezvous.launcher == "command"
            and bool(words)
            and basename(words[0]).startswith("python")
        )

    @property
    def is_env_script(self) -> bool:
        """Whether the command is a script without a launcher that takes its rendezvous from
        variables (env://).
        """
        return self.is_python_script and self.rendezvous.backend == "env"

    @property
    def is_modeled(self) -> bool:
        """Whether a modeled launcher starts the processes and its options set the number of
        nodes.
        """
        name = self.rendezvous.launcher
        options = self.pod.launch.options
        if name == "torchrun":
            return True
        if name not in LAUNCHERS or self.rendezvous.backend == "none":
            return False
        if name == "deepspeed" and "no-ssh" not in options:
            return False  # one deepspeed process starts all nodes over ssh

        return (
            not {"nnodes", "world-size"}.isdisjoint(options)
            or self.variable("nnodes") in self.pod.launch.env
        )

    def option_name(self, option: str) -> str:
        """Return the launcher's name for an option, dashed."""
        launcher = LAUNCHERS.get(self.rendezvous.launcher)
        if launcher is None:
            return option
        synonym = {"rdzv-endpoint": "master-addr", "nnodes": "world-size"}.get(option, option)
        return launcher.names.get(option) or launcher.names.get(synonym, option)

    def variable(self, option: str) -> str:
        """Return the variable that the launcher, or a script without one, reads an option from."""
        if self.is_env_script:
            return ENV_VARIABLES.get(option, "")
        return variable_of(self.rendezvous.launcher, option)

    def is_passed(self, option: str) -> bool:
        """Return whether the command line sets an option."""
        options = self.pod.launch.options
        return option in options or (option == "nnodes" and "world-size" in options)

    def is_uncertain(self, *options: str) -> bool:
        """Return whether something outside the files may change the launch, or one of its options
        if some are given: envFrom, or what `doubt_about` returns.
        """
        return (
            self.pod.main is None
            or self.pod.has_unknown_variables
            or self.doubt_about(*options) is not None
        )

    def doubt_about(self, *options: str) -> Doubt | None:
        """Return what decides whether the script starts the launcher, or else what may change one
        of the options, by default of all that the launch has.
        """
        launch = self.pod.launch
        if launch.doubt is not None or launch.changed_by is None:
            return launch.doubt
        names = options or (*launch.options, *self.rendezvous.options)
        is_changed = any(
            self.option_name(option) in launch.changed
            or (not self.is_passed(option) and self.variable(option) in launch.env)
            for option in names
        )
        return launch.changed_by if is_changed else None


class Meeting(NamedTuple):
    """The training roles of one job whose pods meet at one address."""

    members: tuple[MeetingMember, ...]

    @property
    def pods(self) -> int:
        """Number of pods."""
        return sum(member.role.count for member in self.members)

    @property
    def first(self) -> MeetingMember:
        """The first role."""
        return self.members[0]

    @property
    def guide(self) -> MeetingMember:
        """The first member whose host leads other pods to the address too, else the first one."""
        return guide_among(self.members)

    @property
    def is_local(self) -> bool:
        """Whether its pods meet no other pod of the job: each names itself, or nothing."""
        return self.first.is_apart or (self.pods == 1 and self.first.address.is_blind)

    @property
    def local_obstacle(self) -> str:
        """The obstacle of pods that meet no other pod, or empty if they may meet some."""
        if not self.is_local:
            return ""
        host = self.first.rendezvous.host
        if not host or is_loopback(host):
            return "local-endpoint"
        return "own-host-endpoint"


class Gathering(NamedTuple):
    """The meetings of one job whose pods should all meet."""

    meetings: tuple[Meeting, ...]

    @property
    def members(self) -> list[MeetingMember]:
        """The roles in order."""
        return [member for meeting in self.meetings for member in meeting.members]

    @property
    def first(self) -> MeetingMember:
        """The first role."""
        return self.meetings[0].first

    @property
    def guide(self) -> MeetingMember:
        """The first role whose host leads other pods to the address too, else the first one."""
        return guide_among(self.members)

    @property
    def job(self) -> WorkloadPods:
        """The job."""
        return self.first.pod.job

    @property
    def pods(self) -> int:
        """Number of pods."""
        return sum(meeting.pods for meeting in self.meetings)

    @property
    def total(self) -> int:
        """Number of pods, those of the stream's other objects that meet them included."""
        return self.pods + sum(peer.role.count for peer in peers_of(self.first))

    @property
    def is_settled(self) -> bool:
        """Whether the files decide what the launchers read of the rendezvous."""
        return not any(member.is_uncertain(*_MEETING_OPTIONS) for member in self.members)

    @property
    def is_local(self) -> bool:
        """Whether no pod meets another one."""
        meetings = self.meetings_at_endpoints
        return self.pods > 1 and bool(meetings) and all(meeting.is_local for meeting in meetings)

    @property
    def is_first_local(self) -> bool:
        """Whether the pods of the first meeting meet no other pod of the job."""
        return self.meetings[0].is_local

    @property
    def meetings_at_endpoints(self) -> list[Meeting]:
        """The meetings whose pods have an endpoint to meet at."""
        return [item for item in self.meetings if has_endpoint(item.first.rendezvous)]

    @property
    def is_full(self) -> bool:
        """Whether the stream has as many pods as the rendezvous takes nodes."""
        _, most = self.guide.rendezvous.nodes or (1, 1)
        return self.total == most

    @property
    def is_complete(self) -> bool:
        """Whether all nodes are pods of this object."""
        nodes = self.first.rendezvous.nodes
        return nodes is not None and self.pods == nodes.most > 1 and not peers_of(self.first)

    @property
    def meets_at_a_pod(self) -> bool:
        """Whether several nodes meet at a pod that they all name alike."""
        member = self.first
        rendezvous = self.first.rendezvous
        is_hosted = (
            rendezvous.backend in ("static", "c10d", "env") and rendezvous.launcher != "image"
        )
        if (
            not is_hosted
            or self.is_first_local
            or not rendezvous.nodes
            or rendezvous.nodes.most < 2
        ):
            return False

        return member.pod.job.last_pod(member.role).rendezvous.host == rendezvous.host


def has_endpoint(rendezvous: Rendezvous) -> bool:
    """Return whether pods meet at an endpoint; torchrun takes a missing one for its own
    localhost.
    """
    is_joint = rendezvous.backend in ("c10d", "static") and rendezvous.nodes != (1, 1)
    return bool(rendezvous.endpoint) or is_joint


def gatherings_of(job: WorkloadPods) -> tuple[Gathering, ...]:
    """Return the meetings of a job in groups; all pods of a group should meet.

    All roles of a PyTorchJob should, and so should all that Volcano's pytorch plugin ranks. In
    other kinds, roles may be separate jobs, unless each waits for as many nodes as all of them have
    pods, or all do the same for one node.
    """
    settings = job.record.rendezvous
    gatherings: dict[int, list[Meeting]] = {}
    for meeting in job.meetings:
        is_ranked = settings.ranked_by and all(
            member.pod.env.keys() >= set(settings.ranked_by) for member in meeting.members
        )
        gatherings.setdefault(0 if settings.all_pods or is_ranked else id(meeting), []).append(
            meeting
        )

    separate = tuple(Gathering(tuple(meetings)) for meetings in gatherings.values())
    total = sum(gathering.pods for gathering in separate)
    nodes = {gathering.first.rendezvous.nodes for gathering in separate}
    waiting = [gathering for gathering in separate if gathering.pods < total]
    if waiting != [*separate]:
        return separate

    entries = {member.pod.launch.entry for item in separate for member in item.members}
    if nodes == {(total, total)} or (nodes == {(1, 1)} and len(entries) == 1):
        return (Gathering(job.meetings),)
    return separate


def guide_among(members: Sequence[MeetingMember]) -> MeetingMember:
    """Return the first member whose host leads other pods to the address too, else the first
    one.
    """
    return next((member for member in members if not member.address.is_blind), members[0])


def training_roles(job: WorkloadPods) -> list[Lead]:
    """Return the training roles, each with its first pod and that pod's rendezvous.

    These are the roles that start torchrun to join others. If no role does, they are the roles
    whose environment names other processes; then those with another launcher; if there are none
    either, the first role.
    """
    candidates = [
        Lead(role, pod, pod.rendezvous) for role, pod in job.first_pods if pod.main is not None
    ]
    leads = [lead for lead in candidates if lead.rendezvous.launcher in ("torchrun", "tune")]
    if leads:
        return [lead for lead in leads if lead.rendezvous.endpoint != STANDALONE_ENDPOINT] or leads

    # If some of those without torchrun have a rank, those without one do not train: Volcano's
    # pytorch plugin gives every task the master's address, but sets the rank only for its own two.
    connected = [lead for lead in candidates if lead.rendezvous.backend != "none"]
    ranked = [lead for lead in connected if lead.rendezvous.node_rank != NO_RANK]
    started = [lead for lead in candidates if lead.rendezvous.launcher in LAUNCHERS]
    return ranked or connected or started or candidates[:1]


def meetings_of(job: WorkloadPods) -> tuple[Meeting, ...]:
    """Return the meetings of the job's training roles, in their order."""
    meetings: dict[tuple[str, ...], list[MeetingMember]] = {}
    for lead in training_roles(job):
        member = _member_of(*lead)
        meetings.setdefault(member.key, []).append(member)
    return tuple(Meeting(tuple(members)) for members in meetings.values())


def _member_of(role: ExpandedRole, pod: Pod, rendezvous: Rendezvous) -> MeetingMember:
    address = address_of(pod, rendezvous.host)
    # Rank 0 told the processes of the other pods to meet at its own localhost until the agents of
    # the static rendezvous shared their store (PyTorch 2.3:
    # `torch/distributed/elastic/agent/server/api.py`, `_set_master_addr_port`).
    hands_out_loopback = (
        rendezvous.backend == "static"
        and is_loopback(rendezvous.host)
        and torch_of_pod(pod, pod.job.versions) < SHARED_STORE
    )
    is_apart = rendezvous.endpoint == STANDALONE_ENDPOINT or hands_out_loopback
    if not is_apart and address.is_own and role.count > 1:
        # the first pod's own name may be where all pods meet: ask the last pod where it leads
        last = pod.job.last_pod(role)
        endpoint = "rdzv-endpoint" if rendezvous.options.get("rdzv-endpoint") else "master-addr"
        is_common = last.view.spec is pod.view.spec and is_literal(
            pod.written_options.get(endpoint, "$")
        )
        if address.is_blind or not is_common:
            seen_by_last = address_of(last, last.rendezvous.host)
            is_apart = seen_by_last.is_own
            if address.is_blind and not is_apart:
                address = seen_by_last
    return MeetingMember(
        role=role, pod=pod, rendezvous=rendezvous, address=address, is_apart=is_apart
    )


def torch_of_pod(pod: Pod, versions: Versions) -> Version:
    """Return the PyTorch version of a pod's main image, or the profile's."""
    return torch_of(nested_string(pod.main.spec, "image") if pod.main else None, versions)


def address_of(pod: Pod, host: str) -> HostAddress:
    """Return what a host name leads to from a pod."""
    if not host or is_loopback(host):
        return _own_address(pod)._replace(title="each pod itself")
    if host.startswith(OWN_HOST_TEXTS):
        return _own_address(pod)._replace(title="")

    host = host.removesuffix(".")
    named = next((item for item in _pods_like(pod.job, host) if host in dns_names(item.view)), None)
    if named is not None:
        return _address_of_pod(named, pod)

    service = next(services_at(pod.job, host), None)
    if service is not None:
        title = f"Service {object_name(service)}"
        selected = _only_pod_of(pod.job, service)
        if selected is None:
            return HostAddress(object_name(service), title=title)
        return _address_of_pod(selected, pod)._replace(title=title)
    if host == pod.hostname:
        return _own_address(pod)
    if host != host.lower():
        return address_of(pod, host.lower())

    named_pod = pod_with_hostname(pod.job, host)
    # the name resolves nowhere, but all pods that use it mean the same pod
    if named_pod is not None:
        return HostAddress(_address_of_pod(named_pod, pod).name)

    inside = host.removesuffix(f".{pod.job.versions.domain}").removesuffix(".svc")
    return HostAddress(inside.removesuffix(f".{pod.view.namespace}"))


def is_loopback(host: str) -> bool:
    """Return whether a host means the pod that asks, in any spelling of a DNS name."""
    return host.removesuffix(".").lower() in LOOPBACK_HOSTS


def _own_address(pod: Pod) -> HostAddress:
    return _address_of_pod(pod, pod)._replace(is_blind=True)


def _address_of_pod(target: Pod, asking: Pod) -> HostAddress:
    *_, name = target.display_name, *dns_names(target.view)
    is_own = (target.role, target.index) == (asking.role, asking.index)
    return HostAddress(name, target, target.display_name, is_own)


def pod_with_hostname(job: WorkloadPods, label: str) -> Pod | None:
    """Return the pod of the job with this host name, or None."""
    return next((pod for pod in _pods_like(job, label) if pod.hostname == label), None)


def _pods_like(job: WorkloadPods, host: str) -> Iterator[Pod]:
    """Yield the pods whose host names may be the first label of a host: the same stem, and 0 or
    a number at its end.
    """
    parts = first_label(host).split("-")[-2:]
    numbers = [int(part) for part in parts if is_short_number(part, 12)]
    for role in job.roles_for_host(host):
        yield from (job.pod(role, index) for index in sorted({0, *numbers}) if index < role.count)


def services_at(job: WorkloadPods, host: str) -> Iterator[Json]:
    """Yield the Services of the operator and of the stream that a DNS name leads to."""
    for service in (*job.expansion.services, *job.stream.services_at(host)):
        namespace = nested_string(service, "metadata", "namespace") or job.namespace
        name = cluster_host_name(object_name(service), None, namespace, job.versions.domain)
        if host in short_names(name, namespace):
            yield service


def services_of(pod: Pod) -> list[Json]:
    """Return the Services of the operator and of the stream that select a pod."""
    labels = pod.view.labels
    job = pod.job
    written = job.stream.services_selecting(labels)
    return [
        *(service for service in job.expansion.services if service_selects(service, labels)),
        *(service for service in written if namespace_of(service) == job.namespace),
    ]


def _only_pod_of(job: WorkloadPods, service: Json) -> Pod | None:
    """Return the pod behind a Service that selects one pod of the job, or None."""
    selected_labels = selector(service)
    if not selected_labels:
        return None

    numbers = numbers_in(selected_labels.values())
    candidates = (
        job.pod(role, index)
        for role in job.roles
        for index in sorted({0, 1, role.count - 1, *numbers})
        if 0 <= index < role.count
    )
    selected = [pod for pod in candidates if selected_labels.items() <= pod.view.labels.items()]

    return selected[0] if len(selected) == 1 else None


def jobs_of(stream: Objects, versions: Versions) -> list[WorkloadPods]:
    """Return all jobs of a stream."""
    from ptcompile.simulator.job import job_in

    def expand_all() -> list[WorkloadPods]:
        return [job_in(stream, manifest, versions) for manifest in stream.of_kinds(RUNS_PODS)]

    return stream.cached(jobs_of, expand_all)


def drop_jobs(stream: Objects) -> None:
    """Free all jobs of a stream: they lead back to it, and only garbage collection would free
    both.
    """
    jobs: list[WorkloadPods] = stream.cached(jobs_of, list)
    if jobs:
        from ptcompile.simulator.job import drop_job

        for job in jobs:
            drop_job(job)
    stream.forget()


def numbers_in(values: Iterable[str]) -> set[int]:
    """Return the numbers among values, which may be indexes of pods."""
    return {int(value) for value in values if is_short_number(value)}


def peers_of(member: MeetingMember) -> tuple[MeetingMember, ...]:
    """Return the roles of the stream's other objects that meet where this one does."""
    return _others_at(member, _places(member))


def rivals_of(member: MeetingMember) -> tuple[MeetingMember, ...]:
    """Return the roles of the stream's other objects that wait at the same host, but not in the
    same rendezvous.
    """
    others = _others_at(member, [(member.pod.job.namespace, member.address.name)])
    return tuple(other for other in others if other.key != member.key)


def _others_at(
    member: MeetingMember, places: Iterable[tuple[str, ...]]
) -> tuple[MeetingMember, ...]:
    """Return the roles of the stream's other objects that wait at one of these places."""
    job = member.pod.job
    can_meet = job.record.rendezvous.across_objects
    jobs = jobs_of(job.stream, job.versions) if can_meet else []
    if all(other is job or other.title == job.title for other in jobs):
        return ()

    members = job.stream.cached(
        _members_by_place, lambda: _members_by_place(job.stream, job.versions)
    )
    others = {id(other): other for place in places for other in members.get(place, ())}
    return tuple(other for other in others.values() if other.pod.job.title != job.title)


def _members_by_place(
    stream: Objects, versions: Versions
) -> dict[tuple[str, ...], list[MeetingMember]]:
    """Return the roles that wait for others, of kinds whose objects may meet, by each of their
    places, and by namespace and host.
    """
    members: dict[tuple[str, ...], list[MeetingMember]] = {}
    for job in jobs_of(stream, versions):
        if not job.record.rendezvous.across_objects:
            continue
        for member in (member for meeting in job.meetings for member in meeting.members):
            if (
                not member.is_apart
                and member.rendezvous.backend != "none"
                and member.rendezvous.nodes != (1, 1)
            ):
                for place in (*_places(member), (job.namespace, member.address.name)):
                    members.setdefault(place, []).append(member)
    return members


def _places(member: MeetingMember) -> Iterator[tuple[str, ...]]:
    """Yield the keys of which roles of different objects must share one to meet.

    A key has namespace, backend, host and options. If the host is a pod of the role, it is also
    found by the names of the Services that select it.
    """
    job, (backend, name, *rest) = member.pod.job, member.key
    names = {name: None}
    if member.address.is_own:
        for service in job.stream.services_selecting(member.pod.view.labels):
            if namespace_of(service) == job.namespace:
                names[object_name(service)] = None
    yield from ((job.namespace, backend, name, *rest) for name in names)


def dns_names(pod: PodView) -> list[str]:
    """Return the names under which pods in the same namespace find a pod."""
    return short_names(pod.dns, pod.namespace) if pod.dns else []


def short_names(full: str, namespace: str) -> list[str]:
    """Return a cluster DNS name and the short forms that the search domains of its namespace
    complete.
    """
    inside, _, _ = full.partition(f".{namespace}.svc.")
    return [full, f"{inside}.{namespace}.svc", f"{inside}.{namespace}", inside]
