"""The classes for an operator and its kinds, and their small values.

The classes of an operator are in the `__init__` of its folder and serve as its table of contents.
Each method imports the module with the answer, so a cold start loads only the classes. A method
that is not overridden returns the result for a kind or operator without that feature.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Authority, Path, Problem, Problems
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes.unstructured import Json, JsonDict
from ptcompile.kubernetes.versions import Version, Versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.ir.job import Job, Target
    from ptcompile.ir.pods import PodTemplate
    from ptcompile.kinds.admission import AdmissionRequest, JobAdmission
    from ptcompile.kinds.pods import ExpandedRole, Expansion, Shares
    from ptcompile.kinds.reading import Read
    from ptcompile.kinds.status import Following
    from ptcompile.kinds.templates import Template
    from ptcompile.kubernetes.index import Objects
    from ptcompile.kubernetes.requests import ApiServer, GroupVersionKind, Update
    from ptcompile.spec.cluster_profile import ClusterProfile


class Base(NamedTuple):
    """The object, and whether it is `assumed`: neither a file nor a release shows it."""

    source: Json
    assumed: bool


NO_DEFAULTS = object()
"""Marker for a field without a default."""

KeyPath = tuple[str, ...]
"""End of a path; `*` stands for a list item or a user-chosen key. A kind may come first, if the
path is specific to it.
"""


FixedFields = tuple[tuple[str, str], ...]
"""Fields that a CRD makes immutable, each with the CRD's message; `*` is any item with a key."""

UnseenChanges = tuple[tuple[KeyPath, str], ...]
"""Paths whose changes only affect later pods, each with what happens instead."""

ObjectsByKind = Mapping[str, Sequence[Json]]
"""The objects of a cluster, by kind."""


class KindDefaults(NamedTuple):
    """Default values by path, and those computed from the mapping that would contain the field."""

    values: Mapping[KeyPath, Any]
    computed: Mapping[KeyPath, Callable[[Json], Any]] = {}


class QueueSystem(NamedTuple):
    """The objects that represent queues, priorities and device classes in one queue system."""

    api: Callable[[Versions], str]
    """API group and version of its queues."""
    kind: str
    """Kind of its queues."""
    spec: Callable[[str], JsonDict]
    """The spec of a queue of this name."""
    namespaced: bool = False
    """Whether a queue is in the namespace of its jobs rather than cluster-wide."""
    built_in_queues: frozenset[str] = frozenset()
    """Queues that its release includes."""
    priority: str = "PriorityClass"
    """Kind of the priority class of a queued job."""
    backing_object: Callable[[JsonDict], tuple[str, str]] | None = None
    """For a queue, the other object that must exist, and why."""
    devices: Callable[[str, Versions], tuple[str, str]] | None = None
    """For a DeviceClass, the configuration needed before jobs that claim its devices are
    admitted, and why.
    """
    framework: (
        Callable[[GroupVersionKind, Versions, Collection[str]], tuple[str, str] | None] | None
    ) = None
    """For a kind that is neither managed by default nor switched on in the profile, the
    configuration that switches it on, and why.
    """
    named_by: Callable[[Json], str] | None = None
    """For another operator's object, the queue that it names, or ""."""
    profile_fields: Callable[[ObjectsByKind], JsonDict] | None = None
    """Fields of a profile that the objects of a cluster, by kind, show."""
    admit: Callable[[AdmissionRequest], list[JobAdmission | None]] | None = None
    """What becomes of each job, if its admission is modeled; None for a part of another job."""
    mark: Callable[[Json, ExpandedRole, KindContext], ExpandedRole] = (
        lambda _manifest, role, _request: role
    )
    """Return the pods of a role of a queued object with what the queue system writes on them."""


def _return_none(*_arguments: object) -> None:
    return None


def _no_items(*_arguments: object) -> Iterator[Any]:
    return iter(())


