"""Requests that admission plugins answer: an object, and the pods that its controller creates
later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.apiserver.evaluations import Evaluations
from ptcompile.apiserver.kinds import known_version
from ptcompile.apiserver.structure import structure_violations
from ptcompile.apiserver.validation import built_in_problems
from ptcompile.apiserver.validation.templates import TEMPLATE_PATHS, pods_of
from ptcompile.diagnostics import has_error
from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes.index import CLUSTER_WIDE, objects as as_objects, with_existing
from ptcompile.kubernetes.requests import ApiServer, GroupVersionKind
from ptcompile.kubernetes.unstructured import (
    GENERATED,
    Json,
    JsonDict,
    ObjectKind,
    api_group,
    kind_of,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    object_name,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.table import RUNS_PODS, expand, kind_named, templates_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.crds import Definitions
    from ptcompile.diagnostics import Path
    from ptcompile.diagnostics.terms import Stage


_POLICY_STEPS = 3_000_000
"""Steps of all policies for all objects of a call, which take a few seconds."""


class ClusterState:
    """What admission knows of the cluster: objects of the files and of the profile."""

    def __init__(
        self,
        objects: Sequence[Json] = (),
        versions: Versions | None = None,
        pod_security: str | None = None,
        definitions: Definitions | None = None,
        existing: Sequence[Json] = (),
    ) -> None:
        """Hold the `objects` of the files, which replace `existing` ones of the same name."""
        self.objects = with_existing(objects, existing) if existing else as_objects(objects)
        self.versions = versions or Versions()
        self.pod_security = pod_security
        """The Pod Security level of namespaces without labels, such as `restricted`, or None."""
        self.definitions = definitions
        self.evaluations = Evaluations()
        """Steps left to all plugins together, so many quotas and many pods do not take the
        product of their numbers.
        """
        self.policy_steps = _POLICY_STEPS
        """Steps left to the expressions of all policies; each object adds some."""
        self.profile_ids = frozenset(map(id, existing))
        """Identities of the objects of the profile."""
        self.indexes: dict[tuple[object, ...], Any] = {}
        """What plugins derived from the objects of a namespace, by plugin and namespace."""

    def in_namespace(self, kind: GroupVersionKind, namespace: str) -> list[Json]:
        """Return the objects of a built-in kind in a namespace, except those that the server
        rejects.
        """
        return [
            item
            for item in self.objects.in_namespace(namespace).of_kind(kind)
            if self._is_accepted(item)
        ]

    def of_kind(self, kind: GroupVersionKind) -> list[Json]:
        """Return the objects of a built-in kind, except those that the server rejects."""
        return [item for item in self.objects.of_kind(kind) if self._is_accepted(item)]

    def _is_accepted(self, manifest: Json) -> bool:
        """Return whether the server accepts an object; it cannot affect others otherwise."""
        context = ApiServer(self.versions.kubernetes)
        manifest = dict(manifest)
        violations = structure_violations(
            manifest, kind_of(manifest), known_version(context.kubernetes)
        )
        return not violations and not has_error(built_in_problems(manifest, context))

    @cached_property
    def plurals(self) -> Mapping[tuple[str, str], str]:
        """Resource names by API group and kind, from the CRDs of the files."""
        names = {}
        for crd in self.objects.of_kind(("apiextensions.k8s.io/v1", "CustomResourceDefinition")):
            spec = nested_map(crd, "spec")
            kind, plural = (nested_string(spec, "names", key) for key in ("kind", "plural"))
            names[nested_string(spec, "group"), kind] = plural
        return names


class Request(NamedTuple):
    """The creation or update of one object, or the creation of equal pods by a controller."""

    object: Json
    """The object as the plugins before this one leave it."""
    path: Path = ()
    """Path of the pod template in the file, or an empty path for the object of the file itself."""
    written: Json | None = None
    """The object or pod template as written, or None for pods without a template in the file."""
    pods: int = 0
    """Number of pods that a controller creates, or 0 for the object of the file itself."""
    old: Json | None = None
    """The stored object, for an update."""

    @property
    def kind(self) -> ObjectKind:
        """The apiVersion and kind."""
        return kind_of(self.object)

    @property
    def stage(self) -> Stage:
        """When a rejection occurs: on apply, or when the pods are created."""
        return "pod" if self.pods else "apply"

    @property
    def spec(self) -> Json:
        """The object's spec."""
        return nested_map(self.object, "spec")

    @property
    def is_pod(self) -> bool:
        """Whether the object is a Pod."""
        return self.kind == POD

    def path_of(self, *steps: str | int) -> Path:
        """Return the path of a field of the object in the file; a runtime's pods have no
        template in the file.
        """
        if self.written is not None:
            return (*self.path, *steps)
        return ("spec",)

    @staticmethod
    def resources_path(container: Path, *steps: str) -> Path:
        """Return the path of a container's resources, or the path itself if the file does not
        have the container.
        """
        if type(container[-1]) is int:
            return (*container, "resources", *steps)
        return container

    def containers(self) -> Iterator[tuple[Path, Json, Json]]:
        """Yield the containers and init containers of a pod, each with its path in the file and as
        it is written there; one that the operator adds is at its pod template, as it is.
        """
        for key in ("containers", "initContainers"):
            written = nested_maps(self.written, "spec", key)
            names = [nested_string(container, "name") for container in written]
            places = {name: index for index, name in reversed([*enumerate(names)])}
            for index, container in enumerate(nested_maps(self.spec, key)):
                name = nested_string(container, "name")
                place = index if names[index : index + 1] == [name] else places.get(name)
                if place is None:
                    yield self.path_of("spec", "containers"), container, container
                else:
                    yield self.path_of("spec", key, place), container, written[place]


