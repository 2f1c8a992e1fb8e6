"""Where every value of a manifest came from: who wrote it, and the lines that it depends on.

Who wrote it is traced (`compiler.trace`). On which lines it depends is derived by compiling again with one line
different: a value may be there because of a line of which it carries nothing, and only that shows what the line is good
for. A spec of 50 lines is compiled some hundred times, in a quarter of a millisecond each; of long
lists many lines are tried at a time (`sensitivity`), and of a profile all that say its defaults.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.paths import MISSING
from ptcompile.compiler.build import Built, build
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.reader import with_stand_in
from ptcompile.compiler.pipeline import Compiled
from ptcompile.compiler.trace import Origin
from ptcompile.diagnostics import Path
from ptcompile.explainer import sensitivity
from ptcompile.explainer.model import Cause, Input
from ptcompile.explainer.reasons import sentence
from ptcompile.explainer.sensitivity import Variation, outcomes
from ptcompile.explainer.values import Named, changed_paths, leaves, shown_path, value_at
from ptcompile.ir.job import Context, Target
from ptcompile.registry.targets import default_target, every_target
from ptcompile.source.secrets.scanner import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.explainer.sensitivity import InputName
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec

    Manifests = Sequence[Mapping[str, Any]]


class _Effect(NamedTuple):
    """Values that change with one line."""

    file: InputName
    path: Path
    left_out: frozenset[Path] = frozenset()
    other_value: frozenset[Path] = frozenset()


def provenance(
    data: Mapping[str, Any], compiled: Compiled, *, chosen: bool = False, only: Path | None = None
) -> tuple[Cause, ...]:
    """Return the cause of every value of the manifests that a document was compiled to, in their order.

    `chosen` says that the target is not the document's own choice. With `only`, only the causes of values that the
    lines at or below that path of the document change: a build or two for each of these lines. Nothing for a document
    that was not built.
    """
    built = compiled.built
    if built is None or compiled.trace is None:
        return ()
    trace, manifests, target, cluster = compiled.trace(), built.manifests, built.context.target, built.context.cluster
    inputs = _inputs(_effects(data, built, only), data, cluster)
    choice = {} if chosen else _choice(data, built)
    shown = without_secrets(manifests)
    secretless = {"spec": without_secrets(data), "cluster": without_secrets(sensitivity.filled(cluster))}
    causes, named = [], Named()
    for path, value in leaves(manifests):
        if only is not None and path not in inputs:
            continue
        found, mark = inputs.get(path, ()), trace.mark(int(path[0]), path[1:])
        by = "spec" if _is_switch(value, path, found) else writer(mark, path)
        if by == "target":
            found = (*found, *choice.get(path, ()))
        elif by == "spec" and not found:
            found = _said(mark, data, inputs.get((*path[:-1], "value"), ()))
        rule = sentence(by, target, path, manifests)
        hidden = tuple(_hidden(one, value_at(secretless[one.file], one.path)) for one in found)
        index = int(path[0])
        name = shown_path(path[1:], manifests[index], named)
        told = value_at(shown, path)
        causes.append(Cause(index, path[1:], name, told, by, rule, hidden, masked=told != value))
    return tuple(causes)


def _is_switch(value: Any, path: Path, found: Iterable[Input]) -> bool:
    """Whether it is a true or false that the user wrote under the same key: such a value cannot be marked."""
    given = [one for one in found if one.file == "spec" and _key(one.path) == _key(path)]
    return isinstance(value, bool) and any(one.value is value for one in given)


def _hidden(one: Input, shown: Any) -> Input:
    """An input with its value as the masked file has it."""
    return one._replace(value=shown, masked=shown != one.value)


def writer(mark: Origin, path: Path) -> str:
    """Who wrote a value, by its mark: a pass, "spec" for what the user wrote there, else "target".

    Outside pod templates the target writes all; under the user's own key it carries over what he wrote.
    """
    if _SUM in path:
        return "target"
    if mark.by not in {"", "spec"}:
        return mark.by
    own = mark.whole and any(_key(word) == _key(path) for word in mark.words)
    return "spec" if own or (mark.by and mark.role) else "target"


_SUM = "minResources"
"""What a target counts together from what the pods ask for: of one pod it is the same number."""


def _said(mark: Origin, data: Mapping[str, Any], beside: Iterable[Input]) -> tuple[Input, ...]:
    """The lines that a value is made of, where it would stand there without any one of them.

    So it is with a role that repeats its job, and with what a pass would give as well, such as the name of a variable:
    its line is that of the value `beside` it.
    """
    known = {one.path: one for one in beside if one.file == "spec"}
    return tuple(known.get(word, Input("spec", word, value_at(data, word), False, False)) for word in mark.words)


def _effects(data: Mapping[str, Any], built: Built, only: Path | None) -> list[_Effect]:
    """What each line changes. What holds lines counts only for values that none of its lines changes."""
    spec, cluster, target, manifests = built.spec, built.context.cluster, built.context.target, built.manifests

    def of_spec(document: Any) -> frozenset[Path] | None:
        tried = sensitivity.spec_of(document)
        return None if tried is None else frozenset(changed_paths(manifests, _manifests(tried, cluster, target, built)))

    def of_cluster(document: Any) -> frozenset[Path] | None:
        tried = sensitivity.cluster_of(document)
        return None if tried is None else frozenset(changed_paths(manifests, _manifests(spec, tried, target, built)))

    if only is not None:
        lines = [one for one in sensitivity.of_spec(data) if one.path[: len(only)] == only]
        return _of_file("spec", outcomes(data, lines, of_spec))
    profile = sensitivity.filled(cluster)
    lines = sensitivity.of_cluster(profile)
    defaults = sensitivity.of_defaults(profile, lines)
    if of_cluster(sensitivity.replace_at(profile, dict.fromkeys(defaults, MISSING))) == frozenset():
        lines = [one for one in lines if not one.left_out or one.path not in defaults]
    return [
        *_of_file("spec", outcomes(data, sensitivity.of_spec(data), of_spec)),
        *_of_file("cluster", outcomes(profile, lines, of_cluster)),
    ]


def _of_file(file: InputName, found: Iterable[tuple[Variation, frozenset[Path]]]) -> list[_Effect]:
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


def _manifests(spec: Spec, cluster: ClusterProfile, target: Target, like: Built) -> Manifests:
    """Build a variant, with the passes of another build."""
    return build(spec, lower(with_stand_in(spec), cluster), Context(cluster, target), like.passes).manifests


def _inputs(
    effects: Iterable[_Effect], data: Mapping[str, Any], cluster: ClusterProfile
) -> dict[Path, tuple[Input, ...]]:
    """The lines that each value depends on: those whose values reach it, then the others; those of few values first."""
    documents = {"spec": data, "cluster": sensitivity.filled(cluster)}
    given = {"spec": data, "cluster": cluster.document(given=True)}
    found: defaultdict[Path, list[tuple[int, Input]]] = defaultdict(list)
    for one in effects:
        value, said = value_at(documents[one.file], one.path), value_at(given[one.file], one.path) is not MISSING
        for path in one.left_out | one.other_value:
            cause = Input(one.file, one.path, value, path in one.left_out, path in one.other_value, said)
            found[path].append((len(one.left_out | one.other_value), cause))
    return {
        path: tuple(cause for _, cause in sorted(ranked, key=lambda one: (not one[1].other_value, one[0])))
        for path, ranked in found.items()
    }


def _choice(data: Mapping[str, Any], built: Built) -> dict[Path, tuple[Input, ...]]:
    """The spec's own choice of a target, as an input of the values that would be others without it."""
    spec, cluster = built.spec, built.context.cluster
    if spec.spec.target is None:
        return {}
    free = spec.but(spec=spec.spec.but(target=None))
    unasked = default_target(lower(free, cluster), cluster)
    other = next(one for one in every_target() if one is not built.context.target)
    without = set(changed_paths(built.manifests, _manifests(free, cluster, unasked, built)))
    instead = set(changed_paths(built.manifests, _manifests(free, cluster, other, built)))
    value = value_at(data, sensitivity.TARGET)
    return {
        path: (Input("spec", sensitivity.TARGET, value, path in without, path in instead),)
        for path in without | instead
    }


def _key(path: Path) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "")
