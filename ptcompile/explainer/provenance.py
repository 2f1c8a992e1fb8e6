"""Origin of every value in a manifest: its writer, and the lines it depends on.

The writer is traced (`compiler.trace`). The lines a value depends on are found by compiling again
with one line changed: a value may exist because of a line whose own value it does not carry, and
only compiling shows what the line affects. A spec of 50 lines is compiled about eighty times, in a
quarter of a millisecond each. Some lines are tried at once (`sensitivity`): many similar ones, all
whose text the trace finds in the manifests, and all lines of a profile that repeat its defaults.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.compiler.build import Built, build
from ptcompile.compiler.passes import PASSES
from ptcompile.compiler.pipeline import Compiled
from ptcompile.compiler.trace import Origin
from ptcompile.diagnostics import Path
from ptcompile.explainer import sensitivity
from ptcompile.explainer.model import Cause, Input
from ptcompile.explainer.reasons import sentence
from ptcompile.explainer.sensitivity import (
    InputName,
    Variant,
    Variants,
    Variation,
    outcomes,
    variant_of,
)
from ptcompile.explainer.values import changed_leaves, shown_leaves, value_at
from ptcompile.ir.job import Context, Target
from ptcompile.kubernetes.unstructured import MISSING, Json
from ptcompile.operators.targets import default_target, every_target
from ptcompile.source.secrets.scanner import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec

    Manifests = Sequence[Json]


class _Effect(NamedTuple):
    """The values that change with one line."""

    file: InputName
    path: Path
    left_out: frozenset[Path] = frozenset()
    other_value: frozenset[Path] = frozenset()


class InputLines:
    """The lines of a spec and of its profile: their variants, and each as an input. All targets
    share them.

    `locate` adds the place of an input.
    """

    def __init__(
        self,
        data: Json,
        spec: Spec,
        cluster: ClusterProfile,
        locate: Callable[[Input], Input] = lambda line: line,
    ) -> None:
        self.variants = Variants(data, spec, cluster)
        self._locate = locate
        self._masked = {
            name: without_secrets(document) for name, document in self.variants.documents.items()
        }
        self._set_fields = {"spec": data, "cluster": cluster.document(only_set=True)}
        self._inputs: dict[tuple[InputName, Path, bool, bool], Input] = {}

    def input(self, file: InputName, path: Path, left_out: bool, other_value: bool) -> Input:
        """Return the line at a path as an input, with its place, and with its value from the
        masked file.
        """
        key = file, path, left_out, other_value
        if key not in self._inputs:
            value, masked = (
                value_at(documents[file], path)
                for documents in (self.variants.documents, self._masked)
            )
            is_set = value_at(self._set_fields[file], path) is not MISSING
            self._inputs[key] = self._locate(
                Input(file, path, masked, left_out, other_value, is_set, masked=masked != value)
            )
        return self._inputs[key]


def provenance(
    data: Json,
    compiled: Compiled,
    *,
    chosen: bool = False,
    only: Path | None = None,
    lines: InputLines | None = None,
) -> tuple[Cause, ...]:
    """Return the cause of every value of the manifests that a document was compiled to, in their
    order.

    `chosen` means that the target is not the document's own choice. With `only`, return only the
    causes of values that change with the lines at or below that path of the document, which takes
    one or two builds per line. `lines` are those of the same document for another target. Return
    nothing for a document that was not built.
    """
    built = compiled.built
    if built is None or compiled.trace is None:
        return ()

    trace = compiled.trace()
    manifests = built.manifests
    lines = lines or InputLines(data, built.spec, built.context.cluster)
    origins = [list(trace.origins(index)) for index in range(len(manifests))]
    exact = (origin.paths for origin in chain.from_iterable(origins) if origin.is_exact)
    copied = frozenset(chain.from_iterable(exact))
    inputs = _inputs_by_value(_effects(built, lines.variants, copied, only), lines)
    choice = {} if chosen else _target_choice_inputs(built, lines)
    masked_manifests = without_secrets(manifests)
    causes: list[Cause] = []
    for index, manifest in enumerate(manifests):
        for leaf, origin in zip(shown_leaves(manifest), origins[index], strict=True):
            path = (index, *leaf.path)
            if only is not None and path not in inputs:
                continue

            value_inputs = inputs.get(path, ())
            is_copied = _is_copied_boolean(leaf.value, path, value_inputs)
            value_writer = "spec" if is_copied else writer(origin, path)
            if value_writer == "target":
                value_inputs = (*value_inputs, *choice.get(path, ()))
            elif value_writer == "spec" and not value_inputs:
                value_inputs = _traced_inputs(origin, inputs.get((*path[:-1], "value"), ()), lines)

            # most manifests have no secret
            masked_value = (
                leaf.value if masked_manifests is manifests else value_at(masked_manifests, path)
            )
            cause = Cause(
                manifest=index,
                path=leaf.path,
                shown=leaf.shown,
                value=masked_value,
                by=value_writer,
                rule=sentence(value_writer, built.context.target, leaf.keys),
                inputs=value_inputs,
                masked=masked_value != leaf.value,
            )
            causes.append(cause)

    return tuple(causes)


def _is_copied_boolean(value: Any, path: Path, inputs: Iterable[Input]) -> bool:
    """Return whether the value is a boolean that the user wrote under the same key: booleans
    cannot carry a trace.
    """
    return isinstance(value, bool) and any(
        line.value is value and line.file == "spec" and _last_key(line.path) == _last_key(path)
        for line in inputs
    )


def writer(origin: Origin, path: Path) -> str:
    """Return the writer of a value, from its trace: a pass, "spec" for the user's own value, else
    "target".

    Outside pod templates, the target writes everything; under the user's own key, it carries over
    the user's value.
    """
    if _SUM_KEY in path:
        return "target"
    if origin.writer not in {"", "spec"}:
        return origin.writer
    is_users = origin.is_exact and _last_key(path) in map(_last_key, origin.paths)
    return "spec" if is_users or (origin.writer and origin.role) else "target"


_SUM_KEY = "minResources"
"""A key whose value the target adds up from the pods' requests; for a single pod, the sum equals
the request.
"""


def _traced_inputs(
    origin: Origin, siblings: Iterable[Input], lines: InputLines
) -> tuple[Input, ...]:
    """Return the lines a value is made of, if the value remains whichever of them is removed.

    This happens for a role that repeats its job, and for values that a pass would set as well, such
    as the name of a variable: its line is that of the variable's value, one of `siblings`.
    """
    known = {line.path: line for line in siblings if line.file == "spec"}
    return tuple(
        known.get(path) or lines.input("spec", path, False, False) for path in origin.paths
    )


def _effects(
    built: Built, variants: Variants, copied: Collection[Path], only: Path | None
) -> list[_Effect]:
    """Return the effects of each line. A mapping or list counts only for values that none of its
    lines changes.

    `copied` are the lines of the spec that the trace finds in the manifests as they are.
    """

    def changed_values(file: InputName, changes: Mapping[Path, Any]) -> dict[Path, Any] | None:
        variant = variants.of(file, changes)
        if variant is None:
            return None
        return dict(changed_leaves(base, manifests_of(variant)))

    manifests_of = partial(_build_variant, target=built.context.target, like=built)
    base = manifests_of(variants.base)
    of_spec = partial(changed_values, "spec")
    of_cluster = partial(changed_values, "cluster")
    variations = variants.spec_variations
    if only is not None:
        below = [variation for variation in variations if variation.path[: len(only)] == only]
        return _file_effects("spec", outcomes(below, of_spec, copied))

    cluster_variations = variants.cluster_variations
    defaults = variants.default_paths
    if of_cluster(dict.fromkeys(defaults, MISSING)) == {}:
        cluster_variations = [
            each for each in cluster_variations if not each.left_out or each.path not in defaults
        ]

    return [
        *_file_effects("spec", outcomes(variations, of_spec, copied)),
        *_file_effects("cluster", outcomes(cluster_variations, of_cluster)),
    ]


def _file_effects(
    file: InputName, results: Iterable[tuple[Variation, frozenset[Path]]]
) -> list[_Effect]:
    # for each path, the last two fields of its `_Effect`
    effects: defaultdict[Path, dict[str, frozenset[Path]]] = defaultdict(dict)
    # for each mapping or list of the file, the manifest values that lines inside it change
    inside: defaultdict[Path, set[Path]] = defaultdict(set)
    for change, outcome in results:
        changed = outcome - inside[change.path] if change.inner else outcome
        if changed:
            effects[change.path]["left_out" if change.left_out else "other_value"] = changed
            for length in range(2, len(change.path)):
                inside[change.path[:length]] |= changed

    return [_Effect(file, path, **values) for path, values in effects.items()]


def _build_variant(variant: Variant, target: Target, like: Built) -> Manifests:
    """Build a variant with the passes of another build, and return its manifests."""
    context = Context(variant.cluster, target)
    shared = like.passes is PASSES
    return build(variant.spec, variant.job, context, like.passes, shared=shared).manifests


def _inputs_by_value(
    effects: Iterable[_Effect], lines: InputLines
) -> dict[Path, tuple[Input, ...]]:
    """Return the lines each value depends on: first those whose values reach it; within that, those
    with fewer effects first.
    """
    inputs: defaultdict[Path, list[tuple[bool, int, Input]]] = defaultdict(list)
    for effect in effects:
        count = len(effect.left_out | effect.other_value)
        for paths, left_out, other_value in (
            (effect.left_out & effect.other_value, True, True),
            (effect.left_out - effect.other_value, True, False),
            (effect.other_value - effect.left_out, False, True),
        ):
            if paths:
                line = lines.input(effect.file, effect.path, left_out, other_value)
                for path in paths:
                    inputs[path].append((not other_value, count, line))

    return {
        path: tuple(
            line
            for _, _, line in (sorted(ranked, key=itemgetter(0, 1)) if len(ranked) > 1 else ranked)
        )
        for path, ranked in inputs.items()
    }


def _target_choice_inputs(built: Built, lines: InputLines) -> dict[Path, tuple[Input, ...]]:
    """Return the spec's choice of a target as an input of the values that would differ without
    it.
    """
    spec = built.spec
    cluster = built.context.cluster
    if spec.spec.target is None:
        return {}

    free = variant_of(spec.replace(spec=spec.spec.replace(target=None)), cluster)
    fitting = default_target(free.job, cluster)
    another = next(target for target in every_target() if target is not built.context.target)
    without, instead = (
        dict(changed_leaves(built.manifests, _build_variant(free, target, built))).keys()
        for target in (fitting, another)
    )

    return {
        path: (lines.input("spec", sensitivity.TARGET, path in without, path in instead),)
        for path in without | instead
    }


def _last_key(path: Path) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "")
