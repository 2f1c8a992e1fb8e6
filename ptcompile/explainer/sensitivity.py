"""Sensitivity of values to spec lines: lines are omitted or changed, one at a time or half of them
at once.

Of n similar lines, such as the entries of `env`, half are changed at a time: lines with a given bit
in their number, and lines without it. A value of the manifests that depends on exactly one line
changes for one of the two halves of every bit, and these bits are the line's number: 2 log2(n)
compilations instead of n. Other values depend on several lines, which are then tried one by one; so
are all lines if a half is invalid. Other texts on all lines that are copied to the manifests show
at once where each of them is.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal  # noqa: TID253 - hints of a public type; no cold start reads it

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.compiler.checks.kubernetes_fields import kubernetes_field_problems
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.reader import with_placeholder_name
from ptcompile.diagnostics import Path
from ptcompile.explainer.values import identity, leaves, value_at
from ptcompile.kubernetes.unstructured import MISSING, Json
from ptcompile.spec import reader
from ptcompile.spec.reader import CLUSTER, SPEC, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import Job
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec

    Evaluate = Callable[[Mapping[Path, Any]], Mapping[Path, Any] | None]
    """Takes new values of lines; returns the manifest values that change with them, by path, or
    None if the document is invalid.
    """
    _EvaluateSome = Callable[[Iterable[int]], Mapping[Path, Any] | None]
    """Takes the numbers of some variations of a family; returns what they change together."""


InputName = Literal["spec", "cluster"]
"""The name of one of the two inputs."""

TARGET: Path = ("spec", "target")
"""The only spec field that chooses the writer without affecting what is written."""

_FREE_KEY_MAPPINGS = frozenset(load_table("explainer/companions.json")["free_keys"])
"""Mappings with user-chosen keys: values under different keys are similar."""


class Variation(NamedTuple):
    """A change of one line."""

    path: Path
    left_out: bool
    """Whether the line is omitted; otherwise its value is replaced."""
    inner: bool
    """Whether the path leads to a non-empty mapping or list."""
    values: Callable[[], Iterator[Any]]
    """Values to try until the document is valid, or `MISSING`."""
    alike: tuple[object, ...]
    """Equal for the same change of lines that differ by a list index, or by a user-chosen key.

    Lines in list items that cannot be told apart are similar to no other line: it is unclear which
    item is gone.
    """
    in_twin: bool
    """Whether the line is in such an item."""


def spec_variations(data: Json) -> list[Variation]:
    """Return the variations of a TrainingJob. Its target stays fixed: another one would change
    every line.
    """
    return [
        variation
        for variation in _variations(data, ("metadata", "spec"), SPEC)
        if variation.path != TARGET
    ]


def cluster_variations(document: Json) -> list[Variation]:
    """Return the variations of a profile with its defaults, which are lines that no user wrote."""
    return list(_variations(document, ("spec",), CLUSTER))


def default_paths(document: Json, lines: Iterable[Variation]) -> frozenset[Path]:
    """Return the lines of a profile that repeat a default; most profiles have forty.

    Omitting all of them only changes whether they are set, which little code checks: one
    compilation shows that none of them matters.
    """
    default = reader.default_cluster().document()
    return frozenset(
        variation.path
        for variation in lines
        if value_at(default, variation.path) == value_at(document, variation.path)
    )


class Variant(NamedTuple):
    """A spec and a profile, one of them changed, and the job that they give."""

    spec: Spec
    cluster: ClusterProfile
    job: Job


def variant_of(spec: Spec, cluster: ClusterProfile) -> Variant:
    """Return a spec and a profile with the job that they give."""
    return Variant(spec, cluster, lower(with_placeholder_name(spec), cluster))


class Variants:
    """The variants of a spec and of its profile."""

    def __init__(self, data: Json, spec: Spec, cluster: ClusterProfile) -> None:
        self.base = variant_of(spec, cluster)
        self.documents: dict[InputName, Json] = {"spec": data, "cluster": cluster.document()}
        """The spec, and the profile with all its defaults."""

    def of(self, file: InputName, changes: Mapping[Path, Any]) -> Variant | None:
        """Return the variant for new values in a file, or None if it is invalid or does not
        compile.

        What it does not change of the base's roles is the same object, which takes no time to
        compare.
        """
        data = replace_at(self.documents[file], changes)
        base = self.base
        spec = reader.read_spec(data) if file == "spec" else base.spec
        cluster = reader.read_cluster(data) if file == "cluster" else base.cluster
        if spec is None or cluster is None or any(kubernetes_field_problems(spec.spec)):
            return None

        variant = variant_of(spec, cluster)
        roles = variant.job.roles
        old = base.job.roles
        roles = (*map(_with_parts_of, roles, old), *roles[len(old) :])
        return variant._replace(job=variant.job._replace(roles=roles))


def _with_parts_of(value: Any, base: Any) -> Any:
    """Return a value of a job in which each part that equals that of `base` is that of `base`."""
    if hasattr(value, "_fields") and hasattr(base, "_fields"):
        return value._make(map(_with_parts_of, value, base))
    return base if value == base else value


def replace_at(data: Any, new: Mapping[Path, Any]) -> Any:
    """Return a copy of the data with the values at existing paths replaced, or removed for
    `MISSING`.
    """
    if () in new:
        return new[()]

    below: defaultdict[str | int, dict[Path, Any]] = defaultdict(dict)
    for (head, *rest), value in new.items():
        below[head][tuple(rest)] = value
    pairs = data.items() if isinstance(data, Mapping) else enumerate(data)
    replaced = [
        (key, replace_at(value, below[key]) if key in below else value) for key, value in pairs
    ]
    kept = [(key, value) for key, value in replaced if value is not MISSING]
    if isinstance(data, Mapping):
        return dict(kept)

    return [value for _, value in kept]


def _variations(data: Json, roots: tuple[str, ...], document: Block) -> Iterator[Variation]:
    """Yield variations of every leaf, omitted and with another value, then of its parents,
    omitted, innermost first.
    """
    below = [
        (path, value)
        for root in roots
        for path, value in leaves(data.get(root, {}), (root,))
        if len(path) > 1
    ]
    twins = set(_indistinct_items(data))
    taken: defaultdict[Path, set[object]] = defaultdict(set)
    for path, value in below:
        taken[_pattern(path, twins)].add(value if isinstance(value, str | int | float) else None)
    for path, value in below:
        pattern = _pattern(path, twins)
        alike = (pattern, type(value))
        in_twin = any(isinstance(part, int) for part in pattern)
        yield Variation(path, True, False, _yield_missing, (*alike, "without"), in_twin)
        if isinstance(value, str | int | float):
            others = _other_values(data, path, value, document, taken[pattern])
            yield Variation(path, False, False, others, (*alike, "other"), in_twin)

    holders = dict.fromkeys(path[:length] for path, _ in below for length in range(2, len(path)))
    for path in sorted(holders, key=len, reverse=True):
        yield Variation(path, True, True, _yield_missing, (_pattern(path, twins), "holder"), False)


def _indistinct_items(value: Any, path: Path = (), field: str = "") -> Iterator[Path]:
    """Yield the list items that cannot be told from another item of their list."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _indistinct_items(inner, (*path, key), str(key))
    elif isinstance(value, list):
        names = [repr(item) if (name := identity(item, field)) is None else name for item in value]
        counts = Counter(names)
        for i, item in enumerate(value):
            if counts[names[i]] > 1:
                yield (*path, i)
            yield from _indistinct_items(item, (*path, i), field)