class GangSystem(NamedTuple):
    """How jobs ask a gang scheduler for all their pods at once. The defaults are those of one
    that needs nothing.
    """

    scheduler_name: str = ""
    """`schedulerName` of its pods, or "" if it is the profile's."""
    places_topology: bool = False
    """Whether it places pods by the network's topology."""
    group: Callable[[Job, ClusterProfile, str], JsonDict | None] = _return_none
    """Returns the job's PodGroup for a target without its own, or None."""
    with_group: Callable[[PodTemplate, Job, ClusterProfile], PodTemplate] = (
        lambda template, _job, _cluster: template
    )
    """Returns a pod template that names the group."""
    scheduling_policy: Callable[[Job, ClusterProfile], JsonDict | None] = _return_none
    """Returns PyTorchJob's schedulingPolicy, or None if the training-operator does not know the
    scheduler.
    """
    runtime_policy: Callable[[Job, ClusterProfile], JsonDict | None] = _return_none
    """Returns podGroupPolicy of Trainer's runtime, or None if Trainer does not know the
    scheduler.
    """
    check: Callable[[Job, ClusterProfile, Target], Problems] = _no_items
    """Yields what the scheduler and a target cannot do together; called for every job of the
    cluster.
    """
    check_topology: Callable[[Job, ClusterProfile, Target], Problems] = _no_items
    """Yields what keeps the scheduler from placing the job by its `topology`."""
    needs: Callable[[JsonDict], Iterator[tuple[str, str, str]]] = _no_items
    """Yields kind, name and reason of each setting of the cluster that a PodGroup needs besides
    installed software.
    """
    gated_fields: frozenset[str] = frozenset()
    """Fields that it writes and whose feature gates the checks report on the spec."""


class RendezvousSettings(NamedTuple):
    """Which pods of a kind share a rendezvous."""

    roles: bool = False
    """Whether an object has several pod templates, which must agree with each other."""
    all_pods: bool = False
    """Whether the operator names all pods of an object to each other, so all of them meet."""
    ranked_by: tuple[str, ...] = ()
    """Variables of the operator's plugin; the pods that have them share a rendezvous."""
    across_objects: bool = False
    """Whether several objects of the kind may share an endpoint."""
    open: bool = False
    """Whether more pods may join than the object has: the object can be scaled, or is one of
    several.
    """
    fixed_size: bool = False
    """Whether the kind has a field for the number of nodes, but none for a range."""
    nameless: str = ""
    """Why pods of the kind have no subdomain, if they have none."""
    naming: str = ""
    """How to make the operator give them one."""


class StartOrder(NamedTuple):
    """Pods that are created only when others are ready."""

    path: Path
    """The field that says so; for a default, where it would be written."""
    first: str
    """The role whose pods must be ready."""
    pods: int
    """Number of pods that exist by then."""
    text: str
    help: str


class Additions(NamedTuple):
    """What the operator adds to pods."""

    env_of: str = ""
    """The operator's name, if it adds its variables after the user's, so its values win."""
    dns_policy: bool = False
    """Whether its webhook sets the dnsPolicy of pods on the node's network."""
    mounts: tuple[str, ...] = ()
    """Paths at which the operator mounts its own volumes."""
    job_label: str = ""
    """A label that only the pods of one object have."""


class LaunchFields(NamedTuple):
    """Fields of a kind that replace settings of a container or a pod template."""

    options: Mapping[str, tuple[Path, ...]] = {}
    """The fields that the operator turns into options of torchrun, by option."""
    container: tuple[str, ...] = ()
    """Path of the training container, if it is not in a pod template."""
    alone_help: str = ""
    """How to make the operator tell torchrun the number of nodes, if it can leave it out."""


class GroupMark(NamedTuple):
    """How pods name a PodGroup of a kind, and where it says how many of them it waits for."""

    scheduler: str
    """The scheduler that reads it."""
    pod_path: KeyPath
    """Path in a pod of the group's name."""
    size_path: KeyPath = ("minMember",)
    """Path in the group's spec of its minimum number of pods."""
    member_path: KeyPath = ()
    """Path in a pod of the name of an item of the group's `podGroups`, which has the size, or ()
    if it has no items.
    """


