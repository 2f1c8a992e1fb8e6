"""`rehearse`: run one job's pods as real torchrun processes on this machine, with injected
faults.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from ptcompile.api import compile as compiling
from ptcompile.api.simulate import DEFAULT, simulate
from ptcompile.kubernetes.unstructured import Json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile._internal.arguments import StreamSource
    from ptcompile.api.inputs import AnyProfile, OverridePairs
    from ptcompile.extending import Extensions
    from ptcompile.rehearsal import Rehearsal
    from ptcompile.simulator.job import SimulatedJob
    from ptcompile.simulator.world import World
    from ptcompile.spec.training_job import Spec


def rehearse(
    source: str | bytes | Json | Spec,
    *,
    target: str | None = None,
    cluster: AnyProfile | None = None,
    filename: str | None = None,
    beside: Iterable[StreamSource] = (),
    name: str | None = None,
    overrides: OverridePairs = (),
    variants: Iterable[str] = (),
    extensions: Extensions | None = None,
    faults: Iterable[str] = (),
    python: str | None = None,
    image: str | None = None,
    script: str | None = None,
    own_command: bool = False,
    max_processes: int = 2,
    scale: float = 1.0,
    limit: float | None = None,
    mounts: Mapping[str, str | os.PathLike[str]] | None = None,
    restarts: bool = True,
    keep_logs: str | os.PathLike[str] | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Rehearsal:
    """Rehearse the only job of a stream; a spec is compiled for `target`, or for the target that
    `compile` chooses. `name`, `overrides` and `variants` change it as they do for `compile`.

    `faults` are texts such as `"late 0=150s"` or `"kill 2@10s,back=20s"` (see
    `ptcompile.rehearsal.FORMS`). `python` is an interpreter that has torch, by default `python` on
    the PATH. With `image`, the pods are containers of that image (docker or podman); without it,
    pods run in namespaces or, where these are forbidden, as containers of their manifest's image.
    `script` is the path of a training file to run instead of the stub; with `own_command`, pods run
    the manifest's command. A pod has at most `max_processes`; waits are divided by `scale`;
    everything ends after `limit` seconds, by default ten minutes plus the time that the faults
    take. Pods that fail start again as the operator and the kubelet would start them, unless
    `restarts` is false. `keep_logs` is a folder for the logs. `mounts` are existing folders by the
    claim (PersistentVolumeClaim) that they replace, for all pods.

    The processes run in namespaces or containers that cannot reach the network outside, and all of
    them are ended. Unlike the other functions, this one raises if there is nothing to run.

    Raises:
        ptcompile.rehearsal.RehearsalError: the stream does not have exactly one job or lacks a
        fault's pod, or this
            machine cannot run the job (no torch, or neither namespaces nor a container engine).
        ptcompile.CompileError: the stream has an error, such as a spec that does not compile.
        ValueError: a fault has the wrong form.
    """
    from ptcompile import rehearsal

    world = simulate(
        source,
        target=DEFAULT if target is None else target,
        cluster=cluster,
        filename=filename,
        beside=beside,
        name=name,
        overrides=overrides,
        variants=variants,
        extensions=extensions,
    )
    if not world.ok:
        raise compiling.CompileError(world.diagnostics)

    job = only_job(world)
    parsed_faults: list[tuple[Any, str, str]] = [fault_text.partition(" ") for fault_text in faults]
    injected = [rehearsal.fault(kind, text.strip()) for kind, _, text in parsed_faults]
    seconds = rehearsal.default_limit(injected, scale) if limit is None else limit
    logs = None if keep_logs is None else os.fspath(keep_logs)
    folders = {claim: os.fspath(folder) for claim, folder in (mounts or {}).items()}
    settings = rehearsal.RehearsalSettings(
        python, script, own_command, scale, seconds, image, logs, folders, restarts
    )

    return rehearsal.rehearse(
        job, injected, settings=settings, max_processes=max_processes, progress=progress
    )


def only_job(world: World) -> SimulatedJob:
    """Return the job to rehearse.

    Raises:
        RehearsalError: the world has no job or several, or the job's operator rejects it.
    """
    from ptcompile.rehearsal import RehearsalError

    jobs = world.jobs
    if len(jobs) != 1:
        names = ", ".join(job.title for job in jobs)
        raise RehearsalError(
            f"one job at a time: found {names}" if jobs else "no object here creates pods"
        )
    (job,) = jobs
    if rejections := job.expansion.refused:
        raise RehearsalError(f"its operator creates no pods from it: {rejections[0]}")

    return job
