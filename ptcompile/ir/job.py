"""The compiler's model of a job: roles, launch, run policy, device claims, rendezvous; and what a pass is.

Everything is a named tuple, and so frozen. A value that a person may leave out is `None` or empty only until the pass
that decides it has run; a target reads decided values. The rendezvous is written by the pass of that name; targets ask
before the passes what it will be. Kubernetes objects that the compiler only carries stay plain mappings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Problem
from ptcompile.ir.pods import NOTHING, PodTemplate, Resources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, Literal

    from ptcompile.diagnostics.terms import Authority
    from ptcompile.ir.pods import Json
    from ptcompile.spec.cluster_profile import ClusterProfile

    RestartPolicy = Literal["Always", "OnFailure", "Never", "ExitCode"]
    CleanPodPolicy = Literal["None", "All", "Running"]
    OnPodFailure = Literal["RestartPod", "RestartJob", "FailJob"]
    OnDisruption = Literal["Ignore", "Count", "FailJob"]
    SuccessPolicy = Literal["Node0", "AllNodes"]


CHANNEL: Final = "compute-domain-channel"
"""What pods call their claim of a channel of the job's ComputeDomain."""

GPU: Final = "gpu"
"""What pods call their claim of whole GPUs."""

DOMAIN_LABEL: Final = "ptcompile/compute-domain"
"""Label of the nodes' pods with the job's name, by which they are kept in one rack: the same on every target."""


class JobClaim(NamedTuple):
    """Devices that each pod of some roles claims, by a ResourceClaimTemplate of the job's."""

    name: str
    """What pods call it, and its only request: a DNS label."""
    template: str
    """The template's name."""
    device_class: str
    count: int  # type: ignore[assignment]  # not the method that tuples have
    selectors: tuple[str, ...] = ()
    """CEL expressions."""
    accelerators: bool = False
    """Whether the devices are accelerators, one process each."""


def accelerators_in(claims: Iterable[JobClaim], pod: Mapping[str, Any]) -> int:
    """How many accelerators a pod's spec claims, by the job's templates."""
    named = {one.get("resourceClaimTemplateName") for one in pod.get("resourceClaims") or ()}
    return sum([one.count for one in claims if one.accelerators and one.template in named])


def channel_template(job: str) -> str:
    """The template of a channel, which the driver's controller makes for the job's ComputeDomain."""
    return f"{job}-{CHANNEL}"


UNLIMITED = 2**31 - 1
"""The backoff limit that no job reaches: the largest number that Kubernetes and the operators take."""


class Role(NamedTuple):
    """Pods of one kind: `replicas` of one template. `restart_policy` None leaves it to the target."""

    name: str
    replicas: int
    template: PodTemplate
    restart_policy: RestartPolicy | None = None
    trains: bool = True
    """Whether its pods are nodes of the job. A data loader's or a parameter server's are not: they have no rank."""


class Launch(NamedTuple):
    """A torchrun launch. Absent from a job whose containers start their own command, and nothing is known of it."""

    entry: tuple[str, ...]
    """What torchrun starts: `("train.py",)` or `("-m", "pkg.train")`. Empty where the user's own command starts
    torchrun, which finds these settings in its environment."""
    nproc_per_node: int | str
    rdzv_backend: str | None
    """None leaves it to the pass `rendezvous`, as it does the waits in `rdzv_conf` (`settled`)."""
    rdzv_id: str | None
    """None leaves it to torchrun."""
    rdzv_endpoint: str | None
    """HOST:PORT of an etcd server; None where node 0 is the meeting point."""
    rdzv_conf: Mapping[str, str | None]
    """None keeps a setting away."""
    monitor_interval: float | None
    """Seconds; None leaves it to torchrun."""
    max_restarts: int
    start_method: str

    @property
    def settings(self) -> dict[str, str]:
        """--rdzv-conf, without what is kept away."""
        return {key: value for key, value in self.rdzv_conf.items() if value is not None}


class RunPolicy(NamedTuple):
    """When a job ends and what is left of it. None is "not said"; 0 is a value. Times are seconds."""

    clean_pod_policy: CleanPodPolicy | None = None
    ttl_seconds_after_finished: int | None = None
    active_deadline_seconds: int | None = None
    backoff_limit: int | None = None
    suspend: bool = False
    on_pod_failure: OnPodFailure | None = None
    on_disruption: OnDisruption | None = None
    success_policy: SuccessPolicy | None = None


class Nearness(NamedTuple):
    """How near to each other the pods must be: within one domain of a level of the profile's topology."""

    level: str
    required: bool
    """Whether the job waits rather than run further apart."""


