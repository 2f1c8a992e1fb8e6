"""One object in its stream: templates, namespace, the simulated job, containers with their pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import Any, NamedTuple, cast
from ptcompile.diagnostics import Path
from ptcompile.kinds.model import Base, Kind, is_overridden
from ptcompile.kubernetes.index import DATA_KINDS, WRITING_KINDS, Objects
from ptcompile.kubernetes.unstructured import (
    Json,
    ObjectKind,
    as_mapping,
    get,
    kind_of,
    nested_map,
    nested_string,
    texts_of,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.table import RUNS_PODS, kind_named, templates_of
from ptcompile.world.templates import ManifestContainer, ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeVar

    from ptcompile.kinds.pods import ContainerView, ExpandedRole, MadeObject
    from ptcompile.simulator.job import SimulatedJob
    from ptcompile.simulator.launchers.rendezvous import Rendezvous
    from ptcompile.simulator.pod import Pod
    from ptcompile.world.nodes import Pools
    from ptcompile.world.origin import OriginMap

    T = TypeVar("T")
    Certainty = Literal["stream", "release", "assumed"]
    """Whether the files have an object, a release brings it, or nothing here shows it."""


class Stream:
    """The objects of a stream, indexed once for all rules."""

    def __init__(
        self,
        objects: Sequence[Json] = (),
        versions: Versions | None = None,
        texts: Mapping[int, frozenset[str] | None] | None = None,
        related: Sequence[Json] | None = None,
        frameworks: Sequence[str] = (),
        pools: Pools | None = None,
    ) -> None:
        self.objects = Objects([*objects, *(related or ())])
        self.related_ids = frozenset(id(manifest) for manifest in related or ())
        """Identities of the objects from other files."""
        self.has_context = related is not None or len(objects) > 1
        """Whether the stream has more than one object, so a missing object is missing from a
        file or a folder.
        """
        self.texts = texts or {}
        """All keys and texts of objects, by identity, as far as the reader collected them."""
        self.versions = versions or Versions()
        """The releases in force."""
        self.frameworks = frameworks
        """Kinds that the queue system manages beyond its defaults: `queueFrameworks` of the
        profile.
        """
        self.given_pools = pools
        """The node pools of the profile, if it shows any: then those of the files do not count."""
        self._cache: dict[Callable[[Stream], object], object] = {}
        self.subjects: dict[int, Any] = {}
        """The `Subject` of each object, by identity; a subject keeps its object alive."""

    def texts_of(self, manifest: Json) -> frozenset[str]:
        """Return all keys and texts of an object, each once."""
        return self.texts.get(id(manifest)) or texts_of(manifest)

    def cached(self, compute: Callable[[Stream], T]) -> T:
        """Return `compute(self)`, computed once, such as an index for one rule."""
        if compute not in self._cache:
            self._cache[compute] = compute(self)
        return cast("T", self._cache[compute])

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds in the stream, as words that a rule may need: `@service`."""
        kinds = {"@" + kind_of(manifest).name.casefold() for manifest in self.objects}
        if self.given_pools is not None or self.versions.gpu_shares is not None:
            kinds.add("@nodepool")
        return frozenset(kinds)

    @cached_property
    def pools(self) -> Pools | None:
        """The nodes of the cluster: the profile's pools, or what the objects show; None if
        nothing shows any.
        """
        if self.given_pools is not None or self.kinds.isdisjoint({"@node", "@nodepool"}):
            return self.given_pools
        from ptcompile.world.nodes import pools_of_objects

        return pools_of_objects(self.objects)

    def release(self) -> None:
        """Free the jobs that rules compared with others."""
        if self.objects.has_any(RUNS_PODS):
            from ptcompile.simulator.meeting import drop_jobs

            drop_jobs(self.objects)

    @cached_property
    def positions(self) -> dict[int, int]:
        """The index of each object, by its identity."""
        return {id(manifest): i for i, manifest in reversed(list(enumerate(self.objects)))}


class WorkloadRole(NamedTuple):
    """One role of a workload."""

    expanded: ExpandedRole
    pod: Pod
    """Its first pod."""
    template: ManifestTemplate | None
    """What its pods are made of; None if nothing in the files tells."""


