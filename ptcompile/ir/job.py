"""The compiler's model of a job: roles, launch, run policy, device claims, rendezvous; and the type
of a pass.

Everything is a named tuple and so immutable. An optional value is None or empty only until the pass
that sets it has run; targets read final values. The pass `rendezvous` writes the rendezvous;
targets read before the passes what it will be. Kubernetes objects that the compiler only carries
remain plain mappings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Authority, Problem
from ptcompile.ir.pods import NOTHING, PodTemplate, Resources
from ptcompile.kubernetes.unstructured import Json, JsonDict, without_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.spec.cluster_profile import ClusterProfile

    RestartPolicy = Literal["Always", "OnFailure", "Never", "ExitCode"]
    CleanPodPolicy = Literal["None", "All", "Running"]
    OnPodFailure = Literal["RestartPod", "RestartJob", "FailJob"]
    OnDisruption = Literal["Ignore", "Count", "FailJob"]
    SuccessPolicy = Literal["Node0", "AllNodes"]


CHANNEL = "compute-domain-channel"
"""Name of the pods' claim for a channel of the job's ComputeDomain."""

GPU = "gpu"
"""Name of the pods' claim for whole GPUs."""

DOMAIN_LABEL = "ptcompile/compute-domain"
"""Label of the training pods with the job's name, which keeps them in one rack; the same on
every target.
"""


class JobClaim(NamedTuple):
    """Devices that each pod of some roles claims, through a ResourceClaimTemplate of the job."""

    name: str
    """Name of the claim in the pods and of its only request: a DNS label."""
    template: str
    """Name of the ResourceClaimTemplate."""
    device_class: str
    count: int  # type: ignore[assignment]  # not the method that tuples have
    selectors: tuple[str, ...] = ()
    """CEL expressions."""
    accelerators: bool = False
    """Whether the devices are accelerators, with one process each."""


def accelerators_in(claims: Iterable[JobClaim], pod: Json) -> int:
    """Return the number of accelerators that a pod spec claims through the job's templates."""
    templates = {
        claim.get("resourceClaimTemplateName") for claim in pod.get("resourceClaims") or ()
    }
    return sum(
        [claim.count for claim in claims if claim.accelerators and claim.template in templates]
    )


def channel_template(job: str) -> str:
    """Return the name of the channel template that the driver's controller creates for the job's
    ComputeDomain.
    """
    return f"{job}-{CHANNEL}"


OF_RUNTIME = ""
"""The processes per node of a job that leaves them to its Trainer runtime."""

UNLIMITED = 2**31 - 1
"""A backoff limit that no job reaches: the largest number that Kubernetes and the operators
accept.
"""


class Role(NamedTuple):
    """`replicas` pods of one template. If `restart_policy` is None, the target chooses it."""

    name: str
    replicas: int
    template: PodTemplate
    restart_policy: RestartPolicy | None = None
    trains: bool = True
    """Whether its pods are nodes of the job. The pods of a data loader or a parameter server are
    not: they have no rank.
    """


class Launch(NamedTuple):
    """A torchrun launch. A job whose containers start their own command, about which nothing is
    known, has none.
    """

    entry: tuple[str, ...]
    """What torchrun starts: `("train.py",)` or `("-m", "pkg.train")`. Empty if the user's own
    command starts torchrun, which reads these settings from its environment.
    """
    nproc_per_node: int | str
    """A number, auto, cpu, gpu, or `OF_RUNTIME`."""
    rdzv_backend: str | None
    """If None, the pass `rendezvous` sets it and the timeouts in `rdzv_conf` (`settled`)."""
    rdzv_id: str | None
    """If None, torchrun chooses it."""
    rdzv_endpoint: str | None
    """HOST:PORT of an etcd server, or None if the nodes join at node 0."""
    rdzv_conf: Mapping[str, str | None]
    """Settings by name; None removes a default."""
    monitor_interval: float | None
    """Seconds; if None, torchrun's default."""
    max_restarts: int
    start_method: str
    adds_variables: bool = True
    """Whether passes add variables that torchrun or its processes read."""
    standalone: bool = True
    """Whether a single node has a store of its own at a free port, unless the spec asks for a
    static rendezvous.
    """

    @property
    def settings(self) -> dict[str, str]:
        """--rdzv-conf without the removed settings."""
        return without_none(self.rdzv_conf)


