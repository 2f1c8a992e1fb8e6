"""The verb `rehearse` as a function: one job's pods as real processes of torchrun on this machine, with faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ptcompile.api import compile as compiling
from ptcompile.api.simulate import simulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.extending import Extensions
    from ptcompile.rehearsal import Rehearsal
    from ptcompile.simulator.job import SimulatedJob
    from ptcompile.simulator.world import World
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


def rehearse(
    source: str | bytes | Mapping[str, Any] | Spec,
    *,
    target: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    filename: str | None = None,
    others: Iterable[str | bytes | Mapping[str, Any]] = (),
    extensions: Extensions | None = None,
    faults: Iterable[str] = (),
    python: str | None = None,
    image: str | None = None,
    script: str | None = None,
    own_command: bool = False,
    max_processes: int = 2,
    scale: float = 1.0,
    limit: float | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Rehearsal:
    """Play the one job of a stream, a spec's for `target` or for the target that `compile` takes.

    `faults` are words such as `"late 0=150s"` or `"kill 2@10s,back=20s"` (`ptcompile.rehearsal.FORMS`). `python` is the
    interpreter that has torch, by default the `python` on the PATH. With `image` the pods are containers of that image
    (docker or podman); without it they are containers of their own image where this machine forbids namespaces.
    `script` is the path of a file that trains instead of the stand-in; with `own_command` pods run the manifest's own.
    A pod has at most `max_processes`; waits are `scale` times shorter; after `limit` seconds all is over, by default
    ten minutes and what the faults take.

    It starts processes, in namespaces or containers without a way out, and ends them all. Unlike the other verbs it has
    no result to return where nothing could be played.

    Raises:
        ptcompile.rehearsal.RehearsalError: there is no one job, or no such pod, or this machine cannot (no torch,
            neither namespaces nor a container engine).
        ptcompile.CompileError: the spec does not compile.
        ValueError: a fault is written wrongly.
    """
    from ptcompile import rehearsal

    world = simulate(source, target=target, cluster=cluster, filename=filename, others=others, extensions=extensions)
    if not world.jobs and not world.ok:
        raise compiling.CompileError(world.diagnostics)
    job = the_job(world, source, cluster)
    words: list[tuple[Any, str, str]] = [word.partition(" ") for word in faults]
    found = [rehearsal.fault(kind, text.strip()) for kind, _, text in words]
    end = rehearsal.enough(found, scale) if limit is None else limit
    settings = rehearsal.RehearsalSettings(python, script, own_command, scale, end, image)
    return rehearsal.rehearse(job, found, settings=settings, most=max_processes, progress=progress)


def the_job(world: World, source: Any, cluster: Any) -> SimulatedJob:
    """The job to play of a world; of a spec's for several targets that of the one which `compile` takes.

    Raises:
        RehearsalError: there is none, there are several, or its operator refuses it.
    """
    from ptcompile.rehearsal import RehearsalError

    jobs = world.jobs
    if len({job.target for job in jobs}) > 1:
        taken = {
            (one.get("apiVersion"), one.get("kind")) for one in compiling.compile(source, cluster=cluster).manifests
        }
        jobs = tuple(job for job in jobs if (job.manifest.get("apiVersion"), job.manifest.get("kind")) in taken)
    if len(jobs) != 1:
        names = ", ".join(job.title for job in jobs)
        raise RehearsalError(f"one job at a time: found {names}" if jobs else "no object here creates pods")
    if refused := jobs[0].expansion.refused:
        raise RehearsalError(f"its operator creates no pods from it: {refused[0]}")
    return jobs[0]
