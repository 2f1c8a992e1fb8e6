"""A stream whose objects change: results for an object are kept while a new stream would give the same.

Contract: results that are computed for an object through its view of the stream depend only on the object and on the
answers of that view about other objects. The view records its answers. `ChangingStream.change` repeats every question
and discards the results of an object if an answer differs, so the results that it keeps equal those of a new stream.

There are three kinds of questions: objects looked up in the stream (`Objects`), the `Subject` of another object, and
entries of a table over all objects (`Stream.cached`). Everything is discarded if the kinds in the stream change, if it
begins or ceases to have several objects, or if objects of other files change. Answers are equal if they are the same
objects or equal plain values. Tables are computed again after each change, mostly from subjects that are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter, is_

from ptcompile._internal.lazy import cached_property
from ptcompile.kubernetes.index import Objects
from ptcompile.linter.workload import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, TypeVar

    from ptcompile.kubernetes.index import GroupVersionKind
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.kubernetes.versions import Versions

    T = TypeVar("T")

    _Question = Callable[[Stream], Any]
    _Compute = Callable[[Stream], Any]

_ABSENT: Final = object()
"""Stands for a missing entry of a table."""
_PLAIN: Final = (str, int, bool, frozenset)
_MAX_ROUNDS: Final = 8
"""Number of checks after a change before all results are discarded."""


class Derivation:
    """The results for one object or for one table, and the answers that they depend on."""

    def __init__(self, stream: ChangingStream, manifest: Json | None = None) -> None:
        self.manifest = manifest
        self.subject: Any = None
        self.cached: dict[_Compute, Any] = {}
        self.judgment: Any = None
        """A result that the user of the stream keeps with the object."""
        self.answers: dict[object, tuple[_Question, Any]] = {}
        self.entries: dict[tuple[_Compute, object], Any] = {}
        self.uses: set[Derivation] = set()
        self.view: Stream = _View(stream, self)

    def has_same_answers(self, stream: ChangingStream) -> bool:
        """Return whether the stream still gives the same objects in its answers."""
        return all(_are_same(stream.answer(key, question), answer) for key, (question, answer) in self.answers.items())


class ChangingStream:
    """The current version of a stream, and the results for its objects."""

    def __init__(self, versions: Versions, frameworks: Sequence[str]) -> None:
        self._versions, self._frameworks = versions, frameworks
        self.current = Stream((), versions, frameworks=frameworks)
        self.texts: dict[int, frozenset[str] | None] = {}
        self._related: tuple[Json, ...] | None = None
        self._derivations: dict[int, Derivation] = {}
        self._tables: dict[_Compute, tuple[Derivation, Any]] = {}
        self._answers: dict[object, Any] = {}

    def change(
        self, objects: Sequence[Json], texts: Mapping[int, frozenset[str] | None], related: Sequence[Json] | None
    ) -> None:
        """Set the objects of the stream. Objects that it had before keep their results if these are still valid."""
        before, self.current = self.current, Stream(objects, self._versions, texts, related, self._frameworks)
        self.texts.clear()
        self.texts.update(texts)
        self._tables, self._answers = {}, {}
        old = self._derivations if self._is_same_world(before, related) else {}
        self._related = None if related is None else tuple(related)
        self._derivations = {
            id(manifest): old.get(id(manifest)) or Derivation(self, manifest) for manifest in self.current.objects
        }
        self._drop([kept for kept in self._derivations.values() if not kept.has_same_answers(self)])
        self._drop_other_entries()

    def _is_same_world(self, before: Stream, related: Sequence[Json] | None) -> bool:
        """Return whether everything that all results depend on is unchanged."""
        return (
            before.kinds == self.current.kinds
            and before.has_context == self.current.has_context
            and (related is None) == (self._related is None)
            and _are_same((*(related or ()),), self._related or ())
        )

    def _drop_other_entries(self) -> None:
        """Drop results that depend on other entries than the current tables have, until no more have to be dropped."""
        for _ in range(_MAX_ROUNDS):
            dropped = [kept for kept in self._derivations.values() if not self._has_same_entries(kept)]
            if not dropped:
                return
            self._drop(dropped)
        self._drop(self._derivations.values())

    def _has_same_entries(self, derivation: Derivation) -> bool:
        return all(
            _is_equal(_entry(self.table(compute), key), value)
            for (compute, key), value in list(derivation.entries.items())
        )

    def _drop(self, dropped: Collection[Derivation]) -> None:
        """Drop these derivations, and the derivations and tables that used them."""
        live = {*self._derivations.values()}
        pending = {*dropped, *(derivation for derivation in live if not derivation.uses <= live)}
        while pending:
            for derivation in pending:
                self._derivations[id(derivation.manifest)] = Derivation(self, derivation.manifest)
            live = {*self._derivations.values()}
            pending = {derivation for derivation in live if not derivation.uses <= live}
        tables, self._tables = self._tables, {}
        for compute, (derivation, value) in tables.items():  # a table comes after those that it uses
            if derivation.uses <= live and all(used in self._tables for used, _ in derivation.entries):
                self._tables[compute] = derivation, value

    def cached_for_objects(self, compute: _Compute) -> list[Any]:
        """Return the results of `Stream.cached_for_object` for the objects of the stream, as far as there are any."""
        return [kept.cached[compute] for kept in self._derivations.values() if compute in kept.cached]

    def of(self, manifest: Json) -> Derivation | None:
        """Return the derivation of an object of the stream, or None for an object inside another."""
        return self._derivations.get(id(manifest))

    def answer(self, key: object, question: _Question) -> Any:
        """Return the current answer to the question with this key, computed once per change."""
        if key not in self._answers:
            self._answers[key] = question(self.current)
        return self._answers[key]

    def table(self, compute: _Compute) -> Any:
        """Return a table over all objects, computed once per change."""
        if compute not in self._tables:
            derivation = Derivation(self)
            value = compute(derivation.view)
            self._tables[compute] = derivation, value
        return self._tables[compute][1]


class _View(Stream):
    """The stream for the computations of one derivation: always the current version, and every answer is recorded."""

    def __init__(self, stream: ChangingStream, derivation: Derivation) -> None:
        current = stream.current
        super().__init__((), current.versions, frameworks=current.frameworks)
        self._stream, self._derivation = stream, derivation
        self.objects = _WatchedObjects(stream, derivation.answers, ("objects",), attrgetter("objects"))
        self.related_ids, self.has_context, self.texts = current.related_ids, current.has_context, stream.texts

    @cached_property
    def kinds(self) -> frozenset[str]:
        return self._stream.current.kinds

    @cached_property
    def supporting_objects(self) -> Objects:
        question = attrgetter("supporting_objects")
        return _WatchedObjects(self._stream, self._derivation.answers, ("supporting",), question)

    def cached(self, compute: Callable[[Stream], T]) -> T:
        value, entries = self._stream.table(compute), self._derivation.entries
        if type(value) is dict:
            return _WatchedTable(self._stream, compute, entries)  # type: ignore[return-value]
        entries[compute, _ABSENT] = value
        return value  # type: ignore[no-any-return]

    def cached_for_object(self, compute: Callable[[Stream], T]) -> T:
        cached = self._derivation.cached
        if compute not in cached:
            cached[compute] = compute(self)
        return cached[compute]  # type: ignore[no-any-return]

    def subject(self, manifest: Json, make: Callable[..., T]) -> T:
        derivation = self._stream.of(manifest)
        if derivation is None:  # an object inside another
            return make(manifest, stream=self)
        if derivation is not self._derivation:
            self._derivation.uses.add(derivation)
        if derivation.subject is None:
            derivation.subject = make(manifest, stream=derivation.view)
        return derivation.subject  # type: ignore[no-any-return]

    def drop_subject(self, manifest: Json) -> bool:
        return False


class _WatchedTable(Mapping["Any", "Any"]):
    """The current version of a table. Every entry that is read is recorded."""

    def __init__(self, stream: ChangingStream, compute: _Compute, entries: dict[tuple[_Compute, object], Any]) -> None:
        self._stream, self._compute, self._entries = stream, compute, entries

    def _read(self, key: tuple[object] | None) -> Any:
        self._entries[self._compute, key] = value = _entry(self._stream.table(self._compute), key)
        return value

    def __getitem__(self, key: object) -> Any:
        value = self._read((key,))
        if value is _ABSENT:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read(None))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _entry(table: Any, key: object) -> Any:
    """Return the entry with `(key,)` of a table, all its keys for None, and the table itself for `_ABSENT`."""
    if key is _ABSENT:
        return table
    return tuple(table) if key is None else table.get(key[0], _ABSENT)  # type: ignore[index]


class _WatchedObjects(Objects):
    """The objects of the current stream. Every answer is recorded."""

    def __init__(
        self,
        stream: ChangingStream,
        answers: dict[object, tuple[_Question, Any]],
        place: tuple[str, ...],
        find: Callable[[Stream], Objects],
    ) -> None:
        super().__init__()
        self._stream, self._answers, self._place, self._find = stream, answers, place, find

    def _ask(self, name: str, *arguments: Any, key: object = None) -> Any:
        asked = self._place, name, repr(arguments) if key is None else key
        if asked not in self._answers:
            question = partial(_answer, self._find, name, arguments)
            self._answers[asked] = question, self._stream.answer(asked, question)
        return self._answers[asked][1]

    def __len__(self) -> int:
        return int(self._ask("__len__"))

    def __iter__(self) -> Iterator[Json]:
        return iter(self._ask("__getitem__", slice(None)))

    def with_change(self, change: Callable[[Json], Json], results: dict[int, Objects]) -> Objects:
        return Objects(self).with_change(change, results)

    def of_kind(self, kind: GroupVersionKind) -> Sequence[Json]:
        return self._ask("of_kind", kind)  # type: ignore[no-any-return]

    def by_name(self, kind: GroupVersionKind, name: str) -> Sequence[Json]:
        return self._ask("by_name", kind, name)  # type: ignore[no-any-return]

    def in_namespace(self, namespace: str) -> Objects:
        if namespace not in self._by_namespace:
            find = partial(_answer, self._find, "in_namespace", (namespace,))
            place = (*self._place, namespace)
            self._by_namespace[namespace] = _WatchedObjects(self._stream, self._answers, place, find)
        return self._by_namespace[namespace]

    def services_at(self, host: str) -> Sequence[Json]:
        return self._ask("services_at", host)  # type: ignore[no-any-return]

    def services_selecting(self, labels: Mapping[str, str]) -> list[Json]:
        return self._ask("services_selecting", dict(labels))  # type: ignore[no-any-return]

    def writes(self, entry: Json) -> bool:
        return bool(self._ask("writes", entry))

    def has_only(self, manifest: Json) -> bool:
        return bool(self._ask("has_only", manifest, key=id(manifest)))


def _answer(find: Callable[[Stream], Objects], name: str, arguments: tuple[Any, ...], stream: Stream) -> Any:
    return getattr(find(stream), name)(*arguments)


def _are_same(value: Any, other: Any) -> bool:
    """Return whether two answers are the same objects, or the same number."""
    if isinstance(value, list | tuple):
        return len(value) == len(other) and all(map(is_, value, other))
    return bool(value == other)


def _is_equal(value: Any, other: Any) -> bool:
    """Return whether two entries of tables have the same things in the same places, or equal names, labels and numbers.

    Parts of objects are never equal unless they are the same: a rule may ask whether one is its own.
    """
    if value is other:
        return True
    if type(value) is not type(other):
        return False
    if isinstance(value, list | tuple):
        return len(value) == len(other) and all(map(_is_equal, value, other))
    if isinstance(value, dict):
        is_plain = "apiVersion" not in value and all(type(item) in _PLAIN for item in value.values())
        return is_plain and _is_equal([*value.items()], [*other.items()])
    return type(value) in _PLAIN and bool(value == other)
