"""A JobSet in the making: what Trainer's policies work on (Trainer 2.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ptcompile.kubernetes.untyped import at, integer, items, object_name
from ptcompile.kubernetes.versions import Version
from ptcompile.operators.common import podspec
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.merge import env_over
from ptcompile.operators.trainer.runtimes import ancestor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

PORT = 29500
INDEX_PATH = f"metadata.annotations['{podspec.COMPLETION_INDEX}']"


@dataclass(slots=True)
class Build:
    """A JobSet in the making: the TrainJob, its runtime with the patches, and what the policy fills in."""

    manifest: Json
    runtime: Json
    spec: Json
    jobs: list[Json]
    version: Version = (2, 3)
    configmaps: list[Json] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    own: frozenset[str] = frozenset()
    """Fields of the trainer's container that the policy has decided already."""
    pod_group: Json | None = None
    failure: str | None = None

    @property
    def name(self) -> str:
        """The TrainJob's name, which is the JobSet's too."""
        return object_name(self.manifest)

    @property
    def master(self) -> str:
        """The first node's host name as its neighbours resolve it; literal, whatever the runtime's names are."""
        return f"{self.name}-node-0-0.{self.name}"

    @property
    def trainer(self) -> Json | None:
        """`spec.trainer`, or None when it is absent."""
        trainer = at(self.manifest, "spec").get("trainer")
        return at(self.manifest, "spec", "trainer") if trainer is not None else None

    def set_nodes(self, count: int, *, job: str | None = None) -> None:
        """The number of pods of the trainer's job, or of the named one."""
        self.jobs = [_sized(rj, count) if self._meant(rj, job) else rj for rj in self.jobs]

    def _meant(self, replicated: Json, job: str | None) -> bool:
        return replicated.get("name") == job if job else ancestor(replicated) == "trainer"

    def on_container(self, change: Callable[[Json], Json], *, job: str | None = None, name: str = "node") -> None:
        """A change made to the container of this name in the trainer's job, or in the named one."""
        self.jobs = [_changed(rj, name, change) if self._meant(rj, job) else rj for rj in self.jobs]

    def on_pod(self, change: Callable[[Json], Json], *, job: str | None = None) -> None:
        """A change made to the pod spec of the trainer's job, or of the named one."""
        self.jobs = [_with_pod(rj, change) if self._meant(rj, job) else rj for rj in self.jobs]


def _sized(replicated: Json, count: int) -> Json:
    template = at(replicated, "template")
    spec = {**at(template, "spec"), "parallelism": count, "completions": count}
    return {**replicated, "template": {**template, "spec": spec}}


def _with_pod(replicated: Json, change: Callable[[Json], Json]) -> Json:
    template, job = at(replicated, "template"), at(replicated, "template", "spec")
    pod_template = at(job, "template")
    job = {**job, "template": {**pod_template, "spec": change(at(pod_template, "spec"))}}
    return {**replicated, "template": {**template, "spec": job}}


def _changed(replicated: Json, name: str, change: Callable[[Json], Json]) -> Json:
    def pod(spec: Json) -> Json:
        spec = podspec.with_containers(spec, lambda c: change(c) if c.get("name") == name else c, init=True)
        return podspec.with_containers(spec, lambda c: change(c) if c.get("name") == name else c, init=False)

    return _with_pod(replicated, pod)


def plain(build: Build) -> None:
    """The number of nodes and the TrainJob's env."""
    build.set_nodes(runtimes.nodes(build.manifest, build.runtime))
    env = (build.trainer or {}).get("env")
    build.on_container(lambda c: env_over(c, env))


def with_port(container: Json) -> Json:
    """The container with the rendezvous port, unless one of that number is there."""
    taken = any(integer(p.get("containerPort")) == PORT for p in items(container.get("ports")))
    return container if taken else podspec.with_items(container, "ports", [{"containerPort": PORT}])