class Established(NamedTuple):
    """What the API server's own rules have established about an object, so its webhook need not
    check it again.
    """

    exact: bool = False
    """Whether its equal parts are the same data: `apiserver.structure.complete`."""
    decodes: bool = False
    """Whether Go certainly decodes every value."""
    pods: bool = False
    """Whether the pods that are made of the object are valid."""


class LostPod(NamedTuple):
    """What an operator does about a lost pod: its Kubernetes node failed, or was drained or
    preempted.
    """

    recreated: Literal["none", "pod", "role", "job"]
    """Which pods the operator recreates: none, so that the job fails; the lost one; those of its
    role; or all.
    """
    text: str
    """The same as a clause, such as `the pod is recreated and not counted`."""


class Retry(NamedTuple):
    """One mechanism that starts pods again after a failure, until its limit is used up and the
    next one decides.
    """

    scope: Literal["container", "pod", "role", "job"]
    """What starts again: the container in its pod, the pod, the pods of its role, or all pods of
    the job.
    """
    limit: int | None
    """How many failures it answers, or None if it does not count them."""
    counted: Literal["pod", "role", "job"]
    """Whose failures add up to the limit: those of the pod, of its role, or of all pods."""
    text: str
    """The field that decides, with its value, such as `backoffLimit 6`."""
    delay: float = 0
    """Seconds from the first failure to the new start, doubled with each further failure."""
    longest_delay: float = 0
    """Maximum delay in seconds."""
    immediate: bool = False
    """Whether the first failure is answered at once and the delay starts with the second."""
    size: int = 0
    """For a role that consists of several Jobs, the number of pods of each; else 0."""


def kubelet_retry(
    limit: int | None, counted: Literal["role", "job"], text: str, size: int = 0
) -> Retry:
    """Return the restart of a container by the kubelet, with its back-off (Kubernetes 1.36,
    CrashLoopBackOff).
    """
    return Retry("container", limit, counted, text, 10, 300, immediate=True, size=size)


class KindContext(NamedTuple):
    """What a controller or webhook sees in addition to the object."""

    versions: Versions = Versions()
    related: Sequence[Json] = ()
    """The other objects of the same stream or folder: runtimes, Services."""
    established: Established = Established()


class Rejections(NamedTuple):
    """What is rejected of the objects of a kind, by the CRD, the operator and the API server."""

    crd_rules: Callable[[Json], Problems] = _no_items
    """Yields violations of the CRD's CEL rules at creation."""
    validate: Callable[[Json, KindContext], Problems] = _no_items
    """Yields the validating webhook's rejections of an object that `Kind.default` returned."""
    controller_errors: Callable[[Json, KindContext], Problems] = _no_items
    """Yields errors that occur only after admission, when the controller acts on the object."""
    check_children: Callable[[Json, ApiServer, FieldErrors], None] = _return_none
    """Appends the API server's errors for the pods, Jobs and claims that are created."""
    immutable_fields: FixedFields = ()
    """Fields that the CRD makes immutable."""
    validate_update: Callable[[Update], Problems] = _no_items
    """Yields the validating webhook's rejections of an update."""
    unseen_changes: Callable[[Json], UnseenChanges] = lambda _old: ()
    """Returns the paths of the old object whose changes are accepted and only affect later pods."""


RuleHelp = tuple[tuple[str, ...], str]
"""The field that a CEL rule of a CRD is about, below the rule's value, and what to do."""


