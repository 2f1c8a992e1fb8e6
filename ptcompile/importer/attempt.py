"""Import attempts: candidate specs for a manifest, compiled and compared; the best one wins and
gets comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ptcompile._internal.limits import limits
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.compiler.pipeline import compile_document
from ptcompile.diagnostics import Path, Problem, Problems, own_problem
from ptcompile.differ import DiffSide, ObjectDifference, compare
from ptcompile.differ.world import is_for_torchrun
from ptcompile.importer.candidate import Candidate, compile_candidate
from ptcompile.importer.draft import (
    draft,
    is_ignored,
    name_containers,
    without_compiled_env,
    without_ignored,
)
from ptcompile.importer.lifting import (
    lift_launch,
    lift_pod_security,
    lift_queue,
    lift_run_policy,
    lift_torchrun_defaults,
)
from ptcompile.importer.pod_template import main_of
from ptcompile.importer.residue import (
    MISSING,
    ImportGap,
    all_gaps,
    close_gaps,
    shrink_spec,
    sort_fields,
)
from ptcompile.kinds.reading import Read
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    kind_of,
    nested_map,
    nested_string,
    nested_value,
    object_name,
    values_in,
    with_leaves,
    without_keys,
)
from ptcompile.operators.table import record_of
from ptcompile.operators.trainer.read import read_with_runtime
from ptcompile.shell.calls import single_command
from ptcompile.simulator.meeting import training_roles
from ptcompile.simulator.world import simulate
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions
    from ptcompile.importer.draft import SpecData
    from ptcompile.spec.cluster_profile import ClusterProfile


class Proof(NamedTuple):
    """How the objects that a spec compiles to differ from the original ones."""

    objects: tuple[ObjectDifference, ...]
    problems: tuple[Problem, ...]
    """Problems from compiling the spec; their paths are spec paths."""
    compiled: bool
    manifests: tuple[JsonDict, ...] = ()
    """What the spec compiles to."""

    @property
    def same_world(self) -> bool:
        """Whether every pod starts and runs as before."""
        missing = any(
            difference.before is None or difference.after is None for difference in self.objects
        )
        return (
            self.compiled
            and not missing
            and not any(difference.facts for difference in self.objects)
        )

    @property
    def same_manifest(self) -> bool:
        """Whether no field of any object differs."""
        return self.same_world and not any(difference.changes for difference in self.objects)


_NO_PROOF = Proof((), (), compiled=False)
"""The proof of a spec that does not compile, as long as its errors are not needed."""


def prove_spec(
    spec: SpecData,
    manifest: Json,
    related: Objects,
    cluster: ClusterProfile,
    *,
    masks: bool = True,
    extensions: Extensions | None = None,
) -> Proof:
    """Compare the objects that the spec compiles to with the original object and the objects they
    replace.

    Other objects of `related` are only context: with n jobs in a stream, this avoids comparing n
    times n objects. Without `masks`, facts may contain secrets: for a proof that is only read if it
    has no facts. `extensions` are passes of plugins that compile runs too.
    """
    compiled = compile_document(spec, cluster, None, extensions, notes=False)
    if not compiled.manifests:
        return Proof((), compiled.problems, compiled=False)

    compiled_ids = {_identity(manifest) for manifest in compiled.manifests}
    namesakes = (
        same
        for new in compiled.manifests
        for same in related.by_name(kind_of(new), object_name(new))
    )
    replaceable = {id(namesake): namesake for namesake in namesakes}
    kept = [
        namesake for namesake in replaceable.values() if _identity(namesake) not in compiled_ids
    ]
    others = Objects((), related, frozenset(replaceable)) if replaceable else related
    before = DiffSide([manifest, *replaceable.values()], cluster.versions(), others)
    after = DiffSide([*compiled.manifests, *kept], cluster.versions(), others)
    unmasked = compare(before, after, masks=False)
    shows_facts = masks and any(difference.facts for difference in unmasked)

    return Proof(
        compare(before, after) if shows_facts else unmasked,
        compiled.problems,
        compiled=True,
        manifests=compiled.manifests,
    )


def _identity(manifest: Json) -> tuple[object, ...]:
    return (
        kind_of(manifest),
        nested_string(manifest, "metadata", "namespace"),
        object_name(manifest),
    )


_MAX_ROUNDS = 4
_REJECTED_RANK = 1 << 20
_CHANGED_RANK = 1 << 10


class Attempt(NamedTuple):
    """A spec built from one reading, with its proof."""

    candidate: Candidate
    proof: Proof
    read: Read
    lifted: bool

    @property
    def spec(self) -> SpecData:
        """The spec itself."""
        return self.candidate.spec


class ImportOutcome(NamedTuple):
    """The result of importing one object."""

    best: Attempt | None
    problems: tuple[Problem, ...] = ()


def without_nulls(value: Any) -> Any:
    """Return an object as a server decodes it: null fields are absent, and null list items are
    empty.
    """
    if isinstance(value, Mapping):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if not isinstance(value, list):
        return value
    empty: Any = "" if any(isinstance(item, str) for item in value) else {}
    return [empty if item is None else without_nulls(item) for item in value]


def import_object(
    manifest: Json, related: Objects, cluster: ClusterProfile, *, exact: bool
) -> ImportOutcome:
    """Return the first attempt that compiles to an equivalent object, or else the closest one.

    With `exact`, commands are never rewritten as torchrun options, so fields stay the same and not
    only their meaning. Of the jobs of a stream that differ only in their names, the first is
    searched for, and what is found for it is proved for the others.
    """
    by_shape = related.cached(import_object, dict[str, Attempt])
    name = nested_string(manifest, "metadata", "name")
    shape = shape_of(manifest)
    if shape in by_shape:
        attempt = _prove_renamed(by_shape[shape], name, manifest, related, cluster)
        if attempt is not None:
            return ImportOutcome(attempt)

    outcome = _search(manifest, related, cluster, exact=exact)
    best = outcome.best
    if name and best is not None and best.proof.same_world:
        by_shape[shape] = best._replace(candidate=Candidate(best.spec, None))

    return outcome


def shape_of(document: Json) -> str:
    """Return an object or a spec as text without its name: equal for those that differ in nothing
    else.
    """
    return str(_rename(document, nested_string(document, "metadata", "name"), "\0"))


def _rename(value: Any, old: str, new: str) -> Any:
    """Return the data with a name replaced in its texts, where it is a word."""
    word = re.compile(rf"(?<![a-zA-Z0-9]){re.escape(old)}(?![a-zA-Z0-9])")
    return with_leaves(
        value, lambda leaf: word.sub(new, leaf) if isinstance(leaf, str) and old in leaf else leaf
    )


def _prove_renamed(
    like: Attempt, name: str, manifest: Json, related: Objects, cluster: ClusterProfile
) -> Attempt | None:
    """Return the attempt for a job that differs from another only in its name, or None if that
    proves less than it did for the other.
    """
    old = like.spec["metadata"]["name"]
    spec = _rename(like.spec, old, name)
    proof = prove_spec(spec, manifest, related, cluster)
    pods = [role._replace(template=_rename(role.template, old, name)) for role in like.read.pods]
    attempt = like._replace(
        candidate=Candidate(spec, proof.manifests),
        proof=proof,
        read=like.read._replace(pods=tuple(pods)),
    )
    is_alike = [*differences(attempt)] == _rename([*differences(like)], old, name)
    return attempt if proof.same_world and is_alike else None


def _search(
    manifest: Json, related: Objects, cluster: ClusterProfile, *, exact: bool
) -> ImportOutcome:
    """Return the best of the attempts at all readings of a job.

    A job with a node role and an auxiliary role may read as a master and a worker; if only one of
    the two trains, the next reading takes precedence.
    """
    best: Attempt | None = None
    problems: list[Problem] = []
    original, manifest = manifest, without_ignored(manifest)
    for reading in record_of(manifest).read(manifest, related):
        obstacles = [*reading.problems, *_too_many_roles(reading)]
        problems += [problem for problem in obstacles if problem not in problems]
        read = name_containers(reading)
        for spec, lifts in (
            () if obstacles else _candidate_specs(manifest, read, related, cluster, exact=exact)
        ):
            refined = _refine_spec(spec, manifest, read, related, cluster, lifts=lifts)
            patches = _rank_patches(refined.spec)
            if best is not None and patches > 0 and patches >= _rank_attempt(best):
                continue  # with as many patches, it cannot be better than the best attempt

            attempt = Attempt(refined, _NO_PROOF, read, lifts)
            if refined.manifests is not None:
                proof = prove_spec(refined.spec, original, related, cluster, masks=False)
                attempt = attempt._replace(proof=proof)
                if not proof.compiled:  # perhaps for a field that the smallest spec does not have
                    attempt = _shrink_attempt(attempt, original, related, cluster)
            if (
                best is None
                or _rank_attempt(attempt) < _rank_attempt(best)
                or not best.proof.compiled
                or _rank_attempt(attempt) == 0
            ):
                best = attempt
            if _rank_attempt(attempt) == 0:
                break

        has_equal_names = read is reading
        if (
            best is not None
            and _rank_attempt(best) == 0
            and (has_equal_names or _all_train(manifest, read, related, cluster))
        ):
            return ImportOutcome(_shrink_attempt(best, original, related, cluster))

    if best is None:
        return ImportOutcome(None, tuple(problems))

    return ImportOutcome(_shrink_attempt(best, original, related, cluster))


def _too_many_roles(reading: Read) -> Problems:
    if len(reading.pods) > (max_roles := limits().roles):
        text = f"it has {len(reading.pods)} kinds of pods, and a spec has at most {max_roles} roles"
        help = "keep the manifest as it is"
        yield own_problem("not-importable", ("spec",), text, help, stage="style")


def _shrink_attempt(
    attempt: Attempt, manifest: Json, related: Objects, cluster: ClusterProfile
) -> Attempt:
    """Return the attempt with the smallest spec that compiles to the same objects."""
    smallest = shrink_spec(lift_pod_security(attempt.candidate, cluster), cluster)
    smallest = lift_torchrun_defaults(smallest, cluster)
    smallest = smallest._replace(spec=sort_fields(smallest.spec))
    is_proved = attempt.proof.same_world and smallest.manifests == attempt.candidate.manifests
    proof = attempt.proof if is_proved else prove_spec(smallest.spec, manifest, related, cluster)
    return attempt._replace(candidate=smallest, proof=proof)


def _rank_attempt(attempt: Attempt) -> int:
    """Return 0 for an attempt without a patch; more per patched field, and yet more if other fields
    change; most if the pods differ or it does not compile.
    """
    if not attempt.proof.compiled:
        return _REJECTED_RANK
    if not attempt.proof.same_world:
        return _REJECTED_RANK - 1
    changed = _CHANGED_RANK if any(differences(attempt)) else 0
    return min(changed + _rank_patches(attempt.spec), _REJECTED_RANK - 2)


def _rank_patches(spec: SpecData) -> int:
    """Return the number of patched fields, the least rank that an attempt with this spec may
    have.
    """
    values = values_in(spec["spec"].get("manifest", {}))
    leaves = sum(not isinstance(value, dict | list) for value in values)
    return min(leaves, _REJECTED_RANK - 2)


def _all_train(manifest: Json, read: Read, related: Objects, cluster: ClusterProfile) -> bool:
    """Return whether the simulated pods of every role that the reading counts as nodes do train."""
    world = simulate([manifest], versions=cluster.versions(), others=related)
    return bool(world.jobs) and len(training_roles(world.jobs[0])) >= sum(
        pods.trains for pods in read.pods
    )


def _candidate_specs(
    manifest: Json, read: Read, related: Objects, cluster: ClusterProfile, *, exact: bool
) -> Iterator[tuple[SpecData, bool]]:
    """Yield the specs to try for one reading: torchrun options as fields, then the command as
    written.
    """
    gpu = hardware.gpu_resource(cluster, None)
    spec = draft(manifest, read, gpu)
    if not exact:
        world = simulate([manifest], versions=cluster.versions(), others=related)
        lifted_spec = lift_launch(spec, world.jobs[0]) if world.jobs else None
        if lifted_spec is not None:
            yield lifted_spec, True

    yield spec, False
    if "elastic" in spec["spec"]:  # the spec may have no field for the object's torchrun options
        yield {**spec, "spec": without_keys(spec["spec"], "elastic")}, False


def _refine_spec(
    spec: SpecData,
    manifest: Json,
    read: Read,
    related: Objects,
    cluster: ClusterProfile,
    *,
    lifts: bool,
) -> Candidate:
    """Return the spec with fields for everything in which it differs from the manifest."""
    candidate = lift_queue(without_compiled_env(spec), manifest, related, cluster)
    candidate = lift_run_policy(candidate, manifest, read, related, cluster)
    for _ in range(_MAX_ROUNDS):
        if candidate.manifests is None:
            break
        differing = all_gaps(candidate.manifests, manifest, read)
        gaps = [gap for gap in differing if not (lifts and _is_in_launch(gap, candidate.spec))]
        closed = close_gaps(candidate.spec, gaps, manifest, read)
        if not gaps or closed == candidate.spec:
            break
        candidate = compile_candidate(closed, cluster)

    return candidate


def _is_in_launch(gap: ImportGap, spec: SpecData) -> bool:
    """Return whether a lifted launch writes a gap differently: the command line, or what passes
    torchrun options.
    """
    if gap.path in _PROCESSES_PATHS:
        return gap.theirs is MISSING
    return _is_launch_path(gap.path) and f"$({gap.path[-1].strip('[]')})" not in str(spec)


_PROCESSES_PATHS = {("spec", "nprocPerNode")}
"""Fields from which an operator sets torchrun's number of processes."""