def _pattern(path: Path, twins: Collection[Path]) -> Path:
    """Return a path with a star for each list index and user-chosen key; unchanged within
    indistinct items.
    """
    parents = ("", *path)
    starred = (
        isinstance(part, int) or parents[i] in _FREE_KEY_MAPPINGS for i, part in enumerate(path)
    )
    if twins and any(path[:length] in twins for length in range(1, len(path) + 1)):
        return path
    return tuple(
        "*" if is_starred else part for is_starred, part in zip(starred, path, strict=True)
    )


def _yield_missing() -> Iterator[Any]:
    yield MISSING


def _other_values(
    data: Json, path: Path, value: str | float, document: Block, taken: set[object]
) -> Callable[[], Iterator[str | float]]:
    """Return other values of the same type, the most similar first; values in `taken`, which
    similar lines have, come last.
    """

    def others() -> Iterator[str | float]:
        """Yield the values."""
        if isinstance(value, bool):
            yield not value
        elif isinstance(value, str):
            texts = dict.fromkeys(text for text in _similar_texts(value) if text != value)
            yield from sorted(texts, key=taken.__contains__)
            _, faults = reader.read(document, replace_at(data, {path: f"{value}-x"}))
            allowed = (text for violation in faults for text in violation.expected)
            yield from (text for text in allowed if text != value)
        else:
            yield from sorted((value + 1, value - 1), key=taken.__contains__)

    return others


def _similar_texts(value: str) -> Iterator[str]:
    """Yield the text with every number plus one (`2:4`, `64Gi`, `img:1.2`), with only the last one
    (`1.34`), or with a suffix.
    """
    yield re.sub(r"[0-9]{1,9}", _incremented, value)
    yield re.sub(r"[0-9]{1,9}(?=[^0-9]*$)", _incremented, value)
    yield f"{value}-x"
    yield f"{value}x"