class JobNames(NamedTuple):
    """What parts of a job are called where the operator leaves the choice. `container` None is the target's own."""

    container: str | None = None
    node: str = "node"
    master: str = "master"
    worker: str = "worker"


class Job(NamedTuple):
    """One training job, on its way from what a person wrote to what a target emits."""

    name: str
    roles: tuple[Role, ...]
    """The first pod of the first role is node 0. A job of equal nodes has one role that trains. Those that do not
    train stand behind those that do."""
    min_nodes: int
    """Fewer nodes than there are pods where the job is elastic, else their number."""
    namespace: str | None = None
    labels: Mapping[str, str | None] = NOTHING
    """Of the objects; None keeps one away."""
    annotations: Mapping[str, str | None] = NOTHING
    resources: Resources = Resources()
    """The job's own, for roles that do not say better."""
    launch: Launch | None = None
    run_policy: RunPolicy = RunPolicy()
    shared_memory: bool | str = True
    """Whether /dev/shm is a memory volume; a quantity is its size limit."""
    accelerator: str | None = None
    spot: bool = False
    fabric: str | None = None
    pod_security: str | None = None
    """Level of Pod Security, with a version or without; None leaves it to the profile."""
    queue: str | None = None
    """None leaves it to the profile; an empty name means no queue."""
    master_port: int = 23456
    names: JobNames = JobNames()
    priority: str | None = None
    """The job's class in its queue; not that of its pods."""
    topology: Nearness | None = None
    max_nodes: int | None = None
    """Most nodes, where the job starts with fewer."""
    runtime: Json | None = None
    """Reference to a Trainer runtime that is already there: the job then says only what differs from it."""
    runtime_nodes: bool = False
    """Whether the number of nodes is the runtime's."""
    claims: tuple[JobClaim, ...] = ()
    """Devices that its pods claim."""
    compute_domain: bool = False
    """Whether it has a ComputeDomain, of which its nodes claim channels."""

    @property
    def trainers(self) -> tuple[Role, ...]:
        """The roles whose pods are nodes."""
        return tuple([role for role in self.roles if role.trains])

    @property
    def beside(self) -> tuple[Role, ...]:
        """The roles whose pods are no nodes."""
        return tuple([role for role in self.roles if not role.trains])

    @property
    def nodes(self) -> int:
        """The number of pods that train."""
        number = 0
        for role in self.roles:  # asked at every turn
            if role.trains:
                number += role.replicas
        return number

    @property
    def pods(self) -> int:
        """The number of all pods."""
        return sum([role.replicas for role in self.roles])

    @property
    def least_pods(self) -> int:
        """The number of pods without which it cannot run: the fewest nodes, and all pods beside them."""
        return self.min_nodes + self.pods - self.nodes

    @property
    def elastic(self) -> bool:
        """Whether the number of its nodes may vary."""
        return self.min_nodes < self.most_nodes

    @property
    def most_nodes(self) -> int:
        """The largest number of pods that train."""
        return self.max_nodes or self.nodes


class Wiring(NamedTuple):
    """How the processes of a job find each other on one target: what the rendezvous pass must know."""

    host: str
    """A name of node 0 that resolves from every pod."""
    injected: frozenset[str] = frozenset()
    """The torchrun options that the operator hands over by itself, as PET_* variables."""
    node_rank: str | None = None
    """The node's rank, as text that the kubelet expands in a command; None where the operator hands it over."""
    rank_from: Json = NOTHING
    """The node's rank as `value` or `valueFrom` of a variable; empty where no variable can hold it."""
    env: tuple[Json, ...] = ()
    """What a plain command needs and nothing else sets."""
    hosts: Mapping[str, tuple[str, ...]] = NOTHING
    """Of each auxiliary role, the names of its pods that resolve from every pod, in order."""


class IndexedGroup(NamedTuple):
    """Pods that share a name but for their index: a task, a replica type, a replicatedJob."""

    name: str
    pods: int
    """Of each Job, where Jobs stand between."""
    jobs: int = 1


def _one_group(job: Job) -> Sequence[IndexedGroup]:
    return (IndexedGroup("", job.nodes),)


LABEL = 63
"""Characters of a DNS label, of a label's value and of a Service's name."""
SUBDOMAIN = 253
"""Characters of the names of most other objects."""


class Derived(NamedTuple):
    """A name after the job's. In the pattern `group` is a group of pods, `last_job` and `last` their last indexes."""

    what: str
    pattern: str
    source: str
    limit: int = LABEL


