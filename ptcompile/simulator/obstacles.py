"""What keeps the training pods of a job from joining one rendezvous: their number, endpoint, ranks, run, names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.index import USER_SERVED
from ptcompile.kubernetes.unstructured import as_string, kind_of
from ptcompile.simulator.launchers import LAUNCHERS
from ptcompile.simulator.launchers.rendezvous import AT_RENDEZVOUS, STANDALONE_ENDPOINT, Rendezvous
from ptcompile.simulator.launchers.torchrun import FIRST_STORE, OWN_STORE, SHARED_STORE, is_literal, torch_of
from ptcompile.simulator.meeting import MeetingMember, dns_names, peers_of, pod_with_hostname
from ptcompile.simulator.pod import Pod, WorkloadPods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Obstacle(NamedTuple):
    """Something that keeps training pods from joining one rendezvous."""

    name: str
    """Name of the lint rule that reports it, where there is one."""
    sentence: str
    is_certain: bool = True
    """Whether the files decide it."""


def obstacles_of(job: WorkloadPods) -> Iterator[Obstacle]:
    """Yield what keeps the job's training pods from joining one rendezvous, in the order in which they notice it:
    their number, their endpoint, their ranks, the names that they publish. Each yields its first reason only.
    """
    if not job.meetings:
        return
    first = job.meetings[0].members[0].rendezvous
    total = sum(meeting.pods for meeting in job.meetings)
    peers = peers_of(job.meetings[0].members[0]) if first.nodes is not None and total < first.nodes[0] else ()

    if first.nodes is not None:
        yield from _node_count_obstacle(job, first, total, peers)
    yield from _endpoint_obstacle(job, total, peers)
    yield from _run_obstacle(job, first, total)
    yield from _rank_obstacle(job, first, total)
    if first.backend == "c10d" and total > 1:
        yield from _published_name_obstacle(job)


def _node_count_obstacle(
    job: WorkloadPods, first: Rendezvous, total: int, peers: Sequence[MeetingMember]
) -> Iterator[Obstacle]:
    low, high = first.nodes or (1, 1)
    noun = "processes (WORLD_SIZE)" if first.backend == "env" else "nodes"
    elsewhere = sum(peer.role.count for peer in peers)

    if first.backend == "none" and total > 1:
        # a script, MPI or deepspeed over ssh may find the other pods by itself
        is_certain = first.launcher in LAUNCHERS and first.launcher != "deepspeed"
        sentence = f"the {total} pods do not know one another: each trains alone"
        yield Obstacle("worlds-apart", sentence, is_certain)
    elif total < low <= total + elsewhere:
        titles = ", ".join(dict.fromkeys(peer.pod.job.title for peer in peers))
        sentence = f"the rendezvous waits for {low} {noun}: {low - total} of them outside of this object, in {titles}"
        yield Obstacle("too-few-pods", sentence, is_certain=False)
    elif total < low:
        pods = "1 pod" if total == 1 else f"{total} pods"
        is_certain = kind_of(job.manifest) != ("v1", "Pod") or job.meetings[0].is_local
        sentence = f"the rendezvous waits for {low} {noun}, but the job has {pods}"
        yield Obstacle("too-few-pods", sentence, is_certain)
    elif total > high == 1:
        sentence = f"each of the {total} pods expects one node and trains alone: torchrun needs nnodes and node-rank"
        yield Obstacle("worlds-apart", sentence, is_certain=not is_sweep(job.meetings[0].members[0]))
    elif total > high:
        sentence = f"{total} pods join a rendezvous of at most {high} nodes: {total - high} of them wait outside"
        yield Obstacle("too-many-pods", sentence)


def is_sweep(member: MeetingMember) -> bool:
    """Return whether each pod has separate work: it asks for one node, and the script's arguments differ."""
    role, launch = member.role, member.pod.launch
    if launch.options.get("nnodes") not in ("1", "1:1") or role.count < 2:
        return False
    return launch.entry != member.pod.job.pod(role, 1).launch.entry


def _endpoint_obstacle(job: WorkloadPods, total: int, peers: Sequence[MeetingMember]) -> Iterator[Obstacle]:
    meetings = [meeting for meeting in job.meetings if _has_endpoint(meeting.members[0].rendezvous)]
    guides = [meeting.guide for meeting in meetings]
    endpoints = sorted({guide.rendezvous.endpoint or "localhost" for guide in guides})

    if total > 1 and meetings and all(meeting.is_local for meeting in meetings):
        if guides[0].rendezvous.nodes == (1, 1):
            return  # they expect no other pod
        sentence = f"every pod waits for itself: the endpoint is {endpoints[0]}, but the job has {total} pods"
        yield Obstacle(meetings[0].local_obstacle, sentence)
        return

    if guides and guides[0].address.is_unknown and not peers and not is_outside(guides[0]):
        sentence = f"no pod and no Service in this stream answers to {guides[0].rendezvous.host}"
        yield Obstacle("unresolvable-endpoint", sentence, is_certain=_is_of_operator(guides[0]))
    if len(endpoints) > 1 and len(meetings) > 1:
        yield Obstacle("roles-disagree", f"the roles do not meet: their endpoints are {', '.join(endpoints)}")


def _has_endpoint(rendezvous: Rendezvous) -> bool:
    """Return whether pods meet at an endpoint; torchrun takes a missing one for its own localhost."""
    return bool(rendezvous.endpoint) or (rendezvous.backend == "c10d" and rendezvous.nodes != (1, 1))


