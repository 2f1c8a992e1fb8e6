"""What an absent field means: the shape of what each operator knows about its own."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ptcompile.kubernetes.untyped import Json

NOTHING: Final = object()
"""There is no default."""

Place = tuple[str, ...]
"""The end of a path, `*` for an item of a list or a key that people choose; before it one kind, where it is its own."""


class Defaults(NamedTuple):
    """Values by place, and those that come from the mapping that would hold the field."""

    values: Mapping[Place, Any]
    computed: Mapping[Place, Callable[[Json], Any]] = {}  # never changed
