"""Obstacles that keep the training pods of a job from joining one rendezvous: their number,
endpoint, ranks, run, names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import is_short_number, pluralize
from ptcompile.kubernetes.index import USER_SERVED, is_headless, selector, service_selects
from ptcompile.kubernetes.names import first_label
from ptcompile.kubernetes.unstructured import (
    Json,
    kind_of,
    nested_map,
    nested_string_map,
    nested_value,
    object_name,
)
from ptcompile.operators.table import kind_named
from ptcompile.simulator.kubelet import expand_vars
from ptcompile.simulator.launchers import LAUNCHERS
from ptcompile.simulator.launchers.rendezvous import STANDALONE_ENDPOINT, static_node_rank
from ptcompile.simulator.launchers.torchrun import (
    EXIT_BARRIER_SECONDS,
    FIRST_STORE,
    is_literal,
    shares_store,
)
from ptcompile.simulator.meeting import (
    Gathering,
    MeetingMember,
    dns_names,
    numbers_in,
    peers_of,
    pod_with_hostname,
    rivals_of,
    services_at,
    torch_of_pod,
)
from ptcompile.simulator.pod import Pod, WorkloadPods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.hostnames import HostMistake


class Obstacle(NamedTuple):
    """Something that keeps training pods from joining one rendezvous."""

    name: str
    """Name of the lint rule that reports it, where there is one."""
    sentence: str
    member: MeetingMember
    """The role whose setting is the cause."""
    is_certain: bool = True
    """Whether the files decide it."""
    is_late: bool = False
    """Whether the pods meet, and it shows at the end."""
    pods: int = 0
    """How many pods there are, where their number is the cause."""
    nodes: int = 0
    """How many nodes the rendezvous takes, where their number is the cause."""
    option: str = ""
    """The option that differs between roles, by torchrun's name."""
    better: str = ""
    """The pod that the endpoint should name, or the variable that tells a pod its rank."""
    mistake: HostMistake | None = None
    """Why the endpoint leads to no pod, if the files tell."""
    services: Sequence[Json] = ()
    """The Services that the endpoint names, if their field `option` is the cause."""


def obstacles_of(job: WorkloadPods) -> Iterator[Obstacle]:
    """Yield what keeps the job's training pods from joining one rendezvous, or each its own if
    they have several.
    """
    for gathering in job.gatherings:
        is_settled = gathering.is_settled
        for obstacle in _obstacles_among(gathering):
            yield obstacle if is_settled else obstacle._replace(is_certain=False)
    if len(job.gatherings) > 1:
        for obstacle in _difference_obstacles(Gathering(job.meetings)):
            yield obstacle._replace(name="roles-apart", is_certain=False)


def _obstacles_among(gathering: Gathering) -> Iterator[Obstacle]:
    """Yield what keeps the pods from joining one rendezvous, in the order in which they notice it:
    their number, their endpoint, their run, their ranks, the names that they publish. Each yields
    its first reason only.
    """
    if gathering.first.rendezvous.nodes is not None:
        yield from _number_obstacle(gathering)
    if gathering.is_local:
        yield from _local_obstacle(gathering)
    else:
        answers = [*_answer_obstacle(gathering)]
        yield from answers
        yield from _difference_obstacles(gathering)
        if gathering.first.rendezvous.backend == "c10d" and gathering.total > 1 and not answers:
            yield from _published_name_obstacle(gathering)

    yield from _run_obstacle(gathering)
    rendezvous = gathering.guide.rendezvous
    if gathering.is_first_local or rendezvous.nodes in (None, (1, 1)):
        return

    if rendezvous.backend in _RANKED_BACKENDS:
        ranked = [*_ranked_pods(gathering.members)]
        yield from _rank_obstacle(gathering, ranked)
        if gathering.total > 1:
            yield from _first_rank_obstacle(gathering, ranked)
    elif gathering.total > 1:
        yield from _store_obstacle(gathering)


_RANKED_BACKENDS = ("static", "env")
"""Backends whose pods say which node each is."""


