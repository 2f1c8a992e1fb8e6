"""What rules look at: one object with its pod templates, and the world that it would make, each made when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ptcompile.diagnostics import Path
from ptcompile.plain import Json, at, kind_of, mapping, namespace, text
from ptcompile.rules.templates import templates_of
from ptcompile.versions import Versions

if TYPE_CHECKING:
    from ptcompile.rules.trainers import Trainer
    from ptcompile.simulation import Job
    from ptcompile.simulation.meeting import Meeting


class Word(NamedTuple):
    """One word of a command line, with its path from the root of the object."""

    path: Path
    text: str


class Entry(NamedTuple):
    """One env entry: its path, its name, and its value, or None where it has a source instead."""

    path: Path
    name: str
    value: str | None
    source: Json


@dataclass(frozen=True)
class Container:
    """One container of a template, with its path from the root of the object. What is read from it is read once."""

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

    @cached_property
    def argv(self) -> tuple[Word, ...]:
        """The words of `command`, then those of `args`; what is no string is left out."""
        return tuple(
            Word((*self.path, key, i), word)
            for key in ("command", "args")
            for i, word in enumerate(_list(self.spec.get(key)))
            if isinstance(word, str)
        )

    @cached_property
    def env(self) -> tuple[Entry, ...]:
        """The env entries in the order they are written."""
        return tuple(
            Entry(
                (*self.path, "env", i),
                text(entry.get("name")),
                None if at(entry, "valueFrom") else text(entry.get("value")),
                at(entry, "valueFrom"),
            )
            for i, entry in _mappings(self.spec.get("env"))
        )

    @cached_property
    def mounts(self) -> tuple[tuple[Path, Json], ...]:
        """The volume mounts with their paths."""
        return tuple(((*self.path, "volumeMounts", i), one) for i, one in _mappings(self.spec.get("volumeMounts")))


@dataclass(frozen=True)
class Template:
    """One pod template: where it stands, whose it is, how many pods come of it. A Pod is its own template."""

    path: Path
    """Of the mapping that has `metadata` and `spec`."""
    data: Json
    role: str
    """Replica type, task or replicatedJob; empty where the kind has one template."""
    replicas: int
    main: str | None = None
    """The container that trains, by its operator's rule; None where that is the first."""

    @cached_property
    def spec(self) -> Json:
        """The pod's spec, empty where there is none."""
        return at(self.data, "spec")

    @cached_property
    def volumes(self) -> dict[str, tuple[Path, Json]]:
        """The pod's volumes by name, with their paths."""
        return {
            text(one.get("name")): ((*self.path, "spec", "volumes", i), one)
            for i, one in _mappings(self.spec.get("volumes"))
        }

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """Init containers first; a mapping is a container, and anything else is left out."""
        return tuple(self._containers())

    @cached_property
    def mains(self) -> tuple[Container, ...]:
        """The container that trains: one, or none in a template without containers."""
        return tuple(one for one in self.containers if one.main)

    def _containers(self) -> Iterator[Container]:
        for key, init in (("initContainers", True), ("containers", False)):
            specs = _mappings(self.spec.get(key))
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

    @cached_property
    def meeting(self) -> Meeting | None:
        """How the pods of the job meet; None for kinds without pods."""
        from ptcompile.simulation.meeting import meeting

        return meeting(self.job) if self.job is not None else None

    @cached_property
    def neighbours(self) -> dict[tuple[str, str], list[Json]]:
        """The objects of the stream in the same namespace, this one too, by apiVersion and kind."""
        found: dict[tuple[str, str], list[Json]] = {}
        space = namespace(self.manifest)
        for one in self.others:
            if namespace(one) == space:
                found.setdefault(kind_of(one), []).append(one)
        return found

    @property
    def _beside(self) -> list[Json]:
        return [one for one in self.others if one is not self.manifest]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _mappings(value: object) -> list[tuple[int, Json]]:
    """The mappings of a list that are not empty, with their indexes."""
    return [(i, mapping(one)) for i, one in enumerate(_list(value)) if mapping(one)]
