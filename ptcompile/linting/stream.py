"""The objects of a stream, as rules look for one among the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.kubernetes.versions import Versions
from ptcompile.memo import cached_property
from ptcompile.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ptcompile.kubernetes.untyped import Json

    T = TypeVar("T")


class Stream:
    """The objects of a stream, as each of them finds the others: indexed once for all rules."""

    def __init__(
        self,
        objects: Sequence[Json] = (),
        versions: Versions | None = None,
        texts: Mapping[int, frozenset[str] | None] | None = None,
    ) -> None:
        self.objects = Objects(objects)
        self.texts = texts or {}
        """All keys and texts of an object, by its identity, where the reader knows them."""
        self.versions = versions or Versions()
        """The releases in force."""
        self._made: dict[Callable[[Stream], object], object] = {}

    def once(self, make: Callable[[Stream], T]) -> T:
        """What a function makes of the stream, made once: an index that one rule alone looks things up in."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("T", self._made[make])

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds there are, as words that a rule may need: `@service`."""
        return frozenset(["@" + kind_of(one)[1].casefold() for one in self.objects])

    @cached_property
    def deciding(self) -> Objects:
        """Those that make no pods, but may decide how others' pods live: Services, runtimes."""
        from ptcompile.operators.pods import RUNS_PODS

        return Objects([one for one in self.objects if kind_of(one) not in RUNS_PODS])

    @cached_property
    def order(self) -> dict[int, int]:
        """The place of each object, by its identity."""
        return {id(one): i for i, one in reversed(list(enumerate(self.objects)))}
