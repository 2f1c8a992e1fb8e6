"""What rules look at: one object with its pod templates, and the world that it would make, each made when asked for."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.untyped import Json, at, kind_of, mapping, namespace, text
from ptcompile.kubernetes.versions import Versions
from ptcompile.kubernetes.wrappers import unwrapped
from ptcompile.linting.amounts import counted
from ptcompile.linting.stream import Stream
from ptcompile.operators.common.templates import templates_of

if TYPE_CHECKING:
    from ptcompile.linting.trainers import Trainer
    from ptcompile.operators.trainer.runtimes import Found as Runtime
    from ptcompile.operators.volcano.tasks import VolcanoJob
    from ptcompile.simulation import Job, Pod
    from ptcompile.simulation.meeting import Meeting
    from ptcompile.simulation.rendezvous import Rendezvous


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


class Container:
    """One container of a template, with its path from the root of the object. What is read from it is read once."""

    def __init__(self, path: Path, spec: Json, *, init: bool, main: bool) -> None:
        self.path = path
        self.spec = spec
        self.init = init
        self.main = main
        """Whether it is the one that trains: named by its operator, else the first."""

    @property
    def name(self) -> str:
        """The container's name, or an empty string."""
        return text(self.spec.get("name"))

    def amounts(self, half: str) -> Json:
        """`limits` or `requests` as written."""
        return at(self.spec, "resources", half)

    @cached_property
    def accelerators(self) -> int:
        """Accelerators, or slices of them, in the limits, else in the requests; 0 where nothing can be read."""
        return counted(self.amounts("limits")) or counted(self.amounts("requests"))

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
    def start(self) -> int:
        """The index of the word that is started, behind wrappers such as env and tini."""
        return unwrapped([word.text for word in self.argv]).start

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


class Template:
    """One pod template: where it stands, whose it is, how many pods come of it. A Pod is its own template."""

    def __init__(self, path: Path, data: Json, role: str, replicas: int, main: str | None = None) -> None:
        self.path = path
        """Of the mapping that has `metadata` and `spec`."""
        self.data = data
        self.role = role
        """Replica type, task or replicatedJob; empty where the kind has one template."""
        self.replicas = replicas
        self.main = main
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
                yield Container((*self.path, "spec", key, i), one, init=init, main=not init and i == chosen)


class Subject:
    """One object among the others of its stream. Rules share what is derived here; nothing is derived twice."""

    def __init__(self, manifest: Json, *, versions: Versions | None = None, stream: Stream | None = None) -> None:
        self.manifest = manifest
        self.versions = versions or Versions()
        self.stream = stream or Stream()
        """All objects of the stream; this one may be among them."""

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
    def job(self) -> "Job | None":
        """The job as it would run, by the operator of this version; None for kinds that make no pods.

        None too for a Volcano Job that is too wide (`too-large` says so). Its pods are built when asked for: look at
        `folded` ones, not at all.
        """
        from ptcompile.simulation import simulate

        jobs = simulate([self.manifest], versions=self.versions, others=self.stream.deciding).jobs
        return jobs[0] if jobs else None

    @cached_property
    def trainers(self) -> "tuple[Trainer, ...]":
        """The roles that train, each as its first pod sees it; none for a kind without pods, or a job without any."""
        from ptcompile.linting.trainers import trainers

        return trainers(self)

    @cached_property
    def parties(self) -> "tuple[tuple[Trainer, ...], ...]":
        """The trainers that torchrun starts, by whom they are to meet; none where a file does not decide it all."""
        from ptcompile.linting.parties import parties

        return parties(self)

    @cached_property
    def groups(self) -> "tuple[tuple[Trainer, ...], ...]":
        """As `parties`, of every launcher that is known here."""
        from ptcompile.linting.parties import groups

        return groups(self)

    @cached_property
    def plain(self) -> "tuple[tuple[Trainer, ...], ...]":
        """As `parties`, of scripts without a launcher (env://)."""
        from ptcompile.linting.parties import plain

        return plain(self)

    @cached_property
    def meets_nowhere(self) -> bool:
        """Whether a PyTorchJob of Workers alone has no rendezvous at all: one rule says so, the others need not."""
        spec = self.spec
        workers = self.kind == ("kubeflow.org/v1", "PyTorchJob") and "Master" not in at(spec, "pytorchReplicaSpecs")
        flags = self.trainers[0].launch.options if self.trainers else {}
        return workers and spec.get("elasticPolicy") is None and not {"master-addr", "rdzv-endpoint"} & flags.keys()

    @cached_property
    def meeting(self) -> "Meeting | None":
        """How the pods of the job meet; None for kinds without pods."""
        from ptcompile.simulation.meeting import meeting

        return meeting(self.job) if self.job is not None else None

    @cached_property
    def neighbours(self) -> Objects:
        """The objects of the stream in the same namespace, this one too."""
        return self.stream.objects.within(namespace(self.manifest))

    @cached_property
    def firsts(self) -> "tuple[Pod, ...]":
        """The first pod of each role that has any; none where nothing in the manifest lets pods wait for others."""
        from ptcompile.linting.trainers import launches

        plugged = "pytorch" in at(self.spec, "plugins")
        if not plugged and not any(launches(one) or _ranked(one) for one in self.templates):
            return ()
        return tuple(pod for _, pod in self.job.firsts()) if self.job is not None else ()

    @cached_property
    def waiting(self) -> "dict[str, Rendezvous]":
        """How the pods of each role meet, for the roles whose pods wait for others before they train."""
        seen = {pod.role: pod.rendezvous for pod in self.firsts}
        return {role: found for role, found in seen.items() if found.nodes is not None and found.nodes[0] > 1}

    @cached_property
    def awaited(self) -> int:
        """How many pods wait for one another before they train; 1 where they train alone, or nobody can tell."""
        return max((found.nodes[0] for found in self.waiting.values() if found.nodes), default=1)

    @cached_property
    def volcano(self) -> "VolcanoJob":
        """A Volcano Job after the mutating webhook's defaults."""
        from ptcompile.operators.common.expansion import Context
        from ptcompile.operators.volcano.pods import read

        return read(self.manifest, Context(versions=self.versions))

    @cached_property
    def runtime(self) -> "Runtime":
        """The runtime that a TrainJob names, and whether it is but assumed."""
        from ptcompile.operators.trainer.runtimes import find

        return find(self.manifest, self.stream.deciding, self.versions.trainer)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _mappings(value: object) -> list[tuple[int, Json]]:
    """The mappings of a list that are not empty, with their indexes."""
    return [(i, mapping(one)) for i, one in enumerate(_list(value)) if mapping(one)]


def _ranked(template: Template) -> bool:
    """Whether the container that trains is told by its variables how many others there are."""
    return any(entry.name == "WORLD_SIZE" for one in template.mains for entry in one.env)
