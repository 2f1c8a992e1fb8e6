"""What an absent field means: the shape of what each operator knows about its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.untyped import Json

NOTHING: Final = object()
"""There is no default."""

Place = tuple[str, ...]
"""The end of a path, `*` for an item of a list or a key that people choose; before it one kind, where it is its own."""


class Defaults(NamedTuple):
    """Values by place, and those that come from the mapping that would hold the field."""

    values: Mapping[Place, Any]
    computed: Mapping[Place, Callable[[Json], Any]] = {}  # never changed