def _incremented(number: re.Match[str]) -> str:
    return str(int(number.group()) + 1)


MAX_SINGLE = 12
"""Number of similar lines up to which lines are tried one by one.

If one or two compilations may tell lines apart by their values, they are tried together from a
quarter as many.
"""
_NAME: Path = ("metadata", "name")
"""The line whose text is a part of many values."""
_is_other_word = re.compile(r"[A-Z][A-Za-z]*-?x").fullmatch
"""Matches the other text of a word such as `Always`, which is rarely valid."""


def outcomes(
    changes: Sequence[Variation], outcome: Evaluate, copied: Collection[Path] = ()
) -> Iterator[tuple[Variation, frozenset[Path]]]:
    """Yield each variation with a valid document, with the manifest values that it changes, in
    order.

    `copied` are lines whose texts are values of the manifests: if nothing else depends on them, one
    compilation with other texts on all of them tells their outcomes.
    """
    results = _outcomes_of_copied(changes, outcome, copied)
    families: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, change in enumerate(changes):
        if number not in results:
            families[change.alike].append(number)

    # the manifest values that change with the value of a line, by the line's path
    reached = {changes[number].path: paths for number, paths in results.items()}
    # lines are left out last: `reached` then tells on which line a value depends
    for members in sorted(families.values(), key=lambda members: changes[members[0]].left_out):
        joint = _joint_outcomes([changes[number] for number in members], outcome, reached)
        for number, result in zip(members, joint or [None] * len(members), strict=True):
            change = changes[number]
            if result is None:
                alone = (outcome({change.path: value}) for value in change.values())
                result = next((frozenset(paths) for paths in alone if paths is not None), None)
            if result is not None:
                results[number] = result
                if not change.left_out:
                    reached[change.path] = result

    for number, change in enumerate(changes):
        if number in results:
            yield change, results[number]


def _outcomes_of_copied(
    changes: Sequence[Variation], outcome: Evaluate, copied: Collection[Path]
) -> dict[int, frozenset[Path]]:
    """Return the outcomes of new texts on copied lines by the number of the variation, or none if
    it is unclear which value depends on which line.
    """
    texts: dict[str, int] = {}
    for number, change in enumerate(changes):
        if (
            change.path in copied
            and change.path != _NAME
            and not (change.left_out or change.in_twin)
        ):
            text = next((value for value in change.values() if value not in texts), None)
            if isinstance(text, str) and not _is_other_word(text):
                texts[text] = number

    if len(texts) <= MAX_SINGLE // 4:
        return {}

    values = list(texts)
    evaluate = _evaluate_some([changes[number] for number in texts.values()], values, outcome)
    paths_of_line = _outcomes_by_value(evaluate, values)
    if paths_of_line is None:
        return {}

    return {
        number: paths
        for number, paths in zip(texts.values(), paths_of_line, strict=True)
        if paths is not None
    }


def _evaluate_some(
    changes: Sequence[Variation], values: Sequence[Any], outcome: Evaluate
) -> _EvaluateSome:
    """Return a function from the numbers of variations to what they change together, or None if
    they are invalid.
    """
    return lambda numbers: outcome({changes[i].path: values[i] for i in numbers})


_Outcomes = list[frozenset[Path] | None]
"""The outcome of each variation of a family, or None for one to be tried alone."""


def _joint_outcomes(
    changes: Sequence[Variation], outcome: Evaluate, reached: Mapping[Path, Collection[Path]]
) -> _Outcomes | None:
    """Return the outcome of each variation of a family, or None if all have to be tried alone."""
    values = [next(change.values(), None) for change in changes]
    if len(changes) <= MAX_SINGLE // 4 or any(value is None for value in values):
        return None

    evaluate = _evaluate_some(changes, values, outcome)
    if changes[0].left_out:
        paths_of_line = _outcomes_by_owner(evaluate, [change.path for change in changes], reached)
    else:
        paths_of_line = _outcomes_by_value(evaluate, values)
    if paths_of_line is None and len(changes) > MAX_SINGLE:
        return _outcomes_by_bits(evaluate, len(changes))

    return paths_of_line


