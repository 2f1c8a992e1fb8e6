"""Checks that run before a spec is built: of the spec itself, then of its job on one target, in
this order.

`compiler.verification` checks what was built.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.spelling import closest_match
from ptcompile.compiler.build import unsupported_patches
from ptcompile.compiler.checks import devices, entry, job as checks, targets as budget
from ptcompile.compiler.checks.kubernetes_fields import kubernetes_field_problems
from ptcompile.compiler.frontend.aliases import find_value
from ptcompile.compiler.frontend.parts import SpecParts
from ptcompile.compiler.location import TARGET, PlacedProblem, at_generate_name
from ptcompile.diagnostics import Problems, has_error, own_problem
from ptcompile.ir.job import Context, Job
from ptcompile.operators.shared import emitting, endings
from ptcompile.operators.targets import TARGETS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions
    from ptcompile.spec.training_job import Spec


def machine_type(parts: SpecParts) -> Problems:
    """Yield an error for amounts that no machine type with the spec's accelerator has."""
    if parts.job.accelerator is not None:
        from ptcompile.compiler.checks.machines import machine_misfits

        yield from machine_misfits(parts)


def kubernetes_fields(parts: SpecParts) -> Problems:
    """Yield the errors of Kubernetes' decoder in the spec fields that have Kubernetes'
    structure.
    """
    return kubernetes_field_problems(parts.job)


CHECKS: tuple[Callable[[SpecParts], Problems], ...] = (
    checks.metadata,
    checks.program,
    entry.entry_point,
    checks.node_counts,
    checks.torchrun,
    checks.profile_references,
    checks.queue,
    checks.part_names,
    checks.gang_size,
    checks.check_role_names,
    checks.containers,
    checks.images,
    devices.amounts,
    devices.devices,
    machine_type,
    devices.fabric,
    checks.run_policy,
    kubernetes_fields,
)
"""Checks that the models cannot express: contradicting fields, the profile, arithmetic and
Kubernetes' own rules.
"""


def check(
    parts: SpecParts, target: str | None = None, extensions: Extensions | None = None
) -> list[PlacedProblem]:
    """Run all checks of a spec, and check that the target exists.

    A name that is only too long is left to the target, which knows its limit.
    """
    problems = [problem for run_check in CHECKS for problem in run_check(parts)]
    target = target or parts.job.target
    targets = TARGETS if extensions is None else (*TARGETS, *extensions.targets)
    if target is not None and target not in targets:
        suggestion = find_value("target", target) or closest_match(target, targets)
        help = f"did you mean {suggestion}?" if suggestion else f"use one of {', '.join(targets)}"
        message = f"no target {target!r}"
        problems.append(own_problem("unknown-target", ("spec", "target"), message, help))
    if checks.is_only_too_long(parts.spec.metadata.name):
        rest = [problem for problem in problems if problem.path != ("metadata", "name")]
        if not has_error(rest):
            problems = rest
    return list(map(PlacedProblem, at_generate_name(problems, parts.spec)))


def target_problems(spec: Spec, job: Job, context: Context) -> Problems:
    """Yield what a job's target, or any target, cannot express."""
    cluster = context.cluster
    target = context.target
    yield from checks.reserved_env(spec, job, context)
    yield from target.unsupported(job, cluster)
    yield from budget.unsupported_queueing(job, cluster, target)
    yield from unsupported_patches(spec.spec, target)
    yield from emitting.check_claim_support(job, cluster)
    yield from endings.check_restart_rules(job, cluster)
    yield from budget.unread_annotations(job, target)
    yield from budget.too_long(job, target)


def check_target(spec: Spec, job: Job, context: Context) -> list[PlacedProblem]:
    """Run all checks of a job on its target."""
    return [PlacedProblem(problem, stage=TARGET) for problem in target_problems(spec, job, context)]
