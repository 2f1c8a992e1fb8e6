"""The world that manifests would make: jobs, and their pods as each process sees itself. Pods are built when asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, overload

from ptcompile.diagnostics import Diagnostic
from ptcompile.expand import ContainerView, Expansion, PodView, Role
from ptcompile.expand import kubelet
from ptcompile.plain import Json, at, kind_of, namespace, object_name
from ptcompile.quantity import Quantity
from ptcompile.simulation import amounts
from ptcompile.simulation.launch import Launch, read
from ptcompile.simulation.rendezvous import Rendezvous, rendezvous

RANDOM = "-*****"
"""Stands for the five random characters behind a pod's name, where a pod is shown."""

WIDE = 64
"""In JSON, of a role with more pods only the first two and the last are written."""


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod as its processes see it. `view` is the pod as its operator writes it."""

    view: PodView
    job: Job

    @property
    def name(self) -> str:
        """Without the random part; `random_suffix` says whether there is one."""
        return self.view.name

    @property
    def random_suffix(self) -> bool:
        """Whether the controller puts five random characters behind the name."""
        return self.view.random_suffix

    @property
    def shown(self) -> str:
        """The name for people, with the random part marked."""
        return self.view.name + (RANDOM if self.view.random_suffix else "")

    @property
    def hostname(self) -> str | None:
        """The host name; the pod's own name where nobody sets one, None where that is random or the node's."""
        if self.view.spec.get("hostNetwork") is True:
            return None
        return self.view.hostname or (None if self.view.random_suffix else self.view.name)

    @property
    def dns(self) -> str | None:
        """The full name under which other pods find it, or None."""
        return None if self.view.spec.get("hostNetwork") is True and not self._has_service else self.view.dns

    @property
    def _has_service(self) -> bool:
        """Whether a Service of the pod's own answers, which finds it on the node's network too."""
        return self.view.dns is not None and self.view.subdomain is None

    @property
    def role(self) -> str:
        """The role, in the operator's word: task, replica type, replicatedJob."""
        return self.view.role

    @property
    def index(self) -> int:
        """The index within the role."""
        return self.view.index

    @property
    def containers(self) -> tuple[ContainerView, ...]:
        """Init containers first, then the others."""
        return self.view.containers

    @property
    def main(self) -> ContainerView | None:
        """The container that trains."""
        return self.view.main_container

    @property
    def env(self) -> dict[str, str]:
        """The main container's variables in order, `$(X)` expanded; what no manifest holds reads `<source>`."""
        main = self.main
        return {} if main is None else kubelet.environment(main, self.view)

    @property
    def command(self) -> list[str] | None:
        """The main container's command after expansion, None for the image's own."""
        return self._line()[0]

    @property
    def args(self) -> list[str] | None:
        """The main container's arguments after expansion, None for the image's own."""
        return self._line()[1]

    def _line(self) -> tuple[list[str] | None, list[str] | None]:
        main = self.main
        return (None, None) if main is None else kubelet.command_line(main, self.env)

    @property
    def resources(self) -> Json:
        """Requests and limits of the main container, as written."""
        main = self.main
        return {} if main is None else main.resources

    @property
    def requests(self) -> dict[str, Quantity]:
        """What the scheduler reserves for the whole pod."""
        return amounts.of_pod(self.view.spec)

    @property
    def qos(self) -> str:
        """`Guaranteed`, `Burstable` or `BestEffort`."""
        return kubelet.qos_class(self.view.spec)

    @property
    def launch(self) -> Launch:
        """What the main container's command line starts."""
        command, args = self._line()
        env = self.env
        if self.hostname:
            env.setdefault("HOSTNAME", self.hostname)
        return read([*(command or ()), *(args or ())], env)

    @property
    def rendezvous(self) -> Rendezvous:
        """What torchrun, or a script without it, makes of all this."""
        launch = self.launch
        return rendezvous(launch, launch.env, amounts.devices(self.resources))