class Workload:
    """One object of a stream. Everything derived here is derived once."""

    def __init__(
        self, manifest: Json, *, versions: Versions | None = None, stream: Stream | None = None
    ) -> None:
        self.manifest = manifest
        self.stream = stream or Stream()
        """All objects of the stream; this one may be among them."""
        self.versions = versions or self.stream.versions

    @property
    def objects(self) -> Objects:
        """All objects of the stream."""
        return self.stream.objects

    @cached_property
    def kind(self) -> ObjectKind:
        """apiVersion and kind."""
        return kind_of(self.manifest)

    @cached_property
    def record(self) -> Kind:
        """The kind's record, or an empty one if the kind is unknown."""
        return kind_named(self.kind)

    @cached_property
    def spec(self) -> Json:
        """The object's spec, or an empty mapping."""
        return nested_map(self.manifest, "spec")

    @cached_property
    def metadata(self) -> Json:
        """The object's metadata, or an empty mapping."""
        return nested_map(self.manifest, "metadata")

    @cached_property
    def name(self) -> str:
        """`metadata.name`, or an empty string."""
        return nested_string(self.metadata, "name")

    @cached_property
    def namespace(self) -> str:
        """`metadata.namespace`, or `default`."""
        return nested_string(self.metadata, "namespace") or "default"

    @cached_property
    def _made_object(self) -> MadeObject | None:
        if not is_overridden(self.record, Kind.runtime) or self.job is None:
            return None
        return self.job.expansion.made

    @property
    def made(self) -> Json:
        """The object with the pod templates: this one, or the one that its controller makes of
        it.
        """
        return self.manifest if self._made_object is None else self._made_object.manifest

    @cached_property
    def templates(self) -> tuple[ManifestTemplate, ...]:
        """The pod templates as their controller completes them and admission leaves them, in their
        own order; empty for kinds without pods. Their paths lead into `made`.
        """
        templates, _ = self._admitted_templates
        return templates

    @cached_property
    def origins(self) -> OriginMap | None:
        """Where the parts of the templates were written, or None if all are in this object at
        their paths.
        """
        _, writers = self._admitted_templates
        if self._made_object is None and not writers:
            return None
        from ptcompile.world.origin import OriginMap

        return OriginMap(
            self.manifest,
            self.made,
            () if self._made_object is None else self._made_object.origins,
            writers,
        )

    @cached_property
    def certainty(self) -> Certainty:
        """How certain the object is that the controller takes defaults from."""
        if self.base is None or any(self.base.source is manifest for manifest in self.objects):
            return "stream"
        return "assumed" if self.base.assumed else "release"

    @cached_property
    def _admitted_templates(self) -> tuple[tuple[ManifestTemplate, ...], dict[Path, str]]:
        """The templates after admission, and what wrote a value that is not written in them, by
        path.
        """
        templates = [
            ManifestTemplate(template.path, as_mapping(template.template), *template[2:])
            for template in templates_of(self.made)
        ]
        writers: dict[Path, str] = {}

        if self.objects.has_any(DATA_KINDS):
            for template in templates:
                template.find = self.find
        if self.kind in RUNS_PODS and self.objects.has_any(WRITING_KINDS):
            self._admit(templates, writers)
        for template in templates if self.objects.has_any(DATA_KINDS) else ():
            for container in template.containers:
                writers |= {
                    entry.value_path: entry.writer for entry in container.variables if entry.writer
                }

        return tuple(templates), writers

    def _admit(self, templates: list[ManifestTemplate], writers: dict[Path, str]) -> None:
        """Let admission change the templates, and add the writer of each changed path to
        `writers`.
        """
        from ptcompile.apiserver.admission.pods import pod_admission

        admission = pod_admission(self.objects, self.namespace)
        for template in templates:
            admitted = admission.admit(template.spec)
            template.spec = admitted.spec
            writers.update(
                {(*template.spec_path, *path): writer for path, writer in admitted.writers.items()}
            )

    @cached_property
    def containers(self) -> tuple[ManifestContainer, ...]:
        """The containers of all templates."""
        return tuple(container for template in self.templates for container in template.containers)

    @cached_property
    def job(self) -> SimulatedJob | None:
        """The job as this release of its operator would run it; None for kinds that create no pods.

        None too for a job with too many pods to simulate (`Kind.crowded`). Pods are built on
        access: read those of `first_pods`, not all of them.
        """
        from ptcompile.simulator.job import job_in

        if self.kind not in RUNS_PODS or self.record.crowded(self.manifest, self.versions):
            return None
        return job_in(self.objects, self.manifest, self.versions)

    @cached_property
    def roles(self) -> tuple[WorkloadRole, ...]:
        """The roles that have pods, each with its first pod and its template; empty for kinds
        without pods.
        """
        if self.job is None:
            return ()

        by_name: dict[str, list[ManifestTemplate]] = {}
        for template in self.templates:
            by_name.setdefault(template.role.lower(), []).append(template)

        roles: list[WorkloadRole] = []
        earlier: Counter[str] = Counter()
        for expanded, pod in self.job.first_pods:
            name = expanded.name.lower()
            templates = self.templates if len(self.templates) == 1 else by_name.get(name, [])
            # the operator's order tells roles of one name apart
            position = min(earlier[name], len(templates) - 1)
            earlier[name] += 1
            roles.append(WorkloadRole(expanded, pod, templates[position] if templates else None))

        return tuple(roles)

    def template_of(self, role: str) -> ManifestTemplate | None:
        """Return the first pod template of a role, by its name in any case, or None."""
        return next(
            (template for template in self.templates if template.role.lower() == role), None
        )

    def views(self) -> Iterator[tuple[Path, Json, ContainerView, Pod]]:
        """Yield each container of the templates: path, manifest, view in the first pod of its
        role, and that pod.
        """
        for role in self.roles:
            if role.template is None:
                continue

            views = {(view.name, view.init): view for view in role.pod.containers}
            for container in role.template.containers:
                if (container.name, container.is_init) in views:
                    yield (
                        container.path,
                        container.spec,
                        views[container.name, container.is_init],
                        role.pod,
                    )

    @property
    def rendezvous(self) -> Rendezvous | None:
        """The rendezvous of the first training pod, or None for kinds without pods."""
        meetings = self.job.meetings if self.job is not None else ()
        return meetings[0].first.rendezvous if meetings else None

    @cached_property
    def neighbors(self) -> Objects:
        """The objects of the stream in the same namespace, including this one."""
        return self.stream.objects.in_namespace(self.namespace)

    def find(self, kind: str, name: str) -> Json | None:
        """Return the ConfigMap or Secret that the object's pods mean by a name, or None if the
        stream lacks it.
        """
        return self.objects.find(("v1", kind), name, self.namespace)

    @cached_property
    def base(self) -> Base | None:
        """The object that the controller takes defaults from, or None."""
        if not is_overridden(self.record, Kind.runtime):
            return None
        return self.record.runtime(self.manifest, self.objects, self.versions)


POD = ("v1", "Pod")


def mapping_at(manifest: Json, path: Path) -> Json:
    """Return the mapping at a path, or an empty mapping."""
    return as_mapping(get(manifest, path))
