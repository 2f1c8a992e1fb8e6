"""What rules look at: one object with its pod templates, and the world that it would make, each made when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ptcompile.diagnostics import Path
from ptcompile.plain import Json, at, kind_of, mapping, text
from ptcompile.rules.templates import templates_of
from ptcompile.versions import Versions

if TYPE_CHECKING:
    from ptcompile.rules.trainers import Trainer
    from ptcompile.simulation import Job


class Container(NamedTuple):
    """One container of a template, with its path from the root of the object."""

    path: Path
    spec: Json
    init: bool
    main: bool
    """Whether it is the one that trains: named by its operator, else the first."""

    @property
    def name(self) -> str:
        """The container's name, or an empty string."""
        return text(self.spec.get("name"))

    def amounts(self, half: str) -> Json:
        """`limits` or `requests` as written."""
        return at(self.spec, "resources", half)


class Template(NamedTuple):
    """One pod template: where it stands, whose it is, how many pods come of it. A Pod is its own template."""

    path: Path
    """Of the mapping that has `metadata` and `spec`."""
    data: Json
    role: str
    """Replica type, task or replicatedJob; empty where the kind has one template."""
    replicas: int
    main: str | None = None
    """The container that trains, by its operator's rule; None where that is the first."""

    @property
    def spec(self) -> Json:
        """The pod's spec, empty where there is none."""
        return at(self.data, "spec")

    @property
    def containers(self) -> tuple[Container, ...]:
        """Init containers first; a mapping is a container, and anything else is left out."""
        return tuple(self._containers())

    @property
    def mains(self) -> tuple[Container, ...]:
        """The container that trains: one, or none in a template without containers."""
        return tuple(one for one in self._containers() if one.main)

    def _containers(self) -> Iterator[Container]:
        for key, init in (("initContainers", True), ("containers", False)):
            listed = self.spec.get(key)
            specs = [(i, one) for i, one in enumerate(listed) if mapping(one)] if isinstance(listed, list) else []
            chosen = next((i for i, one in specs if text(one.get("name")) == self.main), specs[0][0] if specs else -1)
            for i, one in specs:
                yield Container((*self.path, "spec", key, i), one, init, not init and i == chosen)


class Subject:
    """One object among the others of its stream. Rules share what is derived here; nothing is derived twice."""

    def __init__(self, manifest: Json, *, versions: Versions | None = None, others: Sequence[Json] = ()) -> None:
        self.manifest = manifest
        self.versions = versions or Versions()
        self.others = others
        """All objects of the stream; this one may be among them."""

    @cached_property
    def kind(self) -> tuple[str, str]:
        """apiVersion and kind."""
        return kind_of(self.manifest)

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
        return tuple(Template(*one) for one in templates_of(self.kind, self.manifest))

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """The containers of all templates."""
        return tuple(one for template in self.templates for one in template.containers)

    @cached_property
    def job(self) -> Job | None:
        """The job as it would run, by the operator of this version; None for kinds that make no pods.

        Its pods are built when asked for: look at `folded` ones, not at all.
        """
        from ptcompile.simulation import simulate

        jobs = simulate([self.manifest], versions=self.versions, others=self._beside).jobs
        return jobs[0] if jobs else None

    @cached_property
    def trainers(self) -> tuple[Trainer, ...]:
        """The roles that train, each as its first pod sees it; none for a kind without pods, or a job without any."""
        from ptcompile.rules.trainers import trainers

        return trainers(self)

    @cached_property
    def parties(self) -> tuple[tuple[Trainer, ...], ...]:
        """The trainers that torchrun starts, by whom they are to meet; none where a file does not decide it all."""
        from ptcompile.rules.trainers import parties

        return parties(self)

    @cached_property
    def meets_nowhere(self) -> bool:
        """Whether a PyTorchJob of Workers alone has no rendezvous at all: one rule says so, the others need not."""
        spec = self.spec
        workers = self.kind == ("kubeflow.org/v1", "PyTorchJob") and "Master" not in at(spec, "pytorchReplicaSpecs")
        flags = self.trainers[0].launch.options if self.trainers else {}
        return workers and spec.get("elasticPolicy") is None and not {"master-addr", "rdzv-endpoint"} & flags.keys()

    @property
    def _beside(self) -> list[Json]:
        return [one for one in self.others if one is not self.manifest]
