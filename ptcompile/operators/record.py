"""What an operator is, as data: the shape of one record of `operators.all`.

Every text of the form `module:name` names something in a module of the operator's own folder. It is imported when it is
first asked for, so that the table costs a cold start nothing. An empty text says that the operator has no such thing.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ptcompile.kubernetes.versions import Version
from ptcompile.typed import dataclass_transform

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Key = tuple[str, str]
"""apiVersion and kind."""

PODS = ("linting.containers", "linting.pods", "linting.image")
"""The packages of lint rules for every kind with a pod template."""


@dataclass_transform(frozen_default=True)
class _Record:
    """Fields with defaults, to type checkers a frozen dataclass. A named tuple would be 1 % of a cold start."""

    def __init__(self, *names: Any, **said: Any) -> None:
        self.__dict__ = dict(zip(self.__annotations__, names, strict=False)) | said


class Kind(_Record):
    """One kind of an operator's API."""

    api_version: str
    kind: str
    schema: str = ""
    """Its schema, a file below `schemas/`; empty for a kind of the core schema."""
    rules: tuple[str, ...] = ()
    """The packages of lint rules below `ptcompile`, in the order in which they are asked."""
    templates: str = ""
    """manifest -> its pod templates (`common.templates.Template`)."""
    pods: str = ""
    """manifest, context -> the pods that the controller creates (`common.expansion.Expand`)."""
    crd: str = ""
    """manifest -> problems: the rules of the CRD in CEL, at creation."""
    default: str = ""
    """manifest -> manifest: the mutating webhook."""
    webhook: str = ""
    """manifest, versions, others -> problems: the validating webhook."""
    fixed: str = ""
    """The fields that the CRD makes immutable: pairs of a path, with `*` for each item of a list with keys, and the
    CRD's words."""
    update: str = ""
    """old, new, paths that differ, versions -> problems: the validating webhook on updates."""
    controller: str = ""
    """manifest, versions, others -> problems: what is admitted, and refused when the controller acts on it."""
    pod_checks: str = ""
    """manifest, spec, context, found: what the API server answers to the pods, Jobs and claims that are created."""
    failure: str = ""
    """manifest, others -> sentences: what happens when a pod fails and when the job ends."""
    gang: str = ""
    """pod group, roles -> the pods whose requests the group counts; all of them where empty."""
    status: str = ""
    """live object -> the state of the job (`common.status.Status`)."""
    following: str = ""
    """How to follow a job of this kind from outside (`common.following.Following`)."""
    in_newest_words: str = ""
    """manifest, version -> manifest: one of an older release in the words of the newest, or the manifest itself."""
    in_written_words: str = ""
    """path, version -> path: from a place in those words back to the place in the file."""
    base: str = ""
    """manifest, others, versions -> the object that its controller fills it from (`common.base.Base`)."""
    crowded: str = ""
    """manifest, versions -> whether its pods are so many, each told of all, that rules do without them."""
    too_wide: str = ""
    """manifest -> the finding that its pods are so many that they are not simulated, or None."""
    options: str = ""
    """The fields that the operator turns into options of torchrun, by option."""
    recreated: str = ""
    """manifest, pod template (`linting.templates.Template`) -> whether a pod of it that is lost is recreated."""
    retries: str = ""
    """manifest -> how often the operator restarts a pod; where empty it does not, or does not count."""
    meets_nowhere: str = ""
    """subject of lint -> whether nothing tells its pods where to meet, as a rule of the operator says."""
    word: str = ""
    """A word in every object of the kind, where the name of the kind is not its operator's alone."""
    trainer: tuple[str, ...] = ()
    """Where the container that trains is written, if that is not a pod template."""
    several: bool = False
    """Whether it has several pod templates that have to agree with each other."""
    together: bool = False
    """Whether the operator tells all pods of an object about each other, so that all of them meet."""
    ranked_by: tuple[str, ...] = ()
    """The variables of the operator's plugin by which the pods that have them meet."""
    shared: bool = False
    """Whether several objects of the kind may meet at one endpoint."""
    more_pods: bool = False
    """Whether more pods may meet than the object has: it can be scaled, or is one of several."""
    fixed_size: bool = False
    """Whether it has a field for the number of nodes, and none for a range."""
    overrides: str = ""
    """The operator's name, where it adds its variables after the user's, so that its values win."""
    resolves: bool = False
    """Whether its webhook sets the dnsPolicy of pods on the node's network."""
    labels: tuple[str, ...] = ()
    """Labels that only the pods of one object have."""
    namespaced: bool = True
    """Whether its objects are in a namespace."""
    limits_count: bool = False
    """Whether its gang asks for limits where there are no requests."""
    mounts: tuple[str, ...] = ()
    """Where the operator mounts volumes of its own."""
    as_written: bool = False
    """Whether its pod templates are read without the API server's defaults, such as requests from limits."""
    later: str = ""
    """old manifest -> pairs of a path and what an apply that changes it leaves to later pods; none where they stop."""
    read: str = ""
    """manifest, others -> the ways to read it back into a spec, the best first (`common.read.Read`)."""

    @property
    def key(self) -> Key:
        """apiVersion and kind."""
        return self.api_version, self.kind