class RestartRule(NamedTuple):
    """Exit statuses of the training container that the kubelet answers by a restart in the pod."""

    exit_codes: tuple[int, ...]
    action: str


class RunPolicy(NamedTuple):
    """When a job ends and what remains of it. None means unset; 0 is a value. Times are in
    seconds.
    """

    clean_pod_policy: CleanPodPolicy | None = None
    ttl_seconds_after_finished: int | None = None
    active_deadline_seconds: int | None = None
    backoff_limit: int | None = None
    suspend: bool = False
    on_pod_failure: OnPodFailure | None = None
    on_disruption: OnDisruption | None = None
    success_policy: SuccessPolicy | None = None
    restart_in_place: RestartRule | None = None


class TopologyConstraint(NamedTuple):
    """How close the pods must be to each other: within one domain of a level of the profile's
    topology.
    """

    level: str
    required: bool
    """Whether the job waits for such a domain rather than run further apart."""


class JobNames(NamedTuple):
    """Names of parts of a job that the operator lets a user choose. A name that is None is the
    target's default.
    """

    container: str | None = None
    node: str = "node"
    master: str = "master"
    worker: str = "worker"
    master_container: str | None = None
    worker_container: str | None = None
    service: str | None = None
    task: str | None = None

    def container_of(self, role: str) -> str | None:
        """Return the name of a training role's main container, or None if the spec sets none."""
        by_role = {"master": self.master_container, "worker": self.worker_container}
        return by_role.get(role) or self.container


class Job(NamedTuple):
    """A training job, on its way from the spec to the manifests of a target."""

    name: str
    roles: tuple[Role, ...]
    """The first pod of the first role is node 0. A job of equal nodes has one training role.
    Auxiliary roles come after the training roles.
    """
    min_nodes: int
    """Minimum number of nodes; fewer than there are training pods only if the job is elastic."""
    namespace: str | None = None
    labels: Mapping[str, str | None] = NOTHING
    """Labels of the objects; None removes a default."""
    annotations: Mapping[str, str | None] = NOTHING
    resources: Resources = Resources()
    """Job-level default; a role may override it."""
    launch: Launch | None = None
    run_policy: RunPolicy = RunPolicy()
    shared_memory: bool | str = True
    """Whether /dev/shm is a memory volume; a quantity is its size limit."""
    accelerator: str | None = None
    spot: bool = False
    fabric: str | None = None
    pod_security: str | None = None
    """Pod Security level, with or without a version; if None, the profile's."""
    queue: str | None = None
    """If None, the profile's; an empty name means no queue."""
    master_port: int = 23456
    names: JobNames = JobNames()
    priority: str | None = None
    """The job's priority class in its queue, not the pods'."""
    topology: TopologyConstraint | None = None
    max_nodes: int | None = None
    """Maximum number of nodes, if the job starts with fewer."""
    runtime: Json | None = None
    """Reference to an existing Trainer runtime; the TrainJob then carries only its differences
    from it.
    """
    runtime_nodes: bool = False
    """Whether the runtime sets the number of nodes."""
    claims: tuple[JobClaim, ...] = ()
    """Devices that the pods claim."""
    compute_domain: bool = False
    """Whether the job has a ComputeDomain of which its nodes claim channels."""
    min_available: int | None = None
    """The number of pods that a gang scheduler starts only together, if the spec sets it."""

    @property
    def training_roles(self) -> tuple[Role, ...]:
        """The roles whose pods are nodes."""
        return tuple([role for role in self.roles if role.trains])

    @property
    def auxiliary_roles(self) -> tuple[Role, ...]:
        """The roles whose pods are not nodes."""
        return tuple([role for role in self.roles if not role.trains])

    @property
    def nodes(self) -> int:
        """The number of training pods."""
        number = 0
        for role in self.roles:  # a loop, because this is read very often
            if role.trains:
                number += role.replicas
        return number

    @property
    def pods(self) -> int:
        """The number of pods."""
        return sum([role.replicas for role in self.roles])

    @property
    def min_pods(self) -> int:
        """The number of pods that start only together: by default the minimum of nodes, and all
        auxiliary pods.
        """
        return self.min_available or self.min_nodes + self.pods - self.nodes

    @property
    def elastic(self) -> bool:
        """Whether the number of nodes may vary."""
        return self.min_nodes < self.peak_nodes

    @property
    def peak_nodes(self) -> int:
        """The largest number of nodes that the job may have."""
        return self.max_nodes or self.nodes


