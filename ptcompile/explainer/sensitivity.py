"""Which lines of the spec change which values: lines left out or changed, one at a time or in halves.

Of n lines that are alike, such as the entries of `env`, half are changed at a time: those whose number has a bit, and
those whose number does not have it. A value of the manifests that only one line decides changes for one of the two
halves of every bit, and these bits are that line's number: 2 log2(n) compilations instead of n. A value of which they
give no such number is decided by several lines, and these are tried one by one; so are all where a half is not valid.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal  # noqa: TID253 - hints of a public type; no cold start reads it

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.paths import MISSING
from ptcompile.compiler.checks.kubernetes_fields import freeform
from ptcompile.diagnostics import Path
from ptcompile.explainer.values import identity, leaves, value_at
from ptcompile.spec import reader
from ptcompile.spec.reader import CLUSTER, SPEC, Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec

    Evaluate = Callable[[Any], frozenset[Path] | None]
    """From a document to the values of the manifests that are others because of it; None where it is not valid."""


InputName = Literal["spec", "cluster"]
"""Which of the two inputs."""

TARGET: Path = ("spec", "target")
"""The one field of a spec that says who writes, and nothing of what is written."""

_OPEN = frozenset(
    {
        "env", "nodeSelector", "podLabels", "podAnnotations", "labels", "annotations", "nodeLabels", "matchLabels",
        "roles", "rdzvConfigs", "devices", "requests", "limits", "resources", "accelerators", "fabrics", "priorities",
    }
)  # fmt: skip
"""Mappings whose keys people choose: what stands under one key is like what stands under another."""


class Variation(NamedTuple):
    """One line changed."""

    path: Path
    left_out: bool
    """Whether the line is gone; else another value stands there."""
    inner: bool
    """Whether the path leads to a mapping or list with something in it."""
    values: Callable[[], Iterator[Any]]
    """What to put there until the document is valid, or `MISSING`."""
    alike: tuple[object, ...]
    """Equal for the same change of lines that differ by a list index, or by a key that people choose.

    Lines in one of two list items that cannot be told apart are like no other: which of the two is gone is not sure.
    """


def of_spec(data: Mapping[str, Any]) -> list[Variation]:
    """The changes of a TrainingJob. Its target is held: another one would change every line."""
    return [one for one in _changes(data, ("metadata", "spec"), SPEC) if one.path != TARGET]


def of_cluster(filled: Mapping[str, Any]) -> list[Variation]:
    """The changes of a profile with its defaults, which are lines that no user wrote."""
    return list(_changes(filled, ("spec",), CLUSTER))


def of_defaults(filled: Mapping[str, Any], lines: Iterable[Variation]) -> frozenset[Path]:
    """The lines of a profile that say what it would be without them, of which most profiles have forty.

    Leaving them all out changes nothing but whether they were given, which is asked of few: one compilation shows that
    none of them matters.
    """
    default = reader.default_cluster().document()
    return frozenset(one.path for one in lines if value_at(default, one.path) == value_at(filled, one.path))


def spec_of(data: Any) -> Spec | None:
    """A changed document as a spec; None where it is none, or does not compile."""
    spec = reader.spec(data)
    return spec if spec is not None and not any(freeform(spec.spec)) else None


def cluster_of(data: Any) -> ClusterProfile | None:
    """A changed document as a profile; None where it is none."""
    return reader.cluster(data)


def filled(cluster: ClusterProfile) -> dict[str, Any]:
    """A profile as the document that would say all of it."""
    return cluster.document()


def replace_at(data: Any, new: Mapping[Path, Any]) -> Any:
    """A copy of the data with other values at paths that it has, or nothing there for `MISSING`."""
    if () in new:
        return new[()]
    below: defaultdict[str | int, dict[Path, Any]] = defaultdict(dict)
    for (head, *rest), value in new.items():
        below[head][tuple(rest)] = value
    pairs = data.items() if isinstance(data, Mapping) else enumerate(data)
    made = [(key, replace_at(value, below[key]) if key in below else value) for key, value in pairs]
    left = [(key, value) for key, value in made if value is not MISSING]
    return dict(left) if isinstance(data, Mapping) else [value for _, value in left]


def _changes(data: Mapping[str, Any], roots: tuple[str, ...], document: Block) -> Iterator[Variation]:
    """Every leaf left out and with another value, then what holds them left out, the inmost first."""
    below = [(path, value) for root in roots for path, value in leaves(data.get(root, {}), (root,)) if len(path) > 1]
    twins = set(_twins(data))
    taken: defaultdict[Path, set[object]] = defaultdict(set)
    for path, value in below:
        taken[_pattern(path, twins)].add(value if isinstance(value, str | int | float) else None)
    for path, value in below:
        pattern = _pattern(path, twins)
        alike = (pattern, type(value))
        yield Variation(path, True, False, _missing, (*alike, "without"))
        if isinstance(value, str | int | float):
            others = _others(data, path, value, document, taken[pattern])
            yield Variation(path, False, False, others, (*alike, "other"))
    holders = dict.fromkeys(path[:length] for path, _ in below for length in range(2, len(path)))
    for path in sorted(holders, key=len, reverse=True):
        yield Variation(path, True, True, _missing, (_pattern(path, twins), "holder"))


def _twins(value: Any, path: Path = (), field: str = "") -> Iterator[Path]:
    """The list items that cannot be told from another one of their list."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _twins(inner, (*path, key), str(key))
    elif isinstance(value, list):
        names = [repr(one) if (name := identity(one, field)) is None else name for one in value]
        counts = Counter(names)
        for i, one in enumerate(value):
            yield from [(*path, i)] if counts[names[i]] > 1 else []
            yield from _twins(one, (*path, i), field)