class Operator(_Record):
    """One operator: the folder that knows it, its names, its kinds. The kind that its target writes is the first."""

    folder: str
    authority: str
    """Who rejects what it rejects: one of `findings.terms.Authority`."""
    version: str
    """The field of `kubernetes.versions.Versions` that says which release a cluster runs."""
    kinds: tuple[Kind, ...] = ()
    title: str = ""
    """Its name in sentences, where one speaks of it as a queue system or a scheduler."""
    queue_system: str = ""
    """What a profile calls it as the system of the queues (`queueSystem`)."""
    gang_scheduler: str = ""
    """What a profile calls it as the scheduler of gangs (`gangScheduler`)."""
    queues: str = ""
    """The objects of its queues (`common.queue_system.QueueSystem`)."""
    queue_of: str = ""
    """metadata -> the queue that an object of another operator names for it to be admitted, or an empty text."""
    probes: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = ()
    """What else is asked of each target for it: a name, what a spec says, and what the profile does."""
    purpose: str = ""
    """Why a job needs it, where its name does not say."""
    brings: tuple[tuple[str, str, str], ...] = ()
    """What its release must have installed for its target: kind of requirement, name, and what that is."""
    objects: str = ""
    """manifests of its target, versions -> the objects that an administrator applies for them."""
    of_roles: str = ""
    """Beginning of the names of roles whose variables would be its own."""
    target: str = ""
    """What `--target` calls it; empty for an operator that ptcompile reads and does not write."""
    emit: str = ""
    """The `job.model.Target`."""
    sentences: str = ""
    """Why each field of the target is written, by the words on the way to it."""
    defaults: str = ""
    """What absent fields mean: the `Defaults` of `common.defaults`."""
    changes: str = ""
    """What each of its releases changed, by name (`common.changes.Change`)."""
    software: str = ""
    """The name of the release that a cluster installs; empty where Kubernetes brings it along."""
    kubernetes: tuple[tuple[Version, Version], ...] = ()
    """The oldest Kubernetes that its documentation asks for, each from one of its releases on; the oldest first."""
    crds: tuple[str, ...] = ()
    """Its CRDs, `plural.group/version`."""
    admits: str = ""
    """The kinds of other operators that its webhook is asked about, by apiVersion and kind."""
    admission: str = ""
    """manifest, key -> problems: that webhook."""
    marks: str = ""
    """What stands in the keys of all labels and annotations that it looks at, of an object and its pod templates."""
    admission_on_update: str = ""
    """group and kind, old, new, versions -> problems: that webhook on updates."""
    older: tuple[str, ...] = ()
    """API versions that its older releases serve, and of which ptcompile knows no kind."""
    beside: str = ""
    """The folder of another operator that this one cannot work without."""


@cache
def resolve(folder: str, reference: str) -> Any:
    """What `module:name` stands for in an operator's folder."""
    module, _, name = reference.partition(":")
    return getattr(import_module(f"ptcompile.operators.{folder}.{module}"), name)
