"""Candidate specs with the manifests that they compile to.

Only what decides the manifests is compiled: a candidate is compared with the original objects, and
the spec that wins is compiled with all checks.
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
from ptcompile.diagnostics import has_error
from ptcompile.ir.job import Context, Job, Target, backend, map_templates
from ptcompile.kubernetes.unstructured import Json, JsonDict
from ptcompile.operators.targets import default_target, target_named
from ptcompile.spec.reader import SPEC_FILE, Block, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.importer.draft import SpecData
    from ptcompile.spec.cluster_profile import ClusterProfile

    Manifests = tuple[JsonDict, ...] | None
    """None if compile rejects the spec."""


_RUN_POLICY = Block(SPEC_FILE, "RunPolicy")


class PassedJob(NamedTuple):
    """A spec's job before and after the passes, which ran for a target."""

    parts: SpecParts
    target: Target
    before: Job
    after: Job


class Candidate(NamedTuple):
    """A spec and what it compiles to."""

    spec: SpecData
    manifests: Manifests
    run: PassedJob | None = None
    """None if compile rejects the spec."""


def compile_candidate(
    spec: SpecData, cluster: ClusterProfile, like: Candidate | None = None
) -> Candidate:
    """Return the spec with the manifests that it compiles to.

    If `like` is set, its spec has the same metadata and patches, and what the two specs have in
    common is compiled once.
    """
    lowered = _lower(spec, cluster)
    if lowered is None:
        return Candidate(spec, None)

    parts, job = lowered
    target = None if _has_conflict(parts) else _target_of(parts, job)
    if target is None:
        return Candidate(spec, None)

    run = None if like is None else like.run
    if like is not None and run is not None and run.target == target and run.before == job:
        return like._replace(spec=spec, run=run._replace(parts=parts))

    return _build(spec, parts, job, target, [] if run is None else [run])


def without_env(candidate: Candidate) -> Candidate:
    """Return the candidate with no variables in its pods, each of which has those of all roles'
    hosts.
    """
    run = candidate.run
    if run is None:
        return candidate
    after = map_templates(run.after, lambda template: template.with_env(()))
    return candidate._replace(run=run._replace(after=after))


def compile_manifests(spec: SpecData, cluster: ClusterProfile) -> Manifests:
    """Return the manifests that the spec compiles to, or None if compile rejects it."""
    return compile_candidate(spec, cluster).manifests


def compile_with_policies(
    candidate: Candidate, policies: Iterable[Json], cluster: ClusterProfile
) -> Iterator[Candidate]:
    """Yield the spec with each of the run policies that compile accepts. Everything else is
    compiled once.
    """
    spec = candidate.spec
    run = candidate.run
    lowered = _lower(spec, cluster) if run is None else (run.parts, run.before)
    if lowered is None:
        return

    parts, job = lowered
    runs = [] if run is None else [run]
    for fields in policies:
        policy, violations = read(_RUN_POLICY, fields)
        if violations:
            continue

        changed = parts._replace(spec=parts.spec.replace(spec=parts.job.replace(run_policy=policy)))
        if _has_conflict(changed):
            continue

        changed_job = job._replace(run_policy=lower_run_policy(policy))
        target = _target_of(changed, changed_job)
        if target is None:
            continue

        with_policy = {**spec, "spec": {**spec["spec"], "runPolicy": fields}}
        yield _build(with_policy, changed, changed_job, target, runs)


def _lower(spec: SpecData, cluster: ClusterProfile) -> tuple[SpecParts, Job] | None:
    """Return the parts of a spec and its job before the passes, or None if it cannot be decoded."""
    decoded, _ = decode_spec(spec)
    if decoded is None:
        return None
    parts = parts_of(decoded, cluster)
    return parts, lower(decoded, cluster, parts)


def _build(
    spec: SpecData, parts: SpecParts, job: Job, target: Target, runs: list[PassedJob]
) -> Candidate:
    """Build the manifests. An equal run of the passes among `runs` is used again; otherwise the
    passes run, and the run is added.
    """
    context = Context(parts.cluster, target)
    same = (run for run in runs if run.target == target and _is_same_to_passes(run.before, job))
    if run := next(same, None):
        run = PassedJob(parts, target, job, run.after._replace(run_policy=job.run_policy))
    else:
        run = PassedJob(parts, target, job, passing.run(job, context))
        runs.append(run)
    built = build(parts.spec, run.after, context, passes=(), shared=True)
    return Candidate(spec, built.named, run)


def _is_same_to_passes(a: Job, b: Job) -> bool:
    """Return whether the passes change two jobs alike: they read restartInPlace of the run policy,
    and the rendezvous backend that it leads to.
    """
    if (
        a.run_policy.restart_in_place != b.run_policy.restart_in_place
        or a._replace(run_policy=b.run_policy) != b
    ):
        return False
    return a.launch is None or backend(a, a.launch) == backend(b, a.launch)


def _has_conflict(parts: SpecParts) -> bool:
    return has_error(run_policy(parts))


def _target_of(parts: SpecParts, job: Job) -> Target | None:
    """Return the target of the job, or None if it does not support the job."""
    named = parts.job.target
    cluster = parts.cluster
    target = target_named(named) if named is not None else default_target(job, cluster)
    is_unsupported = has_error(target.unsupported(job, cluster))
    return None if is_unsupported else target
