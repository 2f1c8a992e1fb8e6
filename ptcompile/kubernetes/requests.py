"""A request to an API server: the server, the kind of the object, and an update of it."""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_value
from ptcompile.kubernetes.versions import Version, Versions, is_switched, newest

GroupVersionKind = tuple[str, str]
"""apiVersion and kind."""


class ApiServer(NamedTuple):
    """The API server that receives an object."""

    # the release that the rules were compared with
    kubernetes: Version = newest("kubernetes", "recorded")
    exact: bool = False
    """Whether equal parts of the object are the same data: `structure.complete`."""
    gates: tuple[tuple[str, bool], ...] = ()
    """Its feature gates that differ from their defaults."""

    def at_least(self, minor: int) -> bool:
        """Return whether the server is Kubernetes 1.`minor` or newer."""
        return self.kubernetes >= (1, minor)

    def has_gate(self, gate: str, on_since: int | None = None) -> bool:
        """Return whether a feature gate is on; `on_since` is the first minor version with it on
        by default, or None if it is off in all of them.
        """
        if self.gates:
            switched = is_switched("kubernetes", gate, self.kubernetes, self.gates)
            if switched is not None:
                return switched
        return on_since is not None and self.at_least(on_since)


class Update(NamedTuple):
    """An update of one object: its current state, and the new state from the file."""

    old: Json
    new: Json
    versions: Versions
    touched: tuple[tuple[str, ...], ...]
    """The paths that differ, from `differ.changes.changes`, which ignores defaults."""

    def under(self, *path: str) -> list[tuple[str, ...]]:
        """Return the paths that differ at or below a path."""
        return [changed for changed in self.touched if changed[: len(path)] == path]

    def values(self, *path: str) -> tuple[Any, Any]:
        """Return the values at a path before and after the update, or None."""
        return nested_value(self.old, *path), nested_value(self.new, *path)

    def maps(self, *path: str) -> tuple[Json, Json]:
        """Return the mappings at a path before and after the update, or empty ones."""
        return nested_map(self.old, *path), nested_map(self.new, *path)