POD = ("v1", "Pod")


def requests_of(manifest: Json, state: ClusterState, old: Json | None) -> Iterator[Request]:
    """Yield the request for an object, followed by one per role of the pods that its controller
    creates.
    """
    yield Request(manifest, (), manifest, 0, old)
    kind = kind_of(manifest)
    # the Job inside a CronJob is checked as a separate object; an update creates no pods
    _, name = kind
    if kind == POD or name == "CronJob" or old is not None:
        return

    # a runtime only has the templates of other objects
    if kind not in RUNS_PODS and group_and_kind(manifest) not in TEMPLATE_PATHS:
        return
    if kind not in RUNS_PODS or kind_named(kind).too_wide(manifest) is not None:
        count = _replicas(manifest)
        for path, spec, meta in pods_of(manifest):
            if count > 0:
                yield Request(
                    _pod(manifest, meta, spec), path, {"metadata": meta, "spec": spec}, count
                )
        return

    templates = {
        template.role.lower(): template for template in reversed(list(templates_of(manifest)))
    }
    for role in expand(manifest, versions=state.versions, related=state.objects).roles:
        if role.count <= 0:
            continue

        view = role.pod(0)
        template = templates.get(role.name.lower()) or next(iter(templates.values()), None)
        pod = _pod(
            manifest, {"labels": view.labels, "annotations": view.annotations}, view.spec, view.name
        )
        if template is None:
            yield Request(pod, pods=role.count)
        else:
            yield Request(pod, template.path, template.template, role.count)


def _replicas(manifest: Json) -> int:
    """Return how many pods an object of a kind without a record has; at least one of kinds that
    are not modeled.
    """
    kind = group_and_kind(manifest)
    if kind == ("", "PodTemplate"):
        return 0
    if kind in {("apps", "ReplicaSet"), ("", "ReplicationController")}:
        return nested_int(manifest, "spec", "replicas", default=1)
    return 1


def _pod(owner: Json, meta: Json, spec: Json, name: str = "") -> Json:
    """Return the Pod that a controller creates from a template."""
    metadata: JsonDict = {
        "name": name or f"{object_name(owner)}-{GENERATED}",
        "namespace": namespace_of(owner),
        **{
            key: dict(value)
            for key in ("labels", "annotations")
            if (value := nested_map(meta, key))
        },
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


class Resource(NamedTuple):
    """A kind as URLs and quotas name it."""

    group: str
    version: str
    plural: str

    @property
    def name(self) -> str:
        """The plural with the group, such as `jobs.batch`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def resource_of(kind: GroupVersionKind, state: ClusterState) -> Resource:
    """Return the resource of a kind. The plural is the CRD's, else the one that kubectl would
    guess.
    """
    api_version, name = kind
    group, _, version = api_version.rpartition("/")
    plural = state.plurals.get((group, name)) or _PLURALS.get(name) or _guess_plural(name.lower())
    return Resource(group, version, plural)


_PLURALS = {"Endpoints": "endpoints", "Gateway": "gateways"}


def _guess_plural(word: str) -> str:
    """Return a plural as apimachinery's `UnsafeGuessKindToResource` makes it."""
    if word.endswith("s"):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def is_namespaced(kind: GroupVersionKind, state: ClusterState) -> bool:
    """Return whether objects of a kind are in a namespace."""
    api_version, name = kind
    group = api_group(api_version)
    for crd in state.objects.of_kind(("apiextensions.k8s.io/v1", "CustomResourceDefinition")):
        spec = nested_map(crd, "spec")
        if spec.get("group") == group and nested_value(spec, "names", "kind") == name:
            return spec.get("scope") != "Cluster"
    return name not in CLUSTER_WIDE and kind_named(kind).namespaced