class Wiring(NamedTuple):
    """How the processes of a job find each other on one target, for the rendezvous pass."""

    host: str
    """A host name of node 0 that resolves from every pod."""
    injected: frozenset[str] = frozenset()
    """The torchrun options that the operator sets itself, as PET_* variables."""
    node_rank: str | None = None
    """The node's rank, as text that the kubelet expands in a command, or None if the operator
    sets it.
    """
    rank_from: Json = NOTHING
    """The node's rank as `value` or `valueFrom` of a variable; empty if no variable can hold it."""
    env: tuple[Json, ...] = ()
    """Variables that a plain command needs and that nothing else sets."""
    hosts: Mapping[str, tuple[str, ...]] = NOTHING
    """For each auxiliary role, the host names of its pods that resolve from every pod, in order."""


class IndexedGroup(NamedTuple):
    """Pods whose names differ only in their index: a task, a replica type, a replicatedJob."""

    name: str
    pods: int
    """Pods per Job, if the operator creates Jobs."""
    jobs: int = 1


LABEL = 63
"""Maximum length of a DNS label, a label's value and a Service's name."""
SUBDOMAIN = 253
"""Maximum length of the names of most other objects."""


class Derived(NamedTuple):
    """A name made from the job's. In the pattern, `group` is a group of pods; `last_job` and `last`
    are their last indexes.
    """

    what: str
    pattern: str
    source: str
    limit: int = LABEL


class Target(NamedTuple):
    """The API of one operator, as the compiler writes it."""

    name: str
    title: str
    authority: Authority
    wiring: Callable[[Job], Wiring]
    overwrites: Mapping[str, str | None]
    """Variables whose user-set value is lost at run time, each with the value that wins if that
    is constant.
    """
    unsupported: Callable[[Job, ClusterProfile], Iterable[Problem]]
    """Yields what the operator cannot express of a job, and as warnings what it does differently;
    paths are spec paths.
    """
    emit: Callable[[Job, ClusterProfile], list[JsonDict]]
    keeps_variables: Callable[[Job], bool] = lambda _job: False
    """Returns whether the operator sets none of `overwrites` for a job."""
    main_container: str = "pytorch"
    groups: Callable[[Job], Sequence[IndexedGroup]] = lambda job: (IndexedGroup("", job.nodes),)
    """The operator's groups of pods, from which names are derived (`compiler.checks.targets`)."""
    derived: tuple[Derived, ...] = ()
    """Names made from the job's. A name with the job's own limit is listed too: a longer suffix
    may follow.
    """
    names_scheduler: frozenset[str] = frozenset()
    """Gang schedulers that the operator itself sets in its pods."""
    sentences: Mapping[str, str] = {}
    """Why it writes each field that the spec does not set, keyed by key path."""


class Context(NamedTuple):
    """What a pass may read besides the job."""

    cluster: ClusterProfile
    target: Target