def _is_launch_path(path: tuple[str, ...]) -> bool:
    if path in _PROCESSES_PATHS or not {"command", "args"}.isdisjoint(path):
        return True
    return path[-2:-1] == ("env",) and is_for_torchrun(path[-1].strip("[]"))


def differences(attempt: Attempt) -> Iterator[str]:
    """Yield a sentence for each difference between the compiled spec and the original objects."""
    for obj in attempt.proof.objects:
        if obj.before is None or obj.after is None:
            yield f"{obj.after or obj.before} is {'new' if obj.before is None else 'gone'}"
        for fact in obj.facts:
            yield (
                f"{fact.subject}: {fact.what} changes from {fact.before or 'absent'} to "
                f"{fact.after or 'absent'}"
            )
        if obj.facts:
            continue

        for change in obj.changes:
            is_same = is_ignored(change.path) or _is_legacy_selector(change.path)
            if not is_same and not (attempt.lifted and _is_launch_path(change.path)):
                yield f"{obj.before}: {'.'.join(change.path)} is {change.kind}"


def _is_legacy_selector(path: tuple[str, ...]) -> bool:
    """Return whether a path is in a Service's selector of a Job's pods by either of the two
    labels that they have.
    """
    return path[:2] == ("spec", "selector") and path[-1] in {
        "job-name",
        "batch.kubernetes.io/job-name",
    }