def _is_of_operator(member: MeetingMember) -> bool:
    """Return whether no other file can make the endpoint's name resolve: the operator writes the Services, or a pod has
    another subdomain.
    """
    kind, host = kind_of(member.pod.job.manifest), member.rendezvous.host
    is_name = any(label.strip("0123456789") for label in host.split(".")) and not _SIGNS & {*host}
    is_hosted = member.rendezvous.backend in ("static", "c10d", "env") and member.rendezvous.launcher != "image"
    label, _, service = host.partition(".")
    meant = pod_with_hostname(member.pod.job, label) if service else None
    is_misnamed = meant is not None and meant.view.subdomain != service.partition(".")[0]
    return is_name and is_hosted and (is_misnamed or kind not in USER_SERVED)


_SIGNS: Final = frozenset("$<,")
"""Signs of a value that no file has, or of a list."""


def _run_obstacle(job: WorkloadPods, first: Rendezvous, total: int) -> Iterator[Obstacle]:
    """Yield the id of the run if the pods of a role have different ones: agents compare it."""
    run = first.options.get("rdzv-id", "")
    if total > 1 and runs_differ(job.meetings[0].members[0]):
        yield Obstacle("rendezvous-id-differs", f"the rendezvous id {run!r} differs from pod to pod: they never meet")


def runs_differ(member: MeetingMember) -> bool:
    """Return whether two pods of the role have different rendezvous ids, and agents that compare them."""
    role, pod, rendezvous, *_ = member
    if rendezvous.backend in ("static", "env", "none") or rendezvous.endpoint == STANDALONE_ENDPOINT:
        return False
    run = rendezvous.options.get("rdzv-id", "")
    if pod_specific_part(run):
        return True
    if "rdzv-id" in pod.launch.options and pod.main is not None:
        written = "".join((*(pod.main.command or ()), *(pod.main.args or ())))
        if "$" not in written and "`" not in written:
            return False  # the same command line in every pod
    last = pod.job.pod(role, role.count - 1).rendezvous.options.get("rdzv-id", "")
    return is_literal(run) and is_literal(last) and run != last


def pod_specific_part(value: str) -> str | None:
    """Return the part of a value that differs between pods, or None."""
    return next((part for part in _POD_SPECIFIC if part in value), None)


_POD_SPECIFIC: Final = (
    "<metadata.name>", "<metadata.uid>", "<status.podIP>", "<status.podIPs>", "$(hostname", "`hostname", "$HOSTNAME",
    "${HOSTNAME", "$RANDOM", "${RANDOM", "$(uuidgen", "`uuidgen", "$(cat /proc/sys/kernel/random", "$(openssl rand",
)  # fmt: skip
"""Texts that differ between any two pods, as the simulator leaves them in a value."""


def is_outside(member: MeetingMember) -> bool:
    """Return whether the endpoint is a name outside the stream, such as a database's."""
    host = member.rendezvous.host
    if not member.address.is_unknown or "." not in host or member.rendezvous.backend in ("static", "env"):
        return False
    return pod_with_hostname(member.pod.job, host.partition(".")[0]) is None


def _rank_obstacle(job: WorkloadPods, first: Rendezvous, total: int) -> Iterator[Obstacle]:
    """Yield the first rank that two pods at the ends of the roles share."""
    if first.node_rank == AT_RENDEZVOUS or total < 2 or first.backend == "none" or first.nodes == (1, 1):
        return
    seen: dict[str, str] = {}
    for role in (member.role for meeting in job.meetings for member in meeting.members):
        for index in sorted({0, min(1, role.count - 1), role.count - 1}):
            pod = job.pod(role, index)
            rank = pod.rendezvous.node_rank
            if rank in seen:
                yield Obstacle("same-node-rank", f"{seen[rank]} and {pod.display_name} both have rank {rank}")
                return
            seen[rank] = pod.display_name


def _published_name_obstacle(job: WorkloadPods) -> Iterator[Obstacle]:
    """Yield the first name published by c10d that does not resolve.

    c10d publishes the pod's `local-addr` if it is set, else its fully qualified host name.
    """
    for pod in (member.pod for meeting in job.meetings for member in meeting.members):
        if pod.launch.options.get("local-addr") or pod.launch.env.get("PET_LOCAL_ADDR") or _meets_at_endpoint(pod):
            continue
        if pod.on_host:
            sentence = "c10d publishes a node's host name (hostNetwork), which the other nodes must be able to resolve"
            yield Obstacle("node-names-handed-out", sentence, is_certain=False)
        elif pod.dns is None:
            sentence = f"c10d publishes the host name of {pod.display_name}, but no Service makes it resolve"
            yield Obstacle("unpublished-name", sentence)
        elif pod.own_fqdn not in dns_names(pod):
            sentence = f"c10d publishes {pod.own_fqdn} from /etc/hosts, but no Service makes it resolve"
            yield Obstacle("unpublished-name", sentence)
        else:
            continue
        return


def _meets_at_endpoint(pod: Pod) -> bool:
    """Return whether processes join at the endpoint's name because their agents share the rendezvous' store."""
    image = as_string(pod.main.spec.get("image")) if pod.main else None
    return SHARED_STORE <= torch_of(image, pod.job.versions) < FIRST_STORE and pod.launch.env.get(OWN_STORE) != "1"