Pass = Callable[[Job, Context], Job]
"""Pure, total and idempotent: fills gaps, never changes what the user wrote, never reports
anything.
"""


TemplateTransform = Callable[[PodTemplate], PodTemplate]


def map_templates(
    job: Job, change: TemplateTransform, auxiliary_change: TemplateTransform | None = None
) -> Job:
    """Return the job with `change` applied to the template of each role; auxiliary roles get
    `auxiliary_change` if set.

    If no template changes, the same job is returned, so a pass without work costs next to nothing.
    """
    change_auxiliary = auxiliary_change or change
    roles: list[Role] = []
    changed = False
    for role in job.roles:
        change_role = change if role.trains else change_auxiliary
        template = change_role(role.template)
        if template is not role.template:
            role = role._replace(template=template)
            changed = True
        roles.append(role)

    return job._replace(roles=tuple(roles)) if changed else job


def keep_template(template: PodTemplate) -> PodTemplate:
    """Return the template unchanged."""
    return template


JOIN_TIMEOUT_SECONDS = 900
"""How long the nodes of a job wait for one another by default; an image may have to be pulled
first.

As in flytekitplugins-kfpytorch 1.16, `Elastic`.
"""


def backend(job: Job, launch: Launch) -> str:
    """Return the rendezvous backend: the user's, else c10d for nodes that may have to join again,
    else static.

    Nodes that joined statically cannot join again (PyTorch 2.13).
    """
    if launch.rdzv_backend is not None:
        return launch.rdzv_backend
    may_rejoin = launch.max_restarts > 0 or job.elastic or _can_pods_return(job)
    return "c10d" if may_rejoin and job.peak_nodes > 1 else "static"


def _can_pods_return(job: Job) -> bool:
    """Return whether a training container or pod may start again while the others keep running.

    Auxiliary roles take no part in the rendezvous.
    """
    policy = job.run_policy
    if policy.restart_in_place is not None or any(
        role.restart_policy not in {None, "Never"} for role in job.training_roles
    ):
        return True
    if policy.on_pod_failure == "RestartJob":
        return False
    outlives_nodes = policy.on_disruption == "Ignore" or (job.spot and policy.on_disruption is None)
    return bool(policy.backoff_limit) or policy.on_pod_failure == "RestartPod" or outlives_nodes


def with_rendezvous(job: Job, launch: Launch) -> Launch:
    """Return the launch with its rendezvous backend and timeouts filled in."""
    name = backend(job, launch)
    return launch._replace(rdzv_backend=name, rdzv_conf=_conf(job, launch, name))


WAITS = frozenset({"timeout", "join_timeout", "read_timeout"})
"""The settings of --rdzv-conf that compile writes by default; without any one of them the
command is not ours.
"""


def _conf(job: Job, launch: Launch, backend: str) -> dict[str, str | None]:
    """Return --rdzv-conf: how long nodes wait for one another, in seconds, overridden by the user's
    settings; None removes one.

    The static rendezvous and etcd read `timeout`. c10d does not: its nodes wait for node 0, whose
    store they connect to, as long as `read_timeout`, 60 seconds by default, and for the others
    `join_timeout` (PyTorch 2.13).
    """
    user_conf = launch.rdzv_conf
    # the command of a Trainer runtime has its own settings
    if job.peak_nodes == 1 or (job.runtime is not None and not launch.entry):
        return {**user_conf}

    waits: dict[str, str | None] = {
        "timeout": str(JOIN_TIMEOUT_SECONDS),
        "join_timeout": str(JOIN_TIMEOUT_SECONDS),
    }
    if backend == "c10d":
        timeout = user_conf.get("timeout", waits["timeout"])
        waits["read_timeout"] = (
            timeout if timeout is None or timeout.strip().isdigit() else waits["timeout"]
        )

    return {**waits, **user_conf}
