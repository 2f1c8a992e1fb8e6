"""Where every value of a manifest came from: derived by compiling again with one thing different, never recorded.

Passes and targets are pure, so what a line of the spec is good for is what changes without it, and what a pass wrote is
what is not there yet before it. A spec of 50 lines is compiled some hundred times, in a quarter of a millisecond each;
of long lists many lines are tried at a time (`batches`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ptcompile import passes
from ptcompile.compiling.generated import renamed
from ptcompile.explaining import variants
from ptcompile.explaining.batches import outcomes
from ptcompile.explaining.leaves import MISSING, at, changed, identity, leaves
from ptcompile.explaining.model import Cause, Input
from ptcompile.explaining.sentences import sentence
from ptcompile.explaining.shown import Named, shown_path
from ptcompile.explaining.trace import view
from ptcompile.explaining.variants import Change, File
from ptcompile.findings.diagnostics import Path
from ptcompile.frontends.spec import lower, read_spec, stand_in, with_stand_in
from ptcompile.job.model import Container, Context, Job, PodTemplate, Target, map_templates
from ptcompile.operators.targets import default_target, every_target
from ptcompile.secrets.structure import without_secrets
from ptcompile.vocabulary.cluster.model import ClusterProfile
from ptcompile.vocabulary.spec import Spec

Manifests = Sequence[Mapping[str, Any]]


class _Effect(NamedTuple):
    """Values that change with one line."""

    file: File
    path: Path
    left_out: frozenset[Path] = frozenset()
    other_value: frozenset[Path] = frozenset()


def provenance(
    data: Mapping[str, Any], cluster: ClusterProfile, target: Target, *, chosen: bool = False
) -> tuple[Cause, ...]:
    """The cause of every value of the manifests that a document compiles to, in the order of the manifests.

    `data` is a TrainingJob that compiles for the target; `chosen` says that the target is not the document's own
    choice. Pure. Raises nothing for such a document.
    """
    spec, _ = read_spec(data)
    if spec is None:
        return ()
    if spec.metadata.generate_name is not None:
        emit, added = target.emit, len(stand_in(""))
        target = target._replace(emit=lambda job, cluster: renamed(emit(job, cluster), job.name[:-added]))
    context = Context(cluster, target)
    lowered = lower(spec, cluster)
    job, steps = passes.run(lowered, context)
    manifests = target.emit(job, cluster)
    effects = _effects(data, spec, cluster, target, manifests)
    inputs = _inputs(effects, data, cluster)
    written = _written(manifests, steps, context)
    carried = set(changed(manifests, target.emit(map_templates(job, _blank), cluster)))
    words = _words(lowered)
    choice = {} if chosen else _choice(data, spec, cluster, target, manifests)
    said, items = _by_what_they_say(data), _by_item(inputs)
    shown = without_secrets(manifests)
    secretless = {"spec": without_secrets(data), "cluster": without_secrets(variants.filled(cluster))}
    causes, named = [], Named()
    for path, value in leaves(manifests):
        found = inputs.get(path, ())
        by = written.get(path) or _by_user(path, value, found, copied=path in carried and _pair(path, value) in words)
        if by == "target":
            found = (*found, *choice.get(path, ()))
        elif by == "spec" and not found:
            found = _said(path, value, said) or _of_item(path, value, manifests, items)
        rule = sentence(by, target, path, manifests)
        hidden = tuple(_hidden(one, at(secretless[one.file], one.path)) for one in found)
        index = int(path[0])
        name = shown_path(path[1:], manifests[index], named)
        told = at(shown, path)
        causes.append(Cause(index, path[1:], name, told, by, rule, hidden, masked=told != value))
    return tuple(causes)


def _hidden(one: Input, shown: Any) -> Input:
    """An input with its value as the masked file has it."""
    return one._replace(value=shown, masked=shown != one.value)


def _by_what_they_say(data: Mapping[str, Any]) -> dict[tuple[str, str], list[Path]]:
    """The lines of a document by their last key and value."""
    found: dict[tuple[str, str], list[Path]] = {}
    for path, value in leaves(data):
        found.setdefault(_pair(path, value), []).append(path)
    return found


def _by_item(inputs: Mapping[Path, tuple[Input, ...]]) -> dict[Path, tuple[Input, ...]]:
    """The inputs of the first value in each list item."""
    found: dict[Path, tuple[Input, ...]] = {}
    for path, lines in inputs.items():
        for length, part in enumerate(path, start=1):
            if isinstance(part, int):
                found.setdefault(path[:length], lines)
    return found


def _by_user(path: Path, value: Any, inputs: Iterable[Input], *, copied: bool) -> str:
    """Whether a value that no pass wrote is what the user wrote, or the target's own."""
    if _SUM in path:
        return "target"
    same = (one for one in inputs if one.file == "spec" and one.other_value and _key(one.path) == _key(path))
    return "spec" if copied or any(str(one.value) == str(value) for one in same) else "target"