def compile_errors(attempt: Attempt) -> Problems:
    """Yield the errors that keep the spec from compiling."""
    yield from (problem for problem in attempt.proof.problems if problem.severity == "error")


def inline_runtime(
    spec: SpecData, manifest: Json, related: Objects, cluster: ClusterProfile
) -> SpecData | None:
    """Return the spec with the pods of its runtime written out, or None if it uses no runtime, the
    runtime is unknown, or compile writes the runtime itself.
    """
    base = record_of(manifest).runtime(manifest, related, cluster.versions())
    is_written = base is None or object_name(base.source) == object_name(manifest)
    if is_written and "runtimeRef" not in spec["spec"]:
        return None

    read = read_with_runtime(manifest, related)
    if read is None:
        return None

    inlined = draft(manifest, read, hardware.gpu_resource(cluster, None))
    patches = {field: spec["spec"][field] for field in ("manifest",) if field in spec["spec"]}

    return {**inlined, "spec": {**inlined["spec"], **patches}}


_MAX_LAUNCH_LENGTH = 80
"""Number of characters up to which a comment quotes the original launch in full."""


def comments(attempt: Attempt) -> dict[Path, str]:
    """Return YAML comments for the spec, keyed by the path of their line."""
    return dict(_comments(attempt))


def _comments(attempt: Attempt) -> Iterator[tuple[Path, str]]:
    """Yield the comments on a spec, with their paths."""
    spec: SpecData = attempt.spec["spec"]
    command = spec.get("command")
    if spec.get("sharedMemory") is False:
        yield ("spec", "sharedMemory"), "none in the manifest; delete this line to get one (PTC302)"
    if nested_value(spec, "runPolicy", "backoffLimit") == "Unlimited":
        yield ("spec", "runPolicy"), "no limit in the manifest: restarts forever (PTC717)"

    if attempt.lifted:
        field = "script" if "script" in spec else "module"
        yield ("spec", field), f"was: {_launch_text(attempt)}"
    elif isinstance(command, list) and any(
        "torchrun" in word or "torch.distributed" in word for word in map(str, command)
    ):
        yield ("spec", "command"), "kept as is: script and elastic would not mean the same"

    if "nodes" in spec and ":" in str(nested_map(spec, "elastic").get("nnodes", "")):
        yield ("spec", "nodes"), "at the start"
    if any(
        value is None or (isinstance(value, dict) and None in value.values())
        for value in nested_map(spec, "elastic").values()
    ):
        yield ("spec", "elastic"), "null: left to torchrun, as in the manifest"

    yield from _pod_comments(spec, ("spec",))
    if nested_map(spec, "names").keys() & {"node", "master", "worker", "service"}:
        yield ("spec", "names"), "host names are derived from them"
    if "manifest" in spec:
        yield ("spec", "manifest"), "for this target only: no spec field expresses it"


def _pod_comments(block: SpecData, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the comments on a block of pods and its roles, with their paths."""
    if None in nested_map(block, "env").values():
        yield (*path, "env"), "null: not in the manifest"
    if nested_map(block, "resources", "requests") and not nested_map(block, "resources", "limits"):
        yield (*path, "resources"), "requests without limits"
    for role in ("master", "worker"):
        if isinstance(block.get(role), dict):
            yield from _pod_comments(block[role], (*path, role))


def _launch_text(attempt: Attempt) -> str:
    """Return the manifest's launch command up to the script or module."""
    spec = attempt.spec["spec"]
    entry = spec.get("script") or spec.get("module")
    for pods in attempt.read.pods:
        main = main_of(pods)
        args = [str(arg) for arg in (*(main.get("command") or ()), *(main.get("args") or ()))]
        if args:
            words = single_command(args) or args
            launch = " ".join(words[: words.index(entry)] if entry in words else words)
            if len(launch) <= _MAX_LAUNCH_LENGTH and "\n" not in launch:
                return launch
            return f"{words[0]} ..."

    return "torchrun"