class Kind:
    """One kind of an operator's API. `Kind()` itself represents any unknown kind."""

    api_version: str = ""
    name: str = ""
    schema: str = ""
    """File of its schema below `schemas/`; empty for a core kind."""
    namespaced: bool = True
    """Whether its objects are in a namespace."""
    rules: tuple[str, ...] = ()
    """Packages of lint rules below `ptcompile`, in the order in which they run."""
    word: str = ""
    """A word that every object of the kind contains, needed if other operators have a kind of
    the same name.
    """
    rendezvous: RendezvousSettings = RendezvousSettings()
    additions: Additions = Additions()
    launch_fields: LaunchFields = LaunchFields()
    trains: bool = True
    """Whether its pods are those of a job; rules about training do not look at the pods of a
    service.
    """
    restarts_finished: bool = False
    """Whether a pod that has ended starts again, whatever its exit code."""
    requests_default: bool = True
    """Whether its pod templates get the API server's defaults, such as requests from limits."""
    defaults_once: bool = False
    """Whether its mutating webhook sees only creations, and its validating one then compares whole
    specs: an update by a file that lacks such a default is rejected.
    """
    gang_counts_limits: bool = False
    """Whether its gang scheduling uses limits where requests are absent."""
    group_mark: GroupMark | None = None
    """For a kind of PodGroup: how pods name one."""

    rule_helps: Mapping[str, RuleHelp] = {}
    """By the message of a CEL rule of its shipped CRD."""
    repeated_rules: frozenset[str] = frozenset()
    """The messages of CEL rules of its shipped CRD that its webhook repeats, at the field that the
    rule is about.
    """

    @property
    def key(self) -> GroupVersionKind:
        """The apiVersion and kind."""
        return self.api_version, self.name

    @property
    def rejects(self) -> bool:
        """Whether the operator rejects anything, in a webhook or in its controller."""
        rejections = self.rejections()
        return (rejections.validate, rejections.controller_errors) != (_no_items, _no_items)

    # used by lint and simulate

    def templates(self, manifest: Json) -> Iterator[Template]:
        """Yield the pod templates of an object."""
        return iter(())

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        """Return what the controller creates. Accepts any data; never raises."""
        from ptcompile.kinds.pods import Expansion

        return Expansion()

    def crowded(self, manifest: Json, versions: Versions) -> bool:
        """Return whether the pods, each configured with the names of all others, are too many
        for the rules.
        """
        return False

    def too_wide(self, manifest: Json) -> Problem | None:
        """Return the finding that there are too many pods to simulate, or None."""
        return None

    def gang(self, group: Json, roles: tuple[ExpandedRole, ...]) -> Shares:
        """Return how many pods of each role the pod group counts."""
        return [(role, role.count) for role in roles]

    def gang_scheduler(self, manifest: Json, related: Sequence[Json]) -> str:
        """Return the scheduler by which the object asks for its pods to be placed together, or
        "" if it does not.
        """
        return ""

    def recreates(self, manifest: Json, template: Template) -> bool | None:
        """Return whether a lost pod of the template is recreated, or None if unknown."""
        return None

    def lost_pod(self, manifest: Json, role: str, related: Sequence[Json]) -> LostPod | None:
        """Return what the operator does when it loses a pod of a role, or None if unknown."""
        return None

    def restarts(
        self, manifest: Json, role: str, related: Sequence[Json], exit_code: int | None
    ) -> tuple[Retry, ...] | None:
        """Return the mechanisms that answer a pod of a role that fails, in the order in which they
        decide, or None if unknown. Without any, or when all limits are used up, the pod is not
        started again.

        `exit_code` is the status of its main container, or None if the pod is lost with its
        Kubernetes node.
        """
        return None

    def retries(self, manifest: Json) -> int:
        """Return how often the operator restarts a pod; 0 if it does not, or does not count."""
        return 0

    def on_failure(self, manifest: Json, request: KindContext) -> Iterator[str]:
        """Yield sentences on what happens when a pod fails and when the job ends."""
        return iter(())

    def start_orders(self, manifest: Json) -> Iterator[StartOrder]:
        """Yield which pods are created only when others are ready."""
        return iter(())

    def lacks_rendezvous(self, manifest: Json, options: Mapping[str, str]) -> bool:
        """Return whether the pods have no rendezvous endpoint; `options` are those of torchrun."""
        return False

    def runtime(self, manifest: Json, related: Iterable[Json], versions: Versions) -> Base | None:
        """Return the object that the controller fills this one in from, or None."""
        return None

    # used by import, status and handles

    def read(self, manifest: Json, related: Objects) -> Iterator[Read]:
        """Yield the ways to convert an object back to a spec, the best first."""
        return iter(())

    def following(self) -> Following | None:
        """Return how to follow a job from outside, or None."""
        return None

    # used by the offline API server and diff

    def in_current_fields(self, manifest: Json, release: Version) -> Json:
        """Return an object of an older release in the fields of the newest, or the manifest
        itself.
        """
        return manifest

    def written_path(self, path: Path, release: Version) -> Path:
        """Return the path in the file for a path in the object that `in_current_fields` returns."""
        return path

    def default(self, manifest: Json, *, complete: bool = False) -> Json:
        """Return the object after the mutating webhook, which is also what the validating one
        receives. Accepts any data; never raises.

        `complete`: whether the object is already in the form that Go decodes it to, see
        `roundtrip.as_go_reads`.
        """
        if complete or manifest.get("spec") is None:
            return manifest
        from ptcompile.kubernetes.unstructured import without_nulls

        return {**manifest, "spec": without_nulls(manifest["spec"])}

    def rejections(self) -> Rejections:
        """Return what is rejected of an object, when it is created and when it is changed."""
        return Rejections()