def _effects(
    data: Mapping[str, Any], spec: Spec, cluster: ClusterProfile, target: Target, manifests: Manifests
) -> list[_Effect]:
    """What each line changes. What holds lines counts only for values that none of its lines changes."""

    def of_spec(document: Any) -> frozenset[Path] | None:
        tried = variants.spec_of(document)
        return None if tried is None else frozenset(changed(manifests, _manifests(tried, cluster, target)))

    def of_cluster(document: Any) -> frozenset[Path] | None:
        tried = variants.cluster_of(document)
        return None if tried is None else frozenset(changed(manifests, _manifests(spec, tried, target)))

    profile = variants.filled(cluster)
    return [
        *_of_file("spec", outcomes(data, variants.of_spec(data), of_spec)),
        *_of_file("cluster", outcomes(profile, variants.of_cluster(profile), of_cluster)),
    ]


def _of_file(file: File, found: Iterable[tuple[Change, frozenset[Path]]]) -> list[_Effect]:
    effects: dict[Path, _Effect] = {}
    inside: defaultdict[Path, set[Path]] = defaultdict(set)  # by what holds a line, the values that its lines change
    for change, outcome in found:
        now = outcome - inside[change.path] if change.inner else outcome
        if now:
            there = effects.setdefault(change.path, _Effect(file, change.path))
            effects[change.path] = there._replace(left_out=now) if change.left_out else there._replace(other_value=now)
            for length in range(2, len(change.path)):
                inside[change.path[:length]] |= now
    return list(effects.values())


def _manifests(spec: Spec, cluster: ClusterProfile, target: Target) -> Manifests:
    job, _ = passes.run(lower(with_stand_in(spec), cluster), Context(cluster, target))
    return target.emit(job, cluster)


def _inputs(
    effects: Iterable[_Effect], data: Mapping[str, Any], cluster: ClusterProfile
) -> dict[Path, tuple[Input, ...]]:
    """The lines that each value depends on: those whose values reach it, then the others; those of few values first."""
    documents = {"spec": data, "cluster": variants.filled(cluster)}
    given = {"spec": data, "cluster": cluster.document(given=True)}
    found: defaultdict[Path, list[tuple[int, Input]]] = defaultdict(list)
    for one in effects:
        value, said = at(documents[one.file], one.path), at(given[one.file], one.path) is not MISSING
        for path in one.left_out | one.other_value:
            cause = Input(one.file, one.path, value, path in one.left_out, path in one.other_value, said)
            found[path].append((len(one.left_out | one.other_value), cause))
    return {
        path: tuple(cause for _, cause in sorted(ranked, key=lambda one: (not one[1].other_value, one[0])))
        for path, ranked in found.items()
    }


def _of_item(
    path: Path, value: Any, manifests: Manifests, items: Mapping[Path, tuple[Input, ...]]
) -> tuple[Input, ...]:
    """The lines of an item, for its name: a key in the spec, which a pass gives as well (OMP_NUM_THREADS)."""
    item, field = path[:-1], _key(path[:-1])
    if not isinstance(item[-1], int) or identity(at(manifests, item), field) != value:
        return ()
    return items.get(item, ())


def _said(path: Path, value: Any, said: Mapping[tuple[str, str], Sequence[Path]]) -> tuple[Input, ...]:
    """The lines that say it, where it would stand there without any one of them.

    So it is with a role that repeats its job, and with what a pass would give as well.
    """
    return tuple(Input("spec", one, value, False, False) for one in said.get(_pair(path, value), ()))


def _choice(
    data: Mapping[str, Any], spec: Spec, cluster: ClusterProfile, target: Target, manifests: Manifests
) -> dict[Path, tuple[Input, ...]]:
    """The spec's own choice of a target, as an input of the values that would be others without it."""
    if spec.spec.target is None:
        return {}
    free = spec.but(spec=spec.spec.but(target=None))
    unasked = default_target(lower(free, cluster), cluster)
    other = next(one for one in every_target() if one is not target)
    without = set(changed(manifests, _manifests(free, cluster, unasked)))
    instead = set(changed(manifests, _manifests(free, cluster, other)))
    value = at(data, variants.TARGET)
    return {
        path: (Input("spec", variants.TARGET, value, path in without, path in instead),) for path in without | instead
    }


def _written(manifests: Manifests, steps: Sequence[passes.Step], context: Context) -> dict[Path, str]:
    """The pass that wrote a value: the last one before which it is not there, and which brought that value.

    The second half keeps a pass from being named for what a target does because of it, such as a kind of its own.
    """
    out: dict[Path, str] = {}
    for step in steps:
        if step.before != step.after:
            before, after = view(step.before), view(step.after)
            brought = {str(at(after, path)) for path in changed(after, before)}
            earlier = context.target.emit(step.before, context.cluster)
            fresh = (path for path in changed(manifests, earlier) if str(at(manifests, path)) in brought)
            out.update((path, step.name) for path in fresh if _SUM not in path)
    return out


_SUM = "minResources"
"""What a target counts together from what the pods ask for: of one pod it is the same number."""


def _blank(template: PodTemplate) -> PodTemplate:
    return PodTemplate(Container(template.main.name))


def _words(job: Job) -> set[tuple[str, str]]:
    """What a job says in its pod templates: the last key of each value, with the value."""
    return {_pair(path, value) for path, value in leaves(view(job)["roles"])}


def _pair(path: Path, value: Any) -> tuple[str, str]:
    return _key(path), repr(value)


def _key(path: Path) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "")
