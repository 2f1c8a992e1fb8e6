"""One object that trains, and those beside it, as the smallest spec that compiles back to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.findings.diagnostics import Problem
from ptcompile.importing.compiled import manifests
from ptcompile.importing.draft import draft, one_name, without_written
from ptcompile.importing.endings import with_endings
from ptcompile.importing.hardened import hardened
from ptcompile.importing.launches import lifted
from ptcompile.importing.proof import Proof, prove
from ptcompile.importing.queued import queued
from ptcompile.importing.residue import Gap, all_gaps, close
from ptcompile.importing.shrink import shrink
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.operators.all import kind_named
from ptcompile.operators.common.read import Read
from ptcompile.operators.trainer.read import folded
from ptcompile.simulation import simulate
from ptcompile.simulation.meeting import training
from ptcompile.typed import NamedTuple
from ptcompile.vocabulary.cluster import hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.importing.draft import Spec
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.vocabulary.cluster.model import ClusterProfile

_ROUNDS = 4
_REFUSED = 1 << 20


class Tried(NamedTuple):
    """A spec made of one reading, and how well it holds."""

    spec: Spec
    proof: Proof
    read: Read
    lifted: bool


class Outcome(NamedTuple):
    """What became of one object."""

    best: Tried | None
    problems: tuple[Problem, ...] = ()


def without_nulls(value: Any) -> Any:
    """An object as a server decodes it: null is an absent field, and in a list an empty item."""
    if isinstance(value, Mapping):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if not isinstance(value, list):
        return value
    empty: Any = "" if any(isinstance(one, str) for one in value) else {}
    return [empty if one is None else without_nulls(one) for one in value]


def run(manifest: Json, beside: Sequence[Json], cluster: ClusterProfile, *, exact: bool) -> Outcome:
    """The first reading that compiles to the same; else the one that comes nearest, with what differs.

    `exact` keeps every command as it is written, so that the fields are the same and not only what they mean.
    A node and a role beside it look like a master and a worker: where only one of them trains, the next reading goes
    before.
    """
    best: Tried | None = None
    problems: list[Problem] = []
    for found in kind_named(kind_of(manifest)).read(manifest, tuple(beside)):
        problems += found.problems
        wanted, read = one_name(manifest, found)
        for spec, lifts in () if read.problems else _specs(wanted, read, beside, cluster, exact=exact):
            tried = _tried(spec, manifest, wanted, read, beside, cluster, lifts=lifts)
            if best is None or _rank(tried) < _rank(best) or not best.proof.compiled or _rank(tried) == 0:
                best = tried
            if _rank(tried) == 0:
                break
        if best is not None and _rank(best) == 0 and (read is found or _all_train(manifest, read, beside, cluster)):
            return Outcome(best)
    return Outcome(best, tuple(problems) if best is None else ())


def _rank(tried: Tried) -> int:
    """0 for the same in the words of a spec; more for each line of a patch for one target; most for what differs."""
    if not tried.proof.compiled:
        return _REFUSED
    if not tried.proof.same_world:
        return _REFUSED - 1
    return min(_leaves(tried.spec["spec"].get("manifest", {})), _REFUSED - 2)


def _all_train(manifest: Json, read: Read, beside: Sequence[Json], cluster: ClusterProfile) -> bool:
    """Whether the simulated pods of every role that a reading takes for nodes train."""
    world = simulate([manifest], versions=cluster.versions(), others=beside)
    return bool(world.jobs) and len(training(world.jobs[0])) >= sum(pods.trains for pods in read.pods)


def _leaves(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return sum(map(_leaves, inner)) if inner is not None else 1


def _specs(
    manifest: Json, read: Read, beside: Sequence[Json], cluster: ClusterProfile, *, exact: bool
) -> Iterator[tuple[Spec, bool]]:
    """The specs to try of one reading: with torchrun's launch in words, then with the command as it is."""
    gpu = hardware.gpu_resource(cluster, None)
    spec = draft(manifest, read, gpu)
    if not exact:
        world = simulate([manifest], versions=cluster.versions(), others=beside)
        found = lifted(spec, world.jobs[0]) if world.jobs else None
        if found is not None:
            yield found, True
    yield spec, False
    if "elastic" in spec["spec"]:  # what the object tells torchrun may be no word of a spec
        yield {**spec, "spec": {word: value for word, value in spec["spec"].items() if word != "elastic"}}, False


def _tried(
    spec: Spec,
    manifest: Json,
    wanted: Json,
    read: Read,
    beside: Sequence[Json],
    cluster: ClusterProfile,
    *,
    lifts: bool,
) -> Tried:
    """A spec with words for all that differs from the object that is `wanted`, proved with the one that came in."""
    spec = queued(without_written(spec), wanted, beside, cluster)
    spec = with_endings(spec, wanted, read, cluster)
    for _ in range(_ROUNDS):
        made = manifests(spec, cluster)
        if made is None:
            break
        found = [one for one in all_gaps(made, wanted, read) if not (lifts and _is_start(one))]
        closed = close(spec, found, wanted, read)
        if not found or closed.spec == spec:
            break
        spec = closed.spec
    spec = shrink(hardened(spec, cluster), cluster)
    return Tried(spec, prove(spec, [manifest], beside, cluster), read, lifts)


def _is_start(gap: Gap) -> bool:
    """Whether a gap is in a command line, which a lifted launch spells in its own way."""
    return _in_start(gap.path)


def _in_start(path: tuple[str, ...]) -> bool:
    return any(part in {"command", "args"} for part in path)


def differences(tried: Tried) -> Iterator[str]:
    """What differs between the compiled spec and what came in, in words."""
    for one in tried.proof.objects:
        if one.before is None or one.after is None:
            yield f"{one.after or one.before} is {'new' if one.before is None else 'gone'}"
        for fact in one.facts:
            yield f"{fact.subject}: {fact.what} was {fact.before or 'not there'} and is {fact.after or 'not there'}"
        for change in () if one.facts else one.changes:
            if not (tried.lifted and _in_start(change.path)):
                yield f"{one.before}: {'.'.join(change.path)} is {change.kind}"


def refusals(tried: Tried) -> Iterator[Problem]:
    """Why the spec does not compile."""
    yield from (one for one in tried.proof.problems if one.severity == "error")


def without_runtime(spec: Spec, manifest: Json, beside: Sequence[Json], cluster: ClusterProfile) -> Spec | None:
    """The job of a spec with a runtime as one that brings its pods along; None where there is no runtime to know."""
    if "runtimeRef" not in spec["spec"]:
        return None
    read = folded(manifest, tuple(beside))
    if read is None:
        return None
    whole = draft(manifest, read, hardware.gpu_resource(cluster, None))
    patches = {word: spec["spec"][word] for word in ("manifest",) if word in spec["spec"]}
    return {**whole, "spec": {**whole["spec"], **patches}}