class Target(NamedTuple):
    """One operator's API."""

    name: str
    title: str
    authority: Authority
    wiring: Callable[[Job], Wiring]
    overwrites: Mapping[str, str | None]
    """Env names whose user's value is lost at run time, each with the value that wins where it is constant."""
    unsupported: Callable[[Job, ClusterProfile], Iterable[Problem]]
    """What this operator cannot express of a job, and as warnings what it does otherwise; paths are those of a spec."""
    emit: Callable[[Job, ClusterProfile], list[dict[str, Any]]]
    main_container: str = "pytorch"
    groups: Callable[[Job], Sequence[IndexedGroup]] = _one_group
    """The operator's groups of pods, from which names are derived (`compiler.checks.targets`)."""
    derived: tuple[Derived, ...] = ()
    """Names after the job's. One whose limit is that of a job's own is here all the same: a longer suffix may come."""
    names_scheduler: frozenset[str] = frozenset()
    """Gang schedulers that the operator writes into pods by itself."""


class Context:
    """What a pass may look at besides the job."""

    def __init__(self, cluster: ClusterProfile, target: Target) -> None:
        self.cluster = cluster
        self.target = target


Pass = Callable[[Job, Context], Job]
"""Pure, total and idempotent. Fills gaps; never touches what the user wrote; never complains."""


TemplateTransform = Callable[[PodTemplate], PodTemplate]


def map_templates(job: Job, change: TemplateTransform, beside: TemplateTransform | None = None) -> Job:
    """The job with `change` applied to the template of each role; with `beside` to those that do not train.

    Where every change gives its template back, so does this the job: a pass without work costs next to nothing.
    """
    others = beside or change
    roles: list[Role] = []
    changed = False
    for role in job.roles:
        template = (change if role.trains else others)(role.template)
        if template is not role.template:
            role = Role(role.name, role.replicas, template, role.restart_policy, role.trains)
            changed = True
        roles.append(role)
    return Job(job.name, tuple(roles), *job[2:]) if changed else job  # by place: half of what _replace costs


def unchanged(template: PodTemplate) -> PodTemplate:
    """The change that is none."""
    return template


MEETING_SECONDS: Final = 900
"""How long the nodes of a job wait for one another, by default: an image may be pulled meanwhile.

As in flytekitplugins-kfpytorch 1.16, `Elastic`."""


def backend(job: Job, launch: Launch) -> str:
    """The rendezvous backend: the user's, else c10d for nodes that may have to meet again, else static.

    Nodes that met statically cannot meet again (PyTorch 2.13).
    """
    if launch.rdzv_backend is not None:
        return launch.rdzv_backend
    again = launch.max_restarts > 0 or job.elastic or _a_pod_returns(job)
    return "c10d" if again and job.most_nodes > 1 else "static"


def _a_pod_returns(job: Job) -> bool:
    """Whether a container or a pod that trains may start again while the others go on.

    Auxiliary roles take no part in the rendezvous.
    """
    policy = job.run_policy
    if any(role.restart_policy not in {None, "Never"} for role in job.trainers):
        return True
    if policy.on_pod_failure == "RestartJob":
        return False
    outlives_nodes = policy.on_disruption == "Ignore" or (job.spot and policy.on_disruption is None)
    return bool(policy.backoff_limit) or policy.on_pod_failure == "RestartPod" or outlives_nodes


def settled(job: Job, launch: Launch) -> Launch:
    """The launch with all that is decided of the meeting."""
    how = backend(job, launch)
    return launch._replace(rdzv_backend=how, rdzv_conf=_conf(job, launch, how))


WAITS = frozenset({"timeout", "join_timeout", "read_timeout"})
"""The settings of --rdzv-conf that compile writes by default; without one of the others, the command is another."""


def _conf(job: Job, launch: Launch, backend: str) -> dict[str, str | None]:
    """--rdzv-conf: how long nodes wait for one another, in seconds, the user's words last; None keeps one away.

    `timeout` is the static rendezvous' and etcd's. c10d does not read it: there nodes wait for node 0, whose store they
    connect to, as long as `read_timeout`, 60 seconds by default, and for the others `join_timeout` (PyTorch 2.13).
    """
    own = launch.rdzv_conf
    if job.most_nodes == 1 or (job.runtime is not None and not launch.entry):  # a runtime's command has its own
        return {**own}
    waits: dict[str, str | None] = {"timeout": str(MEETING_SECONDS), "join_timeout": str(MEETING_SECONDS)}
    if backend == "c10d":
        told = own.get("timeout", waits["timeout"])
        waits["read_timeout"] = told if told is None or told.strip().isdigit() else waits["timeout"]
    return {**waits, **own}