@dataclass(frozen=True, slots=True)
class Job:
    """One workload manifest and all that comes of it."""

    manifest: Json
    expansion: Expansion
    failure: tuple[str, ...] = ()
    """What happens when a pod fails, and when the job ends: one sentence each."""
    given: tuple[Json, ...] = ()
    """The other objects of the stream."""
    target: str | None = None
    """The target that the manifest was compiled for, where it comes from a spec of ours."""
    pod_group: Json | None = None
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The manifest's kind."""
        return kind_of(self.manifest)[1]

    @property
    def name(self) -> str:
        """The manifest's name."""
        return object_name(self.manifest)

    @property
    def namespace(self) -> str:
        """The manifest's namespace, `default` where none is written."""
        return namespace(self.manifest)

    @property
    def title(self) -> str:
        """`Kind/name`."""
        return f"{self.kind}/{self.name}"

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles in order; `pod(role, i)` builds a pod."""
        return self.expansion.roles

    @property
    def size(self) -> int:
        """How many pods."""
        return sum(role.count for role in self.roles)

    def pod(self, role: Role, index: int) -> Pod:
        """One pod of a role."""
        return Pod(role.pod(index), self)

    def firsts(self) -> list[tuple[Role, Pod]]:
        """The first pod of each role that has any."""
        return [(role, self.pod(role, 0)) for role in self.roles if role.count > 0]

    def pods(self) -> Iterator[Pod]:
        """Every pod, in the order of the roles."""
        return (self.pod(role, i) for role in self.roles for i in range(role.count))

    def totals(self) -> dict[str, Quantity]:
        """What all pods together ask the scheduler for."""
        return amounts.total((pod.requests, role.count) for role, pod in self.firsts())


class Pods(Sequence[Pod]):
    """The pods of all jobs, one after another; each is built when asked for."""

    __slots__ = ("jobs",)

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = tuple(jobs)

    def __len__(self) -> int:
        return sum(job.size for job in self.jobs)

    @overload
    def __getitem__(self, index: int) -> Pod: ...
    @overload
    def __getitem__(self, index: slice) -> list[Pod]: ...
    def __getitem__(self, index: int | slice) -> Pod | list[Pod]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        left = index if index >= 0 else len(self) + index
        for job in self.jobs:
            if 0 <= left < job.size:
                return Pod(job.expansion.pods[left], job)
            left -= job.size
        raise IndexError(index)

    def __iter__(self) -> Iterator[Pod]:
        return chain.from_iterable(job.pods() for job in self.jobs)

    def folded(self) -> Iterator[Pod]:
        """Every pod of a narrow role; the first two and the last one of a wide role."""
        for job in self.jobs:
            for role in job.roles:
                indexes = range(role.count) if role.count <= WIDE else (0, 1, role.count - 1)
                yield from (job.pod(role, i) for i in indexes)

    def named(self, name: str) -> list[Pod]:
        """The pods of this name, with or without its random part, found without building all of them."""
        wanted = name.removesuffix(RANDOM)
        return [pod for job in self.jobs for role in job.roles for pod in _candidates(job, role, wanted)]


def _candidates(job: Job, role: Role, name: str) -> Iterator[Pod]:
    """The index ends every pod's name: the numbers at its end say where to look."""
    numbers = [int(part) for part in name.split("-")[-2:] if part.isascii() and part.isdigit() and len(part) < 12]
    tried = {0, *numbers}
    if len(numbers) == 2:  # JobSet: pods count on over the Jobs of a role
        per_job = _per_job(job, role)
        tried.add(numbers[0] * per_job + numbers[1])
    for index in sorted(tried):
        if index < role.count and role.pod(index).name == name:
            yield job.pod(role, index)


def _per_job(job: Job, role: Role) -> int:
    """How many pods each Job of a role has."""
    jobs = [one for one in job.expansion.jobs if one.get("role") == role.name]
    completions = jobs[0].get("completions") if jobs else None
    parallelism = jobs[0].get("parallelism") if jobs else None
    each = completions if completions is not None else parallelism
    return each if isinstance(each, int) else 1


@dataclass(frozen=True, slots=True)
class World:
    """All jobs of a stream. Nothing is left out in silence: `skipped` names the objects that make no pods."""

    jobs: tuple[Job, ...] = ()
    skipped: tuple[str, ...] = ()
    """Objects that nobody here knows how to run, as `Kind/name`."""
    diagnostics: tuple[Diagnostic, ...] = field(default_factory=tuple)
    """What is wrong with the text, or with a spec that does not compile."""

    @property
    def ok(self) -> bool:
        """Whether there is no error. A job that its operator refuses is none: `Job.expansion.refused` says so."""
        return not any(d.severity == "error" for d in self.diagnostics)

    @property
    def pods(self) -> Pods:
        """The pods of all jobs."""
        return Pods(self.jobs)

    def to_dict(self, *, all_pods: bool = False) -> dict[str, Any]:
        """The JSON form (schemas/world.schema.json).

        Of a role with more than 64 pods the first two and the last are written, unless `all_pods` asks for all.
        """
        from ptcompile.simulation.as_json import world_to_dict

        return world_to_dict(self, all_pods=all_pods)


def joined(worlds: Iterable[World]) -> World:
    """Several worlds as one."""
    parts = list(worlds)
    return World(
        jobs=tuple(job for world in parts for job in world.jobs),
        skipped=tuple(name for world in parts for name in world.skipped),
        diagnostics=tuple(d for world in parts for d in world.diagnostics),
    )


def owner_of(pod: Pod) -> str:
    """The object that makes the pod, as `Kind/name`."""
    return f"Job/{pod.view.job}" if pod.view.job and pod.job.kind != "Job" else pod.job.title


def volumes_at(pod: Pod, kind: str) -> list[Mapping[str, Any]]:
    """The pod's volumes of one source, such as `persistentVolumeClaim`."""
    return [volume for volume in pod.view.volumes if at(volume, kind)]