def _number_obstacle(gathering: Gathering) -> Iterator[Obstacle]:
    first = gathering.first
    total = gathering.pods
    rendezvous = first.rendezvous
    low, high = rendezvous.nodes or (1, 1)
    needed = high if rendezvous.backend == "static" else low

    if rendezvous.backend == "none" and total > 1:
        # a script, MPI or deepspeed over ssh may find the other pods by itself
        is_certain = rendezvous.launcher in LAUNCHERS and rendezvous.launcher != "deepspeed"
        sentence = f"the {total} pods do not know one another: each trains alone"
        yield Obstacle("worlds-apart", sentence, first, is_certain, pods=total, nodes=high)
    elif total < needed:
        if total > 1 and gathering.is_first_local:
            return  # see `_local_obstacle`
        yield from _too_few_obstacle(gathering, needed)
    elif rendezvous.endpoint == STANDALONE_ENDPOINT:
        return  # see `_local_obstacle`
    elif total > high == 1 and (rendezvous.backend == "static" or gathering.is_first_local):
        sentence = (
            f"each of the {total} pods expects one node and trains alone: torchrun needs nnodes "
            "and node-rank"
        )
        yield Obstacle(
            "worlds-apart", sentence, first, _should_meet(gathering), pods=total, nodes=high
        )
    elif total > high:
        nodes = pluralize(high, "node")
        sentence = (
            f"{total} pods join a rendezvous of at most {nodes}: {total - high} of them wait "
            "outside"
        )
        name = "world-size-differs" if first.is_env_script else "too-many-pods"
        yield Obstacle(name, sentence, first, not is_sweep(first), pods=total, nodes=high)


def _too_few_obstacle(gathering: Gathering, needed: int) -> Iterator[Obstacle]:
    first = gathering.first
    total = gathering.pods
    joined = gathering.total
    is_env = first.rendezvous.backend == "env"
    noun = "processes (WORLD_SIZE)" if is_env else "nodes"
    if needed <= joined:
        titles = ", ".join(dict.fromkeys(peer.pod.job.title for peer in peers_of(first)))
        outside = f"{needed - total} of them outside of this object, in {titles}"
        sentence = f"the rendezvous waits for {needed} {noun}: {outside}"
        yield Obstacle("too-few-pods", sentence, first, is_certain=False)
        return

    rivals = rivals_of(first)
    if needed == joined + sum(rival.role.count for rival in rivals):
        for rival in rivals:
            yield from _difference(first, rival)
        return

    pods = pluralize(total, "pod")
    sentence = f"the rendezvous waits for {needed} {noun}, but the job has {pods}"
    # a Pod may join pods of other files; a script may start a process for each device
    is_open = kind_of(gathering.job.manifest) == ("v1", "Pod") and not gathering.is_first_local
    is_certain = not is_open and not (is_env and needed == total * sum(first.pod.devices.values()))
    name = "world-size-differs" if first.is_env_script else "too-few-pods"
    yield Obstacle(name, sentence, first, is_certain, pods=joined, nodes=needed)


def _should_meet(gathering: Gathering) -> bool:
    """Return whether pods that train alone are meant to meet: options or variables name the others,
    or all do the same and the user gives them names that resolve.
    """
    first = gathering.first
    launch = first.pod.launch
    kind = kind_of(gathering.job.manifest)
    if launch.options.get("nnodes") in ("1", "1:1") and is_sweep(first):
        return False
    if not _PEER_OPTIONS.isdisjoint(launch.options) or any(
        name in launch.env for name in _PEER_VARIABLES
    ):
        return True
    if kind_named(kind).launch_fields.options:
        return True

    return kind in USER_SERVED and first.pod.dns is not None and not is_sweep(first)


