"""Readings of a manifest tried and proved, the best one kept, with its comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.pipeline import compile_document
from ptcompile.diagnostics import Problem
from ptcompile.differ import DiffSide, ObjectDifference, compare
from ptcompile.importer.draft import draft, one_name, without_written
from ptcompile.importer.lifting import hardened, lifted, queued, with_endings
from ptcompile.importer.residue import ImportGap, all_gaps, close, manifests, shrink
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import as_mappings, as_string, kind_of, nested_map, object_name
from ptcompile.operators.trainer.read import folded
from ptcompile.registry.reading import Read
from ptcompile.registry.table import kind_named
from ptcompile.simulator.meeting import training_roles
from ptcompile.simulator.world import simulate
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.importer.draft import SpecData
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.spec.cluster_profile import ClusterProfile


class Proof(NamedTuple):
    """What a spec compiles to against what came in."""

    objects: tuple[ObjectDifference, ...]
    problems: tuple[Problem, ...]
    """What compiling it said; paths are those of the spec."""
    compiled: bool

    @property
    def same_world(self) -> bool:
        """Whether every pod lives as before."""
        missing = any(one.before is None or one.after is None for one in self.objects)
        return self.compiled and not missing and not any(one.facts for one in self.objects)

    @property
    def same_manifest(self) -> bool:
        """Whether no path of any object differs."""
        return self.same_world and not any(one.changes for one in self.objects)


def prove(spec: SpecData, manifest: Json, beside: Objects, cluster: ClusterProfile) -> Proof:
    """Compare what the spec compiles to with the object that it is made of, and those that it takes the place of.

    The others of `beside` stay as they are, and are only looked at: a stream of n jobs compares no n times n objects.
    """
    compiled = compile_document(spec, cluster)
    if not compiled.manifests:
        return Proof((), compiled.problems, compiled=False)
    made = {_identity(one) for one in compiled.manifests}
    named = (other for one in compiled.manifests for other in beside.named(kind_of(one), object_name(one)))
    near = {id(one): one for one in named}
    kept = [one for one in near.values() if _identity(one) not in made]
    others = Objects((), beside, frozenset(near)) if near else beside
    before = DiffSide([manifest, *near.values()], cluster.versions(), others)
    after = DiffSide([*compiled.manifests, *kept], cluster.versions(), others)
    return Proof(compare(before, after), compiled.problems, compiled=True)


def _identity(manifest: Json) -> tuple[object, ...]:
    return kind_of(manifest), as_string(nested_map(manifest, "metadata").get("namespace")), object_name(manifest)


_ROUNDS = 4
_REFUSED = 1 << 20


class Tried(NamedTuple):
    """A spec made of one reading, and how well it holds."""

    spec: SpecData
    proof: Proof
    read: Read
    lifted: bool


class ImportOutcome(NamedTuple):
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


def run(manifest: Json, beside: Objects, cluster: ClusterProfile, *, exact: bool) -> ImportOutcome:
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
            tried = _attempt(spec, manifest, wanted, read, beside, cluster, lifts=lifts)
            if best is None or _rank(tried) < _rank(best) or not best.proof.compiled or _rank(tried) == 0:
                best = tried
            if _rank(tried) == 0:
                break
        if best is not None and _rank(best) == 0 and (read is found or _all_train(manifest, read, beside, cluster)):
            return ImportOutcome(best)
    return ImportOutcome(best, tuple(problems) if best is None else ())


def _rank(tried: Tried) -> int:
    """0 for the same in the words of a spec; more for each line of a patch for one target; most for what differs."""
    if not tried.proof.compiled:
        return _REFUSED
    if not tried.proof.same_world:
        return _REFUSED - 1
    return min(_leaves(tried.spec["spec"].get("manifest", {})), _REFUSED - 2)


def _all_train(manifest: Json, read: Read, beside: Objects, cluster: ClusterProfile) -> bool:
    """Whether the simulated pods of every role that a reading takes for nodes train."""
    world = simulate([manifest], versions=cluster.versions(), others=beside)
    return bool(world.jobs) and len(training_roles(world.jobs[0])) >= sum(pods.trains for pods in read.pods)


def _leaves(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return sum(map(_leaves, inner)) if inner is not None else 1


def _specs(
    manifest: Json, read: Read, beside: Objects, cluster: ClusterProfile, *, exact: bool
) -> Iterator[tuple[SpecData, bool]]:
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


def _attempt(
    spec: SpecData,
    manifest: Json,
    wanted: Json,
    read: Read,
    beside: Objects,
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
    return Tried(spec, prove(spec, manifest, beside, cluster), read, lifts)


def _is_start(gap: ImportGap) -> bool:
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


def without_runtime(spec: SpecData, manifest: Json, beside: Objects, cluster: ClusterProfile) -> SpecData | None:
    """The job of a spec with a runtime as one that brings its pods along; None where there is no runtime to know."""
    if "runtimeRef" not in spec["spec"]:
        return None
    read = folded(manifest, tuple(beside))
    if read is None:
        return None
    whole = draft(manifest, read, hardware.gpu_resource(cluster, None))
    patches = {word: spec["spec"][word] for word in ("manifest",) if word in spec["spec"]}
    return {**whole, "spec": {**whole["spec"], **patches}}


Path = tuple[str | int, ...]
_LONGEST = 80
"""Characters of a start that is shown whole."""
_ELASTIC = "null: left to torchrun, as in the manifest"


def comments(tried: Tried, manifest: Json) -> dict[Path, str]:
    """Comments by the path of the line."""
    return dict(_comments(tried, manifest))


def _comments(tried: Tried, manifest: Json) -> Iterator[tuple[Path, str]]:
    spec: SpecData = tried.spec["spec"]
    if spec.get("sharedMemory") is False:
        yield ("spec", "sharedMemory"), "none in the manifest; delete this line to get one (PTC302)"
    if nested_map(spec, "runPolicy").get("backoffLimit") == "Unlimited":
        yield ("spec", "runPolicy"), "no limit in the manifest: restarts forever (PTC717)"
    if tried.lifted:
        word = "script" if "script" in spec else "module"
        yield ("spec", word), f"was: {_start(tried)}"
    elif isinstance(spec.get("command"), list) and _speaks_of_torchrun(spec["command"]):
        yield ("spec", "command"), "kept as is: script and elastic would not mean the same"
    if "nodes" in spec and ":" in str(nested_map(spec, "elastic").get("nnodes", "")):
        yield ("spec", "nodes"), "at the start"
    nulls = [
        w for w, v in nested_map(spec, "elastic").items() if v is None or (isinstance(v, dict) and None in v.values())
    ]
    if nulls:
        yield ("spec", "elastic"), _ELASTIC
    yield from _of_pods(spec, ("spec",))
    if nested_map(spec, "names").keys() - {"container"}:
        yield ("spec", "names"), "host names are derived from them"
    if "manifest" in spec:
        yield ("spec", "manifest"), "for this target only: no spec field expresses it"


def _of_pods(block: SpecData, path: Path) -> Iterator[tuple[Path, str]]:
    if None in nested_map(block, "env").values():
        yield (*path, "env"), "null: not in the manifest"
    if nested_map(block, "resources", "requests") and not nested_map(block, "resources", "limits"):
        yield (*path, "resources"), "requests without limits"
    for role in ("master", "worker"):
        if isinstance(block.get(role), dict):
            yield from _of_pods(block[role], (*path, role))


def _start(tried: Tried) -> str:
    """The words that started torchrun in the manifest, up to what it starts."""
    spec = tried.spec["spec"]
    entry = spec.get("script") or spec.get("module")
    for pods in tried.read.pods:
        for one in as_mappings(nested_map(pods.template, "spec").get("containers")):
            words = [str(word) for word in (*(one.get("command") or ()), *(one.get("args") or ()))]
            if one.get("name") == pods.main and words:
                shown = " ".join(words[: words.index(entry)] if entry in words else words)
                return shown if len(shown) <= _LONGEST and "\n" not in shown else f"{shown.split()[0]} ..."
    return "torchrun"


def _speaks_of_torchrun(command: list[Any]) -> bool:
    return any("torchrun" in str(word) or "torch.distributed" in str(word) for word in command)
