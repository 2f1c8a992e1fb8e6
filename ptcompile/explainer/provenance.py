"""Origin of every value in a manifest: its writer, and the lines it depends on.

The writer is traced (`compiler.trace`). The lines a value depends on are found by compiling again
with one line changed: a value may exist because of a line whose own value it does not carry, and
only compiling shows what the line affects. A spec of 50 lines is compiled about eighty times, in a
quarter of a millisecond each. Some lines are tried at once (`sensitivity`): many similar ones, all
whose text the trace finds in the manifests, and all lines of a profile that repeat its defaults.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter

from ptcompile._internal.namedtuple import Any
from ptcompile.compiler.build import Built, build
from ptcompile.compiler.passes import PASSES
from ptcompile.compiler.pipeline import Compiled
from ptcompile.compiler.trace import Origin
from ptcompile.diagnostics import Path
from ptcompile.explainer import sensitivity
from ptcompile.explainer.joint import CommonList, JointManifests, PlacedValue
from ptcompile.explainer.model import Cause, Input
from ptcompile.explainer.reasons import sentence
from ptcompile.explainer.sensitivity import (
    InputName,
    Variant,
    Variants,
    Variation,
    cluster_variations,
    outcomes,
    spec_variations,
    variant_of,
)
from ptcompile.explainer.values import changed_leaves, value_at
from ptcompile.ir.job import Context, Target
from ptcompile.kubernetes.unstructured import MISSING, Json
from ptcompile.operators.targets import default_target, every_target
from ptcompile.source.secrets.scanner import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    Manifests = Sequence[Json]
    _Inputs = dict[Path, tuple[Input, ...]]
    _Outcome = tuple[InputName, Variation, frozenset[Path]]


class InputLines(Variants):
    """The lines of a spec and of its profile: their variants, and each as an input. `locate` adds the
    place of an input.
    """

    def __init__(self, data: Json, built: Built, locate: Callable[[Input], Input]) -> None:
        cluster = built.context.cluster
        super().__init__(data, built.spec, cluster)
        self._locate = locate
        self._masked = {
            name: without_secrets(document) for name, document in self.documents.items()
        }
        self._set_fields = {"spec": data, "cluster": cluster.document(only_set=True)}

    def input(self, file: InputName, path: Path, left_out: bool, other_value: bool) -> Input:
        """Return the line at a path as an input, with its place, and with its value from the
        masked file.
        """
        value, masked = (
            value_at(documents[file], path) for documents in (self.documents, self._masked)
        )
        is_set = value_at(self._set_fields[file], path) is not MISSING
        return self._locate(
            Input(
                file=file,
                path=path,
                value=masked,
                left_out=left_out,
                other_value=other_value,
                given=is_set,
                masked=masked != value,
            )
        )


def provenance(
    data: Json,
    compiled: Sequence[Compiled],
    chosen: Sequence[bool],
    locate: Callable[[Input], Input] = lambda line: line,
    only: Path | None = None,
) -> list[tuple[Cause, ...]]:
    """Return the cause of every value of the manifests that a document was built to, in their
    order, for each of some targets.

    `chosen` says whether the target is not the document's own choice. `locate` adds the place of an
    input. With `only`, return only the causes of values that change with the lines at or below that
    path of the document, which takes one or two builds per line.
    """
    builds = [each.built for each in compiled if each.built is not None]
    traces = [each.trace() for each in compiled if each.trace is not None]
    if not builds:
        return []

    lines = InputLines(data, builds[0], locate)
    build_variant = partial(_build_variant, builds=builds)
    joint = JointManifests(build_variant(lines.base), traces)
    inputs = _inputs_by_value(_outcomes(joint, build_variant, lines, only), lines)

    def causes_of(values: Iterable[PlacedValue], target: Target) -> list[Cause]:
        """Return the causes of the values that `only` includes."""
        return [
            _cause(value, target, inputs, lines)
            for value in values
            if only is None or value.path in inputs
        ]

    of_lists: dict[Path, list[Cause]] = {}
    causes: list[tuple[Cause, ...]] = []
    for built, is_chosen, places in zip(builds, chosen, joint.values, strict=True):
        target = built.context.target
        of_target: list[Cause] = []
        for place in places:
            common = place.leaf.value
            if not isinstance(common, CommonList):
                of_target += causes_of([place], target)
                continue

            path = place.path if common.path[0] in joint.apart else common.path
            if path not in of_lists:
                of_lists[path] = causes_of(common.values(place, path), target)
            of_target += [
                cause._replace(
                    manifest=place.manifest,
                    path=(*place.leaf.path, *cause.path),
                    shown=place.leaf.shown + cause.shown,
                )
                for cause in of_lists[path]
            ]

        choice = {} if is_chosen else _target_choice_inputs(built, lines)
        causes.append(tuple(_completed(of_target, choice, built.manifests)))

    return causes


def _cause(value: PlacedValue, target: Target, inputs: _Inputs, lines: InputLines) -> Cause:
    """Return the cause of a value, unmasked."""
    leaf = value.leaf
    value_inputs = inputs.get(value.path, ())
    # booleans cannot carry a trace: one that the user wrote under the same key is copied
    is_copied = isinstance(leaf.value, bool) and any(
        line.value is leaf.value
        and line.file == "spec"
        and _last_key(line.path) == _last_key(value.path)
        for line in value_inputs
    )
    by = "spec" if is_copied else writer(value.origin, value.path)
    if by == "spec" and not value_inputs:
        # It remains whichever line is left out: of a role that repeats its job, or as a pass would
        # set it too, such as a variable's name, whose line is that of the variable's value.
        siblings = inputs.get((*value.path[:-1], "value"), ())
        known = {line.path: line for line in siblings if line.file == "spec"}
        value_inputs = tuple(
            known.get(path) or lines.input("spec", path, False, False)
            for path in value.origin.paths
        )

    return Cause(
        manifest=value.manifest,
        path=leaf.path,
        shown=leaf.shown,
        value=leaf.value,
        by=by,
        rule=sentence(by, target, leaf.keys),
        inputs=value_inputs,
    )


def _completed(causes: Sequence[Cause], choice: _Inputs, manifests: Manifests) -> Sequence[Cause]:
    """Return the causes of a target's values with the values masked. `choice` are the inputs of
    values that differ without the spec's choice of a target.
    """
    masked_manifests = without_secrets(manifests)
    # most manifests have no secret
    if not choice and masked_manifests is manifests:
        return causes

    completed: list[Cause] = []
    for cause in causes:
        path = (cause.manifest, *cause.path)
        value = value_at(masked_manifests, path)
        chosen = choice.get(path, ()) if cause.by == "target" else ()
        completed.append(
            cause._replace(
                value=value,
                inputs=(*cause.inputs, *chosen),
                masked=value != cause.value,
            )
        )

    return completed


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


def _outcomes(
    joint: JointManifests,
    build_variant: Callable[[Variant], list[Manifests]],
    variants: Variants,
    only: Path | None,
) -> Iterator[_Outcome]:
    """Yield the values that change with each line, at all of their places."""

    def changed_values(file: InputName, changes: Mapping[Path, Any]) -> dict[Path, Any] | None:
        variant = variants.of(file, changes)
        return None if variant is None else joint.changes(build_variant(variant))

    of_spec = partial(changed_values, "spec")
    of_cluster = partial(changed_values, "cluster")
    lines = spec_variations(variants.documents["spec"])
    profile_lines: list[Variation] = []
    if only is not None:
        lines = [line for line in lines if line.path[: len(only)] == only]
    else:
        profile = variants.documents["cluster"]
        profile_lines = cluster_variations(profile)
        defaults = sensitivity.default_paths(profile, profile_lines)
        if of_cluster(dict.fromkeys(defaults, MISSING)) == {}:
            profile_lines = [
                line for line in profile_lines if not line.left_out or line.path not in defaults
            ]

    changed: dict[InputName, list[tuple[Variation, frozenset[Path]]]] = {
        "spec": [*outcomes(lines, of_spec, joint.copied)],
        "cluster": [*outcomes(profile_lines, of_cluster)],
    }
    for file, results in changed.items():
        for line, paths in results:
            yield file, line, joint.settled(paths)


def _build_variant(variant: Variant, builds: Iterable[Built]) -> list[Manifests]:
    """Build a variant for the targets of other builds, with their passes; return the manifests of
    each target.
    """
    return [
        build(
            variant.spec,
            variant.job,
            Context(variant.cluster, like.context.target),
            like.passes,
            shared=like.passes is PASSES,
        ).manifests
        for like in builds
    ]


def _inputs_by_value(results: Iterable[_Outcome], lines: InputLines) -> _Inputs:
    """Return the lines each value depends on: first those whose values reach it; within that, those
    with fewer effects first. A mapping or list counts only for values that none of its lines
    changes.
    """
    effects: defaultdict[tuple[InputName, Path], dict[bool, frozenset[Path]]] = defaultdict(dict)
    # for each mapping or list of a file, the manifest values that lines inside it change
    inside: defaultdict[tuple[InputName, Path], set[Path]] = defaultdict(set)
    for file, change, outcome in results:
        changed = outcome - inside[file, change.path] if change.inner else outcome
        effects[file, change.path][change.left_out] = changed
        for length in range(2, len(change.path)):
            inside[file, change.path[:length]] |= changed

    inputs: defaultdict[Path, list[tuple[bool, int, Input]]] = defaultdict(list)
    for (file, line_path), of_line in effects.items():
        left_out, other_value = (of_line.get(way, frozenset()) for way in (True, False))
        count = len(left_out | other_value)
        for paths, is_left_out, is_other in (
            (left_out & other_value, True, True),
            (left_out - other_value, True, False),
            (other_value - left_out, False, True),
        ):
            if paths:
                line = lines.input(file, line_path, is_left_out, is_other)
                for path in paths:
                    inputs[path].append((not is_other, count, line))

    return {
        path: tuple(
            line
            for _, _, line in (sorted(ranked, key=itemgetter(0, 1)) if len(ranked) > 1 else ranked)
        )
        for path, ranked in inputs.items()
    }


def _target_choice_inputs(built: Built, lines: InputLines) -> _Inputs:
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
    likes = [built._replace(context=Context(cluster, target)) for target in (fitting, another)]
    without, instead = (
        dict(changed_leaves(built.manifests, manifests)).keys()
        for manifests in _build_variant(free, likes)
    )

    return {
        path: (lines.input("spec", sensitivity.TARGET, path in without, path in instead),)
        for path in without | instead
    }


def _last_key(path: Path) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "")
