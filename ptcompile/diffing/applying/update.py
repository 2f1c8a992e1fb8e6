"""A change of one object, as the rules of updates are asked about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.versions import Versions
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = Mapping[str, Any]


class Update(NamedTuple):
    """An object as it is and as the file would have it."""

    old: Json
    new: Json
    versions: Versions
    touched: tuple[tuple[str, ...], ...]
    """The paths that differ, as `diffing.paths.changes` has them; defaults are no difference."""

    def under(self, *path: str) -> list[tuple[str, ...]]:
        """The paths that differ at or below a place."""
        return [one for one in self.touched if one[: len(path)] == path]


Rule = Callable[[Update], Iterator[Problem]]
