"""Everything that is asked before a spec is built: of the spec itself, then of its job on one target, in this order.

What is asked of what was built stands in `compiler.verification`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptcompile._internal.spelling import closest_match
from ptcompile.compiler import emission
from ptcompile.compiler.checks import devices, entry, job as checks, targets as budget
from ptcompile.compiler.checks.kubernetes_fields import freeform
from ptcompile.compiler.frontend.parts import SpecParts
from ptcompile.compiler.location import TARGET, PlacedProblem, in_known_names
from ptcompile.diagnostics import Problem
from ptcompile.ir.job import Context, Job
from ptcompile.registry import emitting
from ptcompile.registry.targets import TARGETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions
    from ptcompile.spec.training_job import Spec


def machine_type(parts: SpecParts) -> Iterator[Problem]:
    """Yield what no machine with the spec's accelerator has."""
    if parts.job.accelerator is not None:
        from ptcompile.compiler.checks.machines import fit

        yield from fit(parts)


def in_kubernetes_words(parts: SpecParts) -> Iterator[Problem]:
    """Yield what Kubernetes' decoder has against the parts of a spec that are Kubernetes' own."""
    return freeform(parts.job)


CHECKS: tuple[Callable[[SpecParts], Iterator[Problem]], ...] = (
    checks.metadata,
    checks.start,
    entry.entry_point,
    checks.shape,
    checks.torchrun,
    checks.of_profile,
    checks.queue,
    checks.part_names,
    checks.role_names,
    checks.containers,
    checks.images,
    devices.amounts,
    devices.devices,
    machine_type,
    devices.fabric,
    checks.endings,
    in_kubernetes_words,
)
"""What the models cannot say of a spec: fields that contradict each other, the profile, arithmetic or Kubernetes."""


def check(parts: SpecParts, target: str | None = None, extensions: Extensions | None = None) -> list[PlacedProblem]:
    """Ask every question about a spec, and whether the target exists.

    A name that is only too long is left to the target, which says how long it may be.
    """
    problems = [problem for ask in CHECKS for problem in ask(parts)]
    target = target or parts.job.target
    targets = TARGETS if extensions is None else (*TARGETS, *extensions.targets)
    if target is not None and target not in targets:
        problems.append(_unknown_target(target, targets))
    if checks.only_too_long(parts.spec.metadata.name):
        others = [problem for problem in problems if problem.path != ("metadata", "name")]
        problems = problems if any(problem.severity == "error" for problem in others) else others
    return list(map(PlacedProblem, in_known_names(problems, parts.spec)))


def _unknown_target(name: str, targets: tuple[str, ...]) -> Problem:
    near = closest_match(name, targets)
    help = f"did you mean {near}?" if near else f"the targets are {', '.join(targets)}"
    return Problem(
        "unknown-target", ("spec", "target"), f"spec.target: no target {name!r}", help, authority="ptcompile"
    )


def _of_target(_: Spec, job: Job, context: Context) -> Iterator[Problem]:
    yield from context.target.unsupported(job, context.cluster)


def _of_queues(_: Spec, job: Job, context: Context) -> Iterator[Problem]:
    return budget.unsupported(job, context.cluster, context.target)


def _of_patches(spec: Spec, _: Job, context: Context) -> Iterator[Problem]:
    return emission.unsupported(spec.spec, context.target)


def _of_claims(_: Spec, job: Job, context: Context) -> Iterator[Problem]:
    return emitting.unsupported(job, context.cluster)


def _of_names(_: Spec, job: Job, context: Context) -> Iterator[Problem]:
    return budget.too_long(job, context.target)


TARGET_CHECKS: tuple[Callable[[Spec, Job, Context], Iterator[Problem]], ...] = (
    checks.reserved_env,
    _of_target,
    _of_queues,
    _of_patches,
    _of_claims,
    _of_names,
)
"""What the target cannot express of a job, and what no target can that the job's names or devices need."""


def check_target(spec: Spec, job: Job, context: Context) -> list[PlacedProblem]:
    """Ask every question about a job on its target."""
    return [PlacedProblem(problem, by=TARGET) for ask in TARGET_CHECKS for problem in ask(spec, job, context)]