class Install(NamedTuple):
    """What a cluster must install to run the operator."""

    software: str = ""
    """Name of the release; empty if Kubernetes includes it."""
    crds: tuple[str, ...] = ()
    """Its CRDs, `plural.group/version`."""
    kubernetes: tuple[tuple[Version, Version], ...] = ()
    """Oldest supported Kubernetes per release of the operator, starting with the oldest release."""
    purpose: str = ""
    """Why a job needs it, if the name does not say so."""
    brings: tuple[tuple[str, str, str], ...] = ()
    """Additional requirements of its target: kind of requirement, name, and a description."""
    requires: str = ""
    """Folder of another operator that this one depends on."""
    images: tuple[str, ...] = ()
    """Names of its controllers' images, whose tags are releases: the last parts of their
    repositories.
    """


class Feature(NamedTuple):
    """A feature that only some releases of an operator have."""

    operator: str
    """A field of `Versions`."""
    since: Version
    """The first release that has it."""
    what: str
    source: str
    """"facts/trainer" is docs/facts/trainer.md, a page of the documentation."""
    until: Version | None = None
    """The last release that has it, or None if the newest does."""


class Foreign(NamedTuple):
    """The objects of other operators that an operator's webhooks check."""

    marks: str
    """Common part of the keys of all labels and annotations that they check, on an object and
    its pod templates.
    """
    kinds: frozenset[GroupVersionKind]
    related: frozenset[GroupVersionKind] = frozenset()
    """Kinds whose objects in the same stream let the webhooks check objects without such a key."""
    rules: tuple[str, ...] = ()
    """Packages of lint rules for those of these kinds that have no rules otherwise."""


class LeftBehind(NamedTuple):
    """A setting without which a job trains the same."""

    effect: str
    """What is different without it."""
    help: str
    word: str = ""
    """A word of the values that are meant; others have no effect."""


class JobTemplates(NamedTuple):
    """Where an operator's object has the batch/v1 Jobs of its pods: items of `replicatedJobs`
    with the name node.
    """

    patch: str
    """The key of a spec's `manifest` that patches the object."""
    path: tuple[str, ...]
    """Path in the object of the mapping with `replicatedJobs`."""
    container: str = ""
    """The name of the training container, if the operator prescribes one."""
    without_restart: Mapping[str, Any] = {}
    """Fields beside `replicatedJobs` by which a Job that its podFailurePolicy fails is not
    started again.
    """