_PEER_VARIABLES = (
    *("MASTER_ADDR", "WORLD_SIZE", "NNODES", "NUM_NODES"),
    *("PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "PET_NNODES"),
)
_PEER_OPTIONS = frozenset({"nnodes", "master-addr", "node-rank", "rdzv-endpoint"})


def is_sweep(member: MeetingMember) -> bool:
    """Return whether each pod of a role has separate work: the script's arguments differ, but
    not the node ranks.
    """
    if member.role.count < 2:
        return False
    launch = member.pod.launch
    other = member.pod.job.pod(member.role, 1).launch
    return launch.entry != other.entry and launch.options.get("node-rank") == other.options.get(
        "node-rank"
    )


def _local_obstacle(gathering: Gathering) -> Iterator[Obstacle]:
    """Yield the endpoint of pods that each wait for themselves, unless they expect no other pod."""
    meetings = gathering.meetings_at_endpoints
    first = meetings[0].first
    if first.rendezvous.endpoint == STANDALONE_ENDPOINT:
        sentence = (
            f"each of the {gathering.pods} pods starts a standalone torchrun and trains alone"
        )
        is_certain = _should_meet(gathering)
        yield Obstacle("standalone-on-many-pods", sentence, first, is_certain, pods=gathering.pods)
    elif first.rendezvous.launcher in LAUNCHERS and not first.rendezvous.endpoint:
        config = first.pod.launch.options.get("config-file", "")
        if config and first.pod.file_text(config) is not None:
            config = ""
        # the address may be in a config file that no ConfigMap holds, but a rank in it would be
        # the same for all pods
        if first.is_modeled and not (config and "node-rank" in first.pod.launch.options):
            sentence = (
                f"nothing tells {first.rendezvous.launcher} where the first of {gathering.pods} "
                "pods is"
            )
            if config:
                sentence += f", unless {config} does"
            # deepspeed then asks the first host of its host file, over ssh
            is_certain = not config and first.rendezvous.launcher != "deepspeed"
            yield Obstacle("local-endpoint", sentence, first, is_certain, pods=gathering.pods)
    elif first.rendezvous.nodes != (1, 1):
        endpoint = min(meeting.guide.rendezvous.endpoint or "localhost" for meeting in meetings)
        sentence = (
            f"every pod waits for itself: the endpoint is {endpoint}, but the job has "
            f"{gathering.pods} pods"
        )
        yield Obstacle(meetings[0].local_obstacle, sentence, first, pods=gathering.pods)


def _answer_obstacle(gathering: Gathering) -> Iterator[Obstacle]:
    """Yield why nothing answers at the endpoint."""
    guide = gathering.guide
    host = guide.rendezvous.host
    if not host:
        return
    if "," in host and is_literal(host):
        count = host.count(",") + 1
        sentence = (
            f"the endpoint is a list of {count} hosts, separated by commas, but torchrun connects "
            "to one"
        )
        yield Obstacle("bad-endpoint", sentence, guide, better=host.partition(",")[0])
        return
    if _is_address(host) and not guide.pod.on_host and gathering.is_full:
        sentence = f"{host} is a fixed address, but pods get new ones each time they are created"
        yield Obstacle("literal-address", sentence, guide, is_certain=False)
        return
    if not guide.address.is_unknown:
        yield from _service_obstacle(gathering)
        return

    # most hosts resolve: then the other pods need not be simulated, and nothing looks for a mistake
    # in the host
    from ptcompile.simulator.hostnames import host_mistake

    is_complete = gathering.is_complete
    meets = gathering.meets_at_a_pod
    mistake = host_mistake(guide.pod, host, is_complete=is_complete) if meets else None
    if mistake is None and (is_outside(guide) or peers_of(guide)):
        return

    if mistake is not None and mistake.is_unserved:
        name = "missing-service"
    else:
        name = "unresolvable-endpoint"

    sentence = f"no pod and no Service in this stream answers to {host}"
    yield Obstacle(
        name, sentence, guide, mistake is not None and mistake.is_certain, mistake=mistake
    )


def _is_address(host: str) -> bool:
    """Return whether a host is an IPv4 address of a private network."""
    return host.replace(".", "").isdigit() and host.count(".") == 3 and host.startswith(_PRIVATE)


_PRIVATE = ("10.", "192.168.", "100.64.", *(f"172.{second}." for second in range(16, 32)))


def _service_obstacle(gathering: Gathering) -> Iterator[Obstacle]:
    """Yield the Service that the endpoint names if it leads to none of the pods that should
    meet.
    """
    job = gathering.job
    guide = gathering.guide
    services = [*services_at(job, guide.rendezvous.host.removesuffix(".").lower())]
    subdomains = {pod.view.subdomain for _, pod in job.first_pods}
    # a Service without a selector may have addresses, and so may the pods' headless subdomain
    may_lead_to_pods = any(
        not selector(service)
        or nested_value(service, "spec", "type") == "ExternalName"
        or (is_headless(service) and object_name(service) in subdomains)
        for service in services
    )
    if not services or may_lead_to_pods:
        return
    if not gathering.meets_at_a_pod or not gathering.is_complete:
        return

    service = services[0]
    selects_pods = any(
        service_selects(item, labels)
        for item in services
        for labels in _candidate_labels(job, item)
    )
    if selects_pods:
        if _has_host(gathering) or any(map(is_headless, services)):
            return
        sentence = f"no pod hosts c10d's store at the cluster IP of Service {object_name(service)}"
        option = "clusterIP"
    else:
        sentence = f"the Service {object_name(service)} selects none of the pods"
        option = "selector"

    yield Obstacle("endpoint-misses-pods", sentence, guide, option=option, services=services)


def _has_host(gathering: Gathering) -> bool:
    """Return whether a pod may find that it hosts c10d's store: it has the address or the name
    of the endpoint.
    """
    rendezvous = gathering.guide.rendezvous
    if rendezvous.backend != "c10d" or "is_host" in rendezvous.options.get("rdzv-conf", ""):
        return True
    pods = [member.pod for member in gathering.members]
    return any(rendezvous.host in (pod.hostname, pod.own_fqdn) for pod in pods)


def _candidate_labels(job: WorkloadPods, service: Json) -> Iterator[Mapping[str, str]]:
    """Yield the labels of the job's pods that a Service may select, then those of every other
    pod in the stream.
    """
    numbers = numbers_in(selector(service).values())
    for role in job.roles:
        indexes = sorted({0, role.count - 1, *numbers})
        yield from (
            job.pod(role, index).view.labels for index in indexes if 0 <= index < role.count
        )
    for manifest in job.stream.in_namespace(job.namespace):
        for template in (manifest, nested_map(manifest, "spec", "template")):
            yield nested_string_map(template, "metadata", "labels")


def _difference_obstacles(gathering: Gathering) -> Iterator[Obstacle]:
    """Yield the first option of each role that keeps it from the first role's rendezvous."""
    joining = [
        member for member in gathering.members if member.rendezvous.backend not in ("none", "ray")
    ]
    if len(joining) < 2:
        return

    if all(
        member.rendezvous.nodes == (1, 1) and member.rendezvous.backend == "static"
        for member in joining
    ):
        return

    first, *others = joining
    for member in others:
        yield from _difference(member, first)


def _difference(member: MeetingMember, first: MeetingMember) -> Iterator[Obstacle]:
    """Yield the first option that keeps a role from the rendezvous of another one."""
    is_apart = member.key != first.key
    option, value, other = _first_difference(first, member, is_apart)
    if option:
        is_one_job = member.pod.job is first.pod.job
        name, first_name = (
            each.role.name if is_one_job else each.pod.job.title for each in (member, first)
        )
        sentence = (
            f"{name} has the {option} {value!r}, but {first_name} has {other!r}: they never meet"
        )
        yield Obstacle("roles-disagree", sentence, member, option=option)
    elif is_apart:
        yield Obstacle("roles-disagree", "the roles do not meet", member, is_certain=False)


def _first_difference(
    first: MeetingMember, member: MeetingMember, is_apart: bool
) -> tuple[str, str, str]:
    """Return the first rendezvous option in which a role differs from the first role, with the
    values of both, or three empty strings.
    """
    rendezvous = member.rendezvous
    other = first.rendezvous
    is_static = other.backend == "static" and not rendezvous.options.get("rdzv-endpoint")
    pairs = [("rdzv-backend", rendezvous.backend, other.backend)]
    if is_apart:
        address = "rdzv-endpoint"
        if is_static:
            has_port = "master-port" in member.pod.launch.options
            address = "master-port" if has_port else "master-addr"
        pairs.append((address, rendezvous.endpoint, other.endpoint))

    for option in ("nnodes", "rdzv-id") if rendezvous.backend != "static" else ("nnodes",):
        pairs.append((option, rendezvous.options.get(option, ""), other.options.get(option, "")))
    for option, value, other_value in pairs:
        if value != other_value and is_literal(value) and is_literal(other_value):
            return option, value, other_value
    return "", "", ""


def _run_obstacle(gathering: Gathering) -> Iterator[Obstacle]:
    """Yield the id of the run if the pods of a role have different ones: agents compare it."""
    first = gathering.first
    if gathering.pods > 1 and runs_differ(first):
        run = first.rendezvous.options.get("rdzv-id", "")
        yield Obstacle(
            "rendezvous-id-differs",
            f"the rendezvous id {run!r} differs from pod to pod: they never meet",
            first,
        )


def runs_differ(member: MeetingMember) -> bool:
    """Return whether two pods of the role have different rendezvous ids, and agents that compare
    them.
    """
    role, pod, rendezvous, *_ = member
    if (
        rendezvous.backend in ("static", "env", "none")
        or rendezvous.endpoint == STANDALONE_ENDPOINT
    ):
        return False

    run = rendezvous.options.get("rdzv-id", "")
    if pod_specific_part(run):
        return True

    if "rdzv-id" in pod.launch.options and pod.main is not None:
        written = "".join(pod.main.argv)
        if "$" not in written and "`" not in written:
            return False  # the same command line in every pod

    last = pod.job.last_pod(role).rendezvous.options.get("rdzv-id", "")
    return is_literal(run) and is_literal(last) and run != last


def pod_specific_part(value: str) -> str | None:
    """Return the part of a value that differs between pods, or None."""
    return next((part for part in _POD_SPECIFIC if part in value), None)


_POD_SPECIFIC = (
    "<metadata.name>", "<metadata.uid>", "<status.podIP>", "<status.podIPs>", "$(hostname", "`hostname", "$HOSTNAME",
    "${HOSTNAME", "$RANDOM", "${RANDOM", "$(uuidgen", "`uuidgen", "$(cat /proc/sys/kernel/random", "$(openssl rand",
)  # fmt: skip
"""Texts that differ between any two pods, as the simulator leaves them in a value."""


def is_outside(member: MeetingMember) -> bool:
    """Return whether the endpoint is a name outside the stream, such as a database's."""
    host = member.rendezvous.host
    if (
        not member.address.is_unknown
        or "." not in host
        or member.rendezvous.backend in ("static", "env")
    ):
        return False
    return pod_with_hostname(member.pod.job, first_label(host)) is None


def _rank_obstacle(gathering: Gathering, ranked: Sequence[_RankedPod]) -> Iterator[Obstacle]:
    """Yield the first rank that two pods at the ends of the roles share."""
    settings = [member.rendezvous for member in gathering.members]
    if any(
        each.backend not in _RANKED_BACKENDS or each.nodes in (None, (1, 1)) for each in settings
    ):
        return

    titles = {pod.rank: pod.title for pod in _ranked_pods(peers_of(gathering.first))}
    for pod in ranked:
        if pod.rank in titles:
            sentence = f"{titles[pod.rank]} and {pod.title} both have node rank {pod.rank}"
            better = _rank_variable(pod.member)
            yield Obstacle("same-node-rank", sentence, pod.member, better=better)
            return
        titles[pod.rank] = pod.title


_RANK_VARIABLES = ("VC_TASK_INDEX", "LWS_WORKER_INDEX", "JOB_COMPLETION_INDEX")


def _rank_variable(member: MeetingMember) -> str:
    """Return the variable that has another number in each pod of a role, or an empty string."""
    if _second_job(member):
        return ""
    return next((name for name in _RANK_VARIABLES if name in member.pod.variables), "")


def _second_job(member: MeetingMember) -> int:
    """Return the index of the first pod of a role's second Job, where completion indexes begin
    again; 0 without one.
    """
    role = member.role
    first = member.pod.view.job
    if member.pod.job.last_pod(role).view.job == first:
        return 0

    from bisect import bisect

    return bisect(range(role.count), False, key=lambda index: role.pod(index).job != first)


def _store_obstacle(gathering: Gathering) -> Iterator[Obstacle]:
    """Yield the pod that the endpoint names if another one opens the store, or has rank 0 and
    may need it longer.
    """
    guide = gathering.guide
    host = guide.address.pod
    if host is not None and not any(map(_ranks_otherwise, gathering.members)):
        first = min((member.pod for member in gathering.members), key=lambda pod: pod.own_fqdn)
        if first.own_fqdn < host.own_fqdn:
            sentence = (
                f"{host.hostname} hosts the store, but {first.hostname} has rank 0: "
                f"{EXIT_BARRIER_SECONDS} seconds "
                f"after its own processes end, {host.hostname} exits, and torchrun fails where "
                "processes still run"
            )
            better = first.hostname or ""
            yield Obstacle(
                "store-not-on-rank-0",
                sentence,
                guide,
                is_certain=False,
                is_late=True,
                better=better,
            )


def _first_rank_obstacle(gathering: Gathering, ranked: Sequence[_RankedPod]) -> Iterator[Obstacle]:
    """Yield an obstacle if no pod has node rank 0, or if the endpoint names a pod with another
    rank: the pod with rank 0 opens the store.
    """
    members = gathering.members
    guide = gathering.guide
    host = guide.address.pod
    ranks = [int(pod.rank) for pod in (*ranked, *_ranked_pods(peers_of(guide)))]
    are_unique = len({*ranks}) == len(ranks)
    begins_late = min(ranks, default=0) > 0 and are_unique
    if begins_late and len({id(pod.member) for pod in ranked}) == len(members):
        sentence = f"the node ranks begin at {min(ranks)}: no pod has rank 0, which opens the store"
        # a bare Pod may join pods of other files
        is_certain = gathering.is_full and guide.rendezvous.launcher != "image"
        # the pod's index begins at 0, so an expression adds to it
        better = _rank_variable(gathering.first) if len(members) == 1 else ""
        yield Obstacle(
            "master-without-rank-0",
            sentence,
            gathering.first,
            is_certain,
            option="node-rank",
            better=better,
        )
    elif host is not None and gathering.pods > 1 and not guide.address.is_blind:
        rank = host.rendezvous.node_rank
        if is_short_number(rank) and int(rank):
            sentence = (
                f"{host.display_name} has node rank {rank}, but the pod with rank 0 opens the store"
            )
            yield Obstacle("master-without-rank-0", sentence, guide)


def _ranks_otherwise(member: MeetingMember) -> bool:
    """Return whether ranks do not follow from the pods' names, or another backend or launcher
    decides them.
    """
    pod = member.pod
    rendezvous = member.rendezvous
    is_named = pod.hostname is not None and not pod.on_host and not _local_address(pod)
    return rendezvous.launcher != "torchrun" or rendezvous.backend != "c10d" or not is_named


def _local_address(pod: Pod) -> str:
    """Return the address that torchrun publishes in place of the host name, or an empty string."""
    return pod.launch.options.get("local-addr") or pod.launch.env.get("PET_LOCAL_ADDR", "")


class _RankedPod(NamedTuple):
    """A pod with a numeric node rank."""

    member: MeetingMember
    """Its role."""
    rank: str
    title: str


def _ranked_pods(members: Iterable[MeetingMember]) -> Iterator[_RankedPod]:
    """Yield the first two pods of each role, the first one of its second Job, and its last one, as
    far as their ranks are numbers.
    """
    for member in members:
        count = member.role.count
        written = member.pod.written_options.get("node-rank")
        for index in sorted({0, min(1, count - 1), _second_job(member), count - 1}):
            pod = member.pod.job.pod(member.role, index)
            if member.rendezvous.launcher != "torchrun":
                rank = pod.rendezvous.node_rank
            elif written is not None and pod.view.spec is member.pod.view.spec:
                # the command lines of the other pods need not be read
                rank = expand_vars(written, pod.variables)
            else:
                rank = static_node_rank(pod.launch)
            if is_short_number(rank):
                yield _RankedPod(member, rank, pod.display_name)


def _published_name_obstacle(gathering: Gathering) -> Iterator[Obstacle]:
    """Yield the first name published by c10d that does not resolve.

    c10d publishes the pod's `local-addr` if it is set, else its fully qualified host name.
    """
    # pods of other objects may meet without this one
    is_certain = gathering.pods > 1
    for member in gathering.members:
        pod = member.pod
        if _local_address(pod) or _meets_at_endpoint(pod):
            continue

        if pod.on_host:
            sentence = (
                "c10d publishes a node's host name (hostNetwork), which the other nodes must be "
                "able to resolve"
            )
            yield Obstacle("node-names-handed-out", sentence, member, is_certain=False)
            return
        if pod.dns is None:
            published = f"the host name of {pod.display_name}"
        elif pod.own_fqdn not in dns_names(pod.view):
            published = f"{pod.own_fqdn} from /etc/hosts"
        else:
            continue

        sentence = f"c10d publishes {published}, but no Service makes it resolve"
        yield Obstacle("unpublished-name", sentence, member, is_certain)
        return


def _meets_at_endpoint(pod: Pod) -> bool:
    """Return whether processes join at the endpoint's name because their agents share the
    rendezvous' store.
    """
    torch = torch_of_pod(pod, pod.job.versions)
    return torch < FIRST_STORE and shares_store(pod.launch.env, torch)