def _outcomes_by_value(evaluate: _EvaluateSome, values: Sequence[Any]) -> _Outcomes | None:
    """Return the outcomes of lines with distinct new texts, tried at once, or None if some value is
    none of the texts.

    Each changed value of the manifests is the new text of one line, so it depends on that line.
    """
    numbers = {value: i for i, value in enumerate(values) if isinstance(value, str)}
    changed = evaluate(range(len(values))) if len(numbers) == len(values) else None
    if changed is None:
        return None

    paths_of_line: list[set[Path]] = [set() for _ in values]
    for path, value in changed.items():
        number = numbers.get(value) if isinstance(value, str) else None
        if number is None:
            return None
        paths_of_line[number].add(path)

    return _with_empty_checked(evaluate, paths_of_line)


def _outcomes_by_owner(
    evaluate: _EvaluateSome, lines: Sequence[Path], reached: Mapping[Path, Collection[Path]]
) -> _Outcomes | None:
    """Return the outcomes of lines omitted in two halves, or None if it is unclear on which one a
    value depends.

    A value depends on the line whose own value it has, or whose values are the only ones next to
    it: a variable's name is next to its value.
    """
    owners = _owners(lines, reached)
    paths_of_line: list[set[Path]] = [set() for _ in lines]
    for side in (0, 1):
        changed = evaluate(range(side, len(lines), 2))
        if changed is None:
            return None
        for path in changed:
            parents = (path[:length] for length in range(len(path), -1, -1))
            number = next((owners[parent] for parent in parents if parent in owners), None)
            if number is None or number % 2 != side:
                return None
            paths_of_line[number].add(path)

    return _with_empty_checked(evaluate, paths_of_line)


def _owners(
    lines: Sequence[Path], reached: Mapping[Path, Collection[Path]]
) -> dict[Path, int | None]:
    """Return the number of the only line whose values are at or below a path of the manifests,
    or None for several.
    """
    numbers = {line: number for number, line in enumerate(lines)}
    lengths = {len(line) for line in lines}
    owners: dict[Path, int | None] = {}
    for line, paths in reached.items():
        for number in [numbers[line[:length]] for length in lengths if line[:length] in numbers]:
            for path in paths:
                for end in range(len(path), -1, -1):
                    if owners.setdefault(path[:end], number) == number:
                        continue
                    if owners[path[:end]] is None:
                        break
                    owners[path[:end]] = None

    return owners


def _with_empty_checked(evaluate: _EvaluateSome, paths_of_line: Sequence[set[Path]]) -> _Outcomes:
    """Return the outcomes; lines that seem to change nothing are tried again without the others,
    which may hide it.
    """
    empty = [number for number, paths in enumerate(paths_of_line) if not paths]
    is_hidden = 0 < len(empty) < len(paths_of_line) and evaluate(empty) != {}
    return [None if is_hidden and not paths else frozenset(paths) for paths in paths_of_line]


def _outcomes_by_bits(evaluate: _EvaluateSome, count: int) -> _Outcomes | None:
    """Return the outcomes by trying two halves for each bit of the lines' numbers, or None if a
    half is invalid.
    """
    patterns: defaultdict[Path, list[int]] = defaultdict(lambda: [0, 0])
    for bit in range((count - 1).bit_length()):
        for side in (0, 1):
            result = evaluate(i for i in range(count) if i >> bit & 1 == side)
            if result is None:
                return None
            for path in result:
                patterns[path][side] |= 1 << bit
    return _decode_outcomes(count, patterns)


class _BitPattern(NamedTuple):
    """The bits for which a value changed with the half without the bit, and with the half that
    has it.
    """

    without: int
    having: int

    def fits(self, number: int, whole: int) -> bool:
        """Return whether the variation with this number may be one of those on which the value
        depends.
        """
        only_without = self.without & ~self.having
        only_having = self.having & ~self.without
        return not number & only_without and not ~number & only_having & whole

    def identifies_one(self, count: int, whole: int) -> bool:
        """Return whether each bit changed the value with exactly one half, so that `having` is
        the number of the only variation on which the value depends.
        """
        return self.without == whole & ~self.having and self.having < count


def _decode_outcomes(count: int, patterns: Mapping[Path, Sequence[int]]) -> _Outcomes:
    """Return the values that depend on each variation, or None for a variation on which a value
    may depend that several change.
    """
    whole = (1 << (count - 1).bit_length()) - 1
    paths_by_number: list[set[Path]] = [set() for _ in range(count)]
    doubtful: dict[_BitPattern, None] = {}
    for path, bits in patterns.items():
        pattern = _BitPattern(*bits)
        if pattern.identifies_one(count, whole):
            paths_by_number[pattern.having].add(path)
        else:
            doubtful[pattern] = None

    decoded: _Outcomes = [*map(frozenset, paths_by_number)]
    for pattern in doubtful:
        if decoded.count(None) == count:
            break
        for number in range(count):
            if pattern.fits(number, whole):
                decoded[number] = None

    return decoded
