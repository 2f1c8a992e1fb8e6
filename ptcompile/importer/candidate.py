"""Candidate specs with the manifests that they compile to.

Only what decides the manifests is compiled: a candidate is compared with the original objects, and the spec that wins
is compiled with all checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler import passes as passing
from ptcompile.compiler.build import build
from ptcompile.compiler.checks.job import run_policy
from ptcompile.compiler.frontend.lowering import lower, lower_run_policy
from ptcompile.compiler.frontend.parts import SpecParts, parts_of
from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.ir.job import Context, Job, Target, backend
from ptcompile.registry.targets import default_target, target_named
from ptcompile.spec.reader import SPEC_FILE, Block, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.importer.draft import SpecData
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.spec.cluster_profile import ClusterProfile

    Manifests = tuple[dict[str, Any], ...] | None
    """None if compile rejects the spec."""


_RUN_POLICY: Final = Block(SPEC_FILE, "RunPolicy")


class Candidate(NamedTuple):
    """A spec and what it compiles to."""

    spec: SpecData
    manifests: Manifests


def compile_candidate(spec: SpecData, cluster: ClusterProfile) -> Candidate:
    """Return the spec with the manifests that it compiles to."""
    return Candidate(spec, compile_manifests(spec, cluster))


def compile_manifests(spec: SpecData, cluster: ClusterProfile) -> Manifests:
    """Return the manifests that the spec compiles to, or None if compile rejects it."""
    decoded, _ = decode_spec(spec)
    if decoded is None:
        return None
    parts = parts_of(decoded, cluster)
    return None if _has_conflict(parts) else _build(parts, lower(decoded, cluster, parts))


def compile_with_policies(spec: SpecData, policies: Iterable[Json], cluster: ClusterProfile) -> Iterator[Candidate]:
    """Yield the spec with each of the run policies that compile accepts.

    Everything else is lowered once, and the passes run once for policies with the same `restartInPlace` and rendezvous
    backend, which are all that passes read of a policy.
    """
    decoded, _ = decode_spec(spec)
    if decoded is None:
        return
    parts = parts_of(decoded, cluster)
    lowered = lower(decoded, cluster, parts)
    after_passes: dict[tuple[object, ...], Job] = {}
    for fields in policies:
        policy, violations = read(_RUN_POLICY, fields)
        if violations:
            continue
        changed = parts._replace(spec=decoded.replace(spec=decoded.spec.replace(run_policy=policy)))
        if _has_conflict(changed):
            continue
        job = lowered._replace(run_policy=lower_run_policy(policy))
        target = _target_of(changed, job)
        if target is None:
            continue
        context = Context(cluster, target)
        key = target.name, job.run_policy.restart_in_place, job.launch and backend(job, job.launch)
        if key not in after_passes:
            after_passes[key] = passing.run(job, context)
        job = after_passes[key]._replace(run_policy=job.run_policy)
        manifests = build(changed.spec, job, context, passes=()).named
        yield Candidate({**spec, "spec": {**spec["spec"], "runPolicy": fields}}, manifests)


def _has_conflict(parts: SpecParts) -> bool:
    return any(problem.severity == "error" for problem in run_policy(parts))


def _build(parts: SpecParts, job: Job) -> Manifests:
    target = _target_of(parts, job)
    return None if target is None else build(parts.spec, job, Context(parts.cluster, target)).named


def _target_of(parts: SpecParts, job: Job) -> Target | None:
    """Return the target of the job, or None if it does not support the job."""
    named, cluster = parts.job.target, parts.cluster
    target = target_named(named) if named is not None else default_target(job, cluster)
    is_unsupported = any(problem.severity == "error" for problem in target.unsupported(job, cluster))
    return None if is_unsupported else target