class Conversion(NamedTuple):
    """Settings that only this operator has, by their paths in its object, and whether a job may be
    converted without them.
    """

    left_behind: Mapping[Path, LeftBehind] = {}
    """Settings without which a job trains the same."""
    endings: tuple[Path, ...] = ()
    """Settings of how a job ends. The endings of both jobs are compared, and each difference is
    reported.
    """
    without_effect: tuple[Path, ...] = ()
    """Settings that the operator overwrites, or without which it does the same."""
    successor: str = ""
    """The target that takes over the operator's jobs, if the operator has a successor."""
    port_name: str = ""
    """Name of the rendezvous port that it adds to the container; its Services then require a
    name for each port.
    """
    job_templates: JobTemplates | None = None
    """Where settings of a batch/v1 Job go that its own Jobs have too."""
    not_admitted_by: frozenset[str] = frozenset()
    """Queue systems that ignore its objects."""


class Operator:
    """One operator: its folder, its names and its kinds. The first kind is the one that its
    target emits.
    """

    folder: str
    authority: Authority
    """The authority of its rejections."""
    release: str
    """The field of `kubernetes.versions.Versions` with the release that a cluster runs."""
    kinds: tuple[Kind, ...] = ()
    title: str = ""
    """Its name in sentences about queue systems and schedulers."""
    target_name: str = ""
    """Its name for `--target`; empty if ptcompile reads but does not emit its kinds."""
    install: Install = Install()
    features: Mapping[str, Feature] = {}
    """Changes between releases that affect emitted manifests, keyed by feature name."""
    modeled_since: Version = (0, 0)
    """The oldest release whose webhooks are modeled; older ones are checked as this one."""
    placing_annotations: Mapping[str, str] = {}
    """Annotations by which its pods are placed or admitted, each with its purpose; on objects of
    other operators they have no effect.
    """
    older: tuple[str, ...] = ()
    """API versions that its older releases serve, without kinds that ptcompile knows."""
    queue_system: str = ""
    """Its name in a profile's `queueSystem`."""
    gang_scheduler: str = ""
    """Its name in a profile's `gangScheduler`."""
    role_prefix: str = ""
    """Prefix of role names whose variables would collide with the operator's."""
    foreign: Foreign | None = None
    conversion: Conversion = Conversion()

    def release_in(self, versions: Versions) -> Version:
        """Return the operator's release from a cluster's versions."""
        release: Version = getattr(versions, self.release)
        return release

    def target(self) -> Target:
        """Return the target. Raises LookupError for an operator without a `target_name`."""
        raise LookupError(self.folder)

    def defaults(self) -> KindDefaults | None:
        """Return the defaults of its kinds, or None if they have none."""
        return None

    def queues(self) -> QueueSystem:
        """Return the objects of its queues. Raises LookupError for an operator that is not a
        `queue_system`.
        """
        raise LookupError(self.folder)

    def gangs(self) -> GangSystem:
        """Return how jobs ask it for a gang. Raises LookupError for an operator that is not a
        `gang_scheduler`.
        """
        raise LookupError(self.folder)

    def platform_objects(
        self, manifests: Sequence[JsonDict], versions: Versions
    ) -> Iterator[JsonDict]:
        """Yield the objects that an administrator applies for manifests of its target."""
        return iter(())

    def default_foreign(self, manifest: Json, related: Sequence[Json], versions: Versions) -> Json:
        """Return an object of one of the `foreign` kinds after its mutating webhook."""
        return manifest

    def validate_foreign(self, manifest: Json, request: KindContext) -> Problems:
        """Yield its webhook's rejections of an object of one of the `foreign` kinds."""
        return iter(())

    def validate_foreign_update(self, update: Update) -> Problems:
        """Yield its webhook's rejections of an update of any object."""
        return iter(())


def is_overridden(record: Kind | Operator, method: Callable[..., Any]) -> bool:
    """Return whether the class of a kind or an operator overrides a method of the base class."""
    return getattr(type(record), method.__name__) is not method
