"""What a rule is given: one object, and what its rules share."""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import cast
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.templates import ManifestTemplate
from ptcompile.linter.workload import Stream, WorkloadView
from ptcompile.registry.model import Kind, is_overridden
from ptcompile.registry.templates import Template as WrittenTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.linter.trainers import TrainingRole
    from ptcompile.simulator.launchers.rendezvous import Rendezvous
    from ptcompile.simulator.pod import Pod

    T = TypeVar("T")


class Subject(WorkloadView):
    """One object among the others of its stream. Rules share what is derived here; nothing is derived twice."""

    def cached(self, make: Callable[[Subject], T]) -> T:
        """What a function makes of the object, made once: what the rules of one operator share."""
        made = self._cache
        if make not in made:
            made[make] = make(self)
        return cast("T", made[make])

    @cached_property
    def _cache(self) -> dict[Callable[[Subject], object], object]:
        return {}

    @cached_property
    def training_roles(self) -> tuple[TrainingRole, ...]:
        """The roles that train, each as its first pod sees it; none for a kind without pods, or a job without any."""
        from ptcompile.linter.trainers import training_roles

        return training_roles(self)

    @cached_property
    def torchrun_groups(self) -> tuple[tuple[TrainingRole, ...], ...]:
        """The trainers that torchrun starts, by whom they are to meet; none where a file does not decide it all."""
        from ptcompile.linter.trainers import torchrun_groups

        return torchrun_groups(self.training_roles, self.rendezvous_groups)

    @cached_property
    def rendezvous_groups(self) -> tuple[tuple[TrainingRole, ...], ...]:
        """As `parties`, of every launcher that is known here."""
        from ptcompile.linter.trainers import rendezvous_groups

        return rendezvous_groups(self, self.training_roles)

    @cached_property
    def env_groups(self) -> tuple[tuple[TrainingRole, ...], ...]:
        """As `parties`, of scripts without a launcher (env://)."""
        from ptcompile.linter.trainers import env_groups

        return env_groups(self, self.training_roles)

    @cached_property
    def lacks_rendezvous(self) -> bool:
        """Whether its operator gives the pods no rendezvous at all: a rule of the operator's says so."""
        if not is_overridden(self.record, Kind.lacks_rendezvous):
            return False
        return self.record.lacks_rendezvous(
            self.manifest, self.training_roles[0].launch.options if self.training_roles else {}
        )

    @cached_property
    def first_pods(self) -> tuple[Pod, ...]:
        """The first pod of each role that has any; none where nothing in the manifest lets pods wait for others."""
        from ptcompile.linter.trainers import mentions_launcher

        plugged = "pytorch" in nested_map(self.spec, "plugins")
        if not plugged and not any(mentions_launcher(one) or _is_ranked(one) for one in self.templates):
            return ()
        return tuple(pod for _, pod in self.job.first_pods()) if self.job is not None else ()

    @cached_property
    def waiting_roles(self) -> dict[str, Rendezvous]:
        """How the pods of each role meet, for the roles whose pods wait for others before they train."""
        seen = {pod.role: pod.rendezvous for pod in self.first_pods}
        return {role: found for role, found in seen.items() if found.nodes is not None and found.nodes[0] > 1}

    @cached_property
    def min_nodes_to_start(self) -> int:
        """How many pods wait for one another before they train; 1 where they train alone, or that is unknown."""
        return max((found.nodes[0] for found in self.waiting_roles.values() if found.nodes), default=1)


def subject_of(manifest: Json, stream: Stream) -> Subject:
    """An object of a stream, one `Subject` for all rules that look at it from others: it is simulated once."""
    known = stream.cached(_subjects)
    if id(manifest) not in known:
        known[id(manifest)] = Subject(manifest, stream=stream)
    return known[id(manifest)]


def drop_subject(subject: Subject) -> None:
    """Keep an object no longer: its own rules are asked, and a long stream would keep every container.

    A job and its pods know each other: apart, they and the document go at once, and their memory is used again.
    """
    subject.stream.cached(_subjects).pop(id(subject.manifest), None)
    job = subject.__dict__.pop("job", None)
    if job is not None:
        job.__dict__.clear()


def _subjects(_stream: Stream) -> dict[int, Subject]:
    """By the identity of the manifest, which its Subject keeps alive."""
    return {}


def _is_ranked(template: ManifestTemplate) -> bool:
    """Whether the container that trains is told by its variables how many others there are."""
    return any(entry.name == "WORLD_SIZE" for one in template.main_containers for entry in one.env)


def is_recreated(subject: Subject, template: ManifestTemplate) -> bool | None:
    """Whether a lost pod of a template is recreated; None for kinds where that is unknown."""
    written = WrittenTemplate(template.path, template.data, template.role, template.replicas, template.main_name)
    return subject.record.recreates(subject.manifest, written)