def _pattern(path: Path, twins: Collection[Path]) -> Path:
    """A path with a star for each list index, and for each key that people choose; as it is within a twin."""
    above = ("", *path)
    starred = (isinstance(part, int) or above[i] in _OPEN for i, part in enumerate(path))
    if twins and any(path[:length] in twins for length in range(1, len(path) + 1)):
        return path
    return tuple("*" if star else part for star, part in zip(starred, path, strict=True))


def _missing() -> Iterator[Any]:
    yield MISSING


def _others(
    data: Mapping[str, Any], path: Path, value: str | float, document: Block, taken: set[object]
) -> Callable[[], Iterator[str | float]]:
    """Other values of the same type: the most like it first, but behind those that no line like it says."""

    def others() -> Iterator[str | float]:
        if isinstance(value, bool):
            yield not value
        elif isinstance(value, str):
            texts = dict.fromkeys(one for one in _texts(value) if one != value)
            yield from sorted(texts, key=taken.__contains__)
            allowed = _allowed(document, replace_at(data, {path: f"{value}-x"}))
            yield from (one for one in allowed if one != value)
        else:
            yield from sorted((value + 1, value - 1), key=taken.__contains__)

    return others


def _texts(value: str) -> Iterator[str]:
    """Every number one higher (`2:4`, `64Gi`, `img:1.2`), the last one alone (`1.34`), or something behind it."""
    yield re.sub(r"[0-9]{1,9}", lambda digits: str(int(digits[0]) + 1), value)
    yield re.sub(r"[0-9]{1,9}(?=[^0-9]*$)", lambda digits: str(int(digits[0]) + 1), value)
    yield f"{value}-x"
    yield f"{value}x"


def _allowed(document: Block, data: Any) -> list[str]:
    """The words of which one must stand where the data has none of them."""
    _, faults = reader.read(document, data)
    return [word for fault in faults for word in fault.expected]


FEW = 12
"""So many lines that are alike are tried one by one."""


def outcomes(
    data: Mapping[str, Any], changes: Sequence[Variation], outcome: Evaluate
) -> Iterator[tuple[Variation, frozenset[Path]]]:
    """Each change that leaves the document valid, with the values of the manifests that it changes. In order."""
    families: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, change in enumerate(changes):
        families[change.alike].append(number)
    found: dict[int, frozenset[Path]] = {}
    for members in families.values():
        together = _together(data, [changes[i] for i in members], outcome) if len(members) > FEW else None
        for number, here in zip(members, together or [None] * len(members), strict=True):
            now = _alone(data, changes[number], outcome) if here is None else here
            if now is not None:
                found[number] = now
    for number, change in enumerate(changes):
        if number in found:
            yield change, found[number]


def _alone(data: Mapping[str, Any], change: Variation, outcome: Evaluate) -> frozenset[Path] | None:
    """What one change does, by the first of its values that is valid."""
    tried = (outcome(replace_at(data, {change.path: value})) for value in change.values())
    return next((now for now in tried if now is not None), None)


def _together(
    data: Mapping[str, Any], changes: Sequence[Variation], outcome: Evaluate
) -> list[frozenset[Path] | None] | None:
    """What each change does, or None for one that has to be tried alone; None as a whole where all have to be."""
    values = [next(change.values(), None) for change in changes]
    if any(value is None for value in values):
        return None
    seen: defaultdict[Path, list[int]] = defaultdict(lambda: [0, 0])
    for bit in range((len(changes) - 1).bit_length()):
        for side in (0, 1):
            half = [i for i in range(len(changes)) if i >> bit & 1 == side]
            now = outcome(replace_at(data, {changes[i].path: values[i] for i in half}))
            if now is None:
                return None
            for path in now:
                seen[path][side] |= 1 << bit
    return _told(len(changes), seen)


class _Seen(NamedTuple):
    """For which bits a value changed with the half that has not the bit, and with the half that has it."""

    without: int
    having: int

    def fits(self, number: int, whole: int) -> bool:
        """Whether a change of this number may be one of those that decide the value."""
        only_without, only_having = self.without & ~self.having, self.having & ~self.without
        return not number & only_without and not ~number & only_having & whole


def _told(count: int, seen: Mapping[Path, Sequence[int]]) -> list[frozenset[Path] | None]:
    whole = (1 << (count - 1).bit_length()) - 1
    own: list[set[Path] | None] = [set() for _ in range(count)]
    doubtful: dict[_Seen, None] = {}
    for path, (without, having) in seen.items():
        mine = own[having] if without ^ having == whole and not without & having and having < count else None
        if mine is None:
            doubtful[_Seen(without, having)] = None
        else:
            mine.add(path)
    for one in doubtful:
        if all(paths is None for paths in own):
            break
        own = [None if paths is None or one.fits(i, whole) else paths for i, paths in enumerate(own)]
    return [None if paths is None else frozenset(paths) for paths in own]
