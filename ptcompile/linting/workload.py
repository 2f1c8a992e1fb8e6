"""One object of a stream: what it says, its pod templates, and the job that its operator would make of it."""

from __future__ import annotations

from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.untyped import at, kind_of, mapping, namespace, text
from ptcompile.kubernetes.versions import Versions
from ptcompile.linting.stream import Stream
from ptcompile.linting.templates import Container, Template
from ptcompile.memo import cached_property
from ptcompile.operators import all as operators
from ptcompile.operators.common.templates import templates_of
from ptcompile.operators.record import Kind, overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.operators.common.base import Base
    from ptcompile.simulation import Job
    from ptcompile.simulation.meeting import Lead
    from ptcompile.simulation.rendezvous import Rendezvous


class Workload:
    """One object among the others of its stream. What is derived here is derived once."""

    def __init__(self, manifest: Json, *, versions: Versions | None = None, stream: Stream | None = None) -> None:
        self.manifest = manifest
        self.stream = stream or Stream()
        """All objects of the stream; this one may be among them."""
        self.versions = versions or self.stream.versions

    @property
    def others(self) -> Objects:
        """All objects of the stream."""
        return self.stream.objects

    @cached_property
    def alone(self) -> bool:
        """Whether no other object stands in the stream: most files hold one, and nothing needs to be looked for."""
        return all(one is self.manifest for one in self.others)

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
        return at(self.manifest, "spec")

    @cached_property
    def metadata(self) -> Json:
        """The object's metadata, empty where there is none."""
        return at(self.manifest, "metadata")

    @cached_property
    def name(self) -> str:
        """`metadata.name`, or an empty string."""
        return text(self.metadata.get("name"))

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        """The pod templates of the object, in its own order; empty for kinds without pods."""
        found = templates_of(self.kind, self.manifest)
        return tuple(Template(one.path, mapping(one.template), *one[2:]) for one in found)

    @cached_property
    def by_role(self) -> dict[str, Template]:
        """The first pod template of each role, by its name in lower case."""
        return {one.role.lower(): one for one in reversed(self.templates)}

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """The containers of all templates."""
        return tuple(one for template in self.templates for one in template.containers)

    @cached_property
    def job(self) -> Job | None:
        """The job as it would run, by the operator of this version; None for kinds that make no pods.

        None too for one whose pods are too many to be looked at (`Kind.crowded`). Its pods are built when
        asked for: look at `folded` ones, not at all.
        """
        from ptcompile.operators.pods import RUNS_PODS
        from ptcompile.simulation.job import job_of

        if self.kind not in RUNS_PODS or self.record.crowded(self.manifest, self.versions):
            return None
        return job_of(self.manifest, self.stream.deciding, self.versions, None)

    @cached_property
    def leads(self) -> list[Lead]:
        """The roles that train, each with its first pod and how that meets the others; none for kinds without pods."""
        from ptcompile.simulation.meeting import training

        return training(self.job) if self.job is not None else []

    @property
    def met(self) -> Rendezvous | None:
        """How the first pod that trains meets the others; None for kinds without pods."""
        return self.leads[0][2] if self.leads else None

    @cached_property
    def neighbours(self) -> Objects:
        """The objects of the stream in the same namespace, this one too."""
        return self.stream.objects.within(namespace(self.manifest))

    @cached_property
    def base(self) -> Base | None:
        """The object that its controller fills it from; None where there is no such thing."""
        if not overrides(self.record, Kind.runtime):  # which other objects decide is then not worth finding out
            return None
        return self.record.runtime(self.manifest, self.stream.deciding, self.versions)
