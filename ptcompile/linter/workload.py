"""One object in its stream: templates, namespace, the simulated job, containers beside their pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import cast
from ptcompile._internal.paths import get
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import as_mapping, as_string, kind_of, namespace_of, nested_map
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter.templates import ManifestContainer, ManifestTemplate
from ptcompile.registry import table as operators
from ptcompile.registry.model import Kind, is_overridden
from ptcompile.registry.table import RUNS_PODS, templates_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeVar

    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.registry.model import Base
    from ptcompile.registry.pods import ContainerView
    from ptcompile.simulator.job import SimulatedJob
    from ptcompile.simulator.launchers.rendezvous import Rendezvous
    from ptcompile.simulator.meeting import Lead
    from ptcompile.simulator.pod import Pod

    T = TypeVar("T")


class Stream:
    """The objects of a stream, as each of them finds the others: indexed once for all rules."""

    def __init__(
        self,
        objects: Sequence[Json] = (),
        versions: Versions | None = None,
        texts: Mapping[int, frozenset[str] | None] | None = None,
        related: Sequence[Json] | None = None,
    ) -> None:
        self.objects = Objects([*objects, *(related or ())])
        self.related_ids = frozenset(id(one) for one in related or ())
        """The identities of the objects of other files."""
        self.has_context = related is not None or len(objects) > 1
        """Whether more is known than one object: what is missing then is missing in a stream or a folder."""
        self.texts = texts or {}
        """All keys and texts of an object, by its identity, where the reader knows them."""
        self.versions = versions or Versions()
        """The releases in force."""
        self._cache: dict[Callable[[Stream], object], object] = {}

    def cached(self, make: Callable[[Stream], T]) -> T:
        """What a function makes of the stream, made once: an index that one rule alone looks things up in."""
        if make not in self._cache:
            self._cache[make] = make(self)
        return cast("T", self._cache[make])

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds there are, as words that a rule may need: `@service`."""
        return frozenset(["@" + kind_of(one)[1].casefold() for one in self.objects])

    @cached_property
    def supporting_objects(self) -> Objects:
        """Those that make no pods, but may decide how others' pods live: Services, runtimes."""
        return Objects([one for one in self.objects if kind_of(one) not in RUNS_PODS])

    @cached_property
    def positions(self) -> dict[int, int]:
        """The place of each object, by its identity."""
        return {id(one): i for i, one in reversed(list(enumerate(self.objects)))}


class WorkloadView:
    """One object among the others of its stream. What is derived here is derived once."""

    def __init__(self, manifest: Json, *, versions: Versions | None = None, stream: Stream | None = None) -> None:
        self.manifest = manifest
        self.stream = stream or Stream()
        """All objects of the stream; this one may be among them."""
        self.versions = versions or self.stream.versions

    @property
    def objects(self) -> Objects:
        """All objects of the stream."""
        return self.stream.objects

    @cached_property
    def is_alone(self) -> bool:
        """Whether no other object stands in the stream: most files hold one, and nothing needs to be looked for."""
        return all(one is self.manifest for one in self.objects)

    @cached_property
    def kind(self) -> tuple[str, str]:
        """apiVersion and kind."""
        return kind_of(self.manifest)

    @cached_property
    def record(self) -> Kind:
        """The kind, or one without anything if it is unknown."""
        return operators.kind_named(self.kind)

    @cached_property
    def spec(self) -> Json:
        """The object's spec, empty where there is none."""
        return nested_map(self.manifest, "spec")

    @cached_property
    def metadata(self) -> Json:
        """The object's metadata, empty where there is none."""
        return nested_map(self.manifest, "metadata")

    @cached_property
    def name(self) -> str:
        """`metadata.name`, or an empty string."""
        return as_string(self.metadata.get("name"))

    @cached_property
    def templates(self) -> tuple[ManifestTemplate, ...]:
        """The pod templates of the object, in its own order; empty for kinds without pods."""
        found = templates_of(self.kind, self.manifest)
        return tuple(ManifestTemplate(one.path, as_mapping(one.template), *one[2:]) for one in found)

    @cached_property
    def templates_by_role(self) -> dict[str, ManifestTemplate]:
        """The first pod template of each role, by its name in lower case."""
        return {one.role.lower(): one for one in reversed(self.templates)}

    @cached_property
    def containers(self) -> tuple[ManifestContainer, ...]:
        """The containers of all templates."""
        return tuple(one for template in self.templates for one in template.containers)

    @cached_property
    def job(self) -> SimulatedJob | None:
        """The job as it would run, by the operator of this version; None for kinds that make no pods.

        None too for one whose pods are too many to be looked at (`Kind.crowded`). Its pods are built when
        asked for: look at `folded` ones, not at all.
        """
        from ptcompile.simulator.job import job_of

        if self.kind not in RUNS_PODS or self.record.crowded(self.manifest, self.versions):
            return None
        return job_of(self.manifest, self.stream.supporting_objects, self.versions, None)

    @cached_property
    def leads(self) -> list[Lead]:
        """The roles that train, each with its first pod and how that meets the others; none for kinds without pods."""
        from ptcompile.simulator.meeting import training_roles

        return training_roles(self.job) if self.job is not None else []

    @property
    def rendezvous(self) -> Rendezvous | None:
        """How the first pod that trains meets the others; None for kinds without pods."""
        return self.leads[0][2] if self.leads else None

    @cached_property
    def neighbors(self) -> Objects:
        """The objects of the stream in the same namespace, this one too."""
        return self.stream.objects.in_namespace(namespace_of(self.manifest))

    @cached_property
    def base(self) -> Base | None:
        """The object that its controller fills it from; None where there is no such thing."""
        if not is_overridden(self.record, Kind.runtime):  # which other objects decide is then not worth finding out
            return None
        return self.record.runtime(self.manifest, self.stream.supporting_objects, self.versions)


POD: Final = ("v1", "Pod")


def container_views(subject: WorkloadView) -> Iterator[tuple[Path, Json, ContainerView, Pod]]:
    """Each container that is written, with its path and as it is in the first pod of its role."""
    trainer = subject.record.launch_fields.container
    for role, pod in subject.job.first_pods() if subject.job is not None else ():
        if trainer:
            if pod.main is not None and role.name == "node":
                yield trainer, nested_map(subject.manifest, *trainer), pod.main, pod
            continue
        template = template_of(subject, role.name)
        made = {(view.name, view.init): view for view in pod.containers}
        for one in template.containers if template is not None else ():
            if (one.name, one.is_init) in made:
                yield one.path, one.spec, made[one.name, one.is_init], pod


def template_of(subject: WorkloadView, role: str) -> ManifestTemplate | None:
    """The pod template of a role of the simulated job."""
    if len(subject.templates) == 1:
        return subject.templates[0]
    return subject.templates_by_role.get(role.lower())


def mapping_at(manifest: Json, path: Path) -> Json:
    """The mapping at a path, an empty one where something else stands there, or nothing."""
    return as_mapping(get(manifest, path))
