"""What the field rules know besides the object: the server's version, and the pod that a container belongs to."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.findings.diagnostics import Problem
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NEWEST = (1, 36)
"""The Kubernetes version whose answers these rules were compared with."""


class Context(NamedTuple):
    """The API server that is asked."""

    kubernetes: tuple[int, int] = NEWEST
    """Major and minor version, for example `(1, 36)`."""
    exact: bool = False
    """Whether equal parts of the object are the same data: `structure.complete`."""

    def at_least(self, minor: int) -> bool:
        """Whether the server is Kubernetes 1.`minor` or newer."""
        return self.kubernetes >= (1, minor)


class Scope(NamedTuple):
    """One pod spec under check: what its parts need to know of the whole."""

    spec: Mapping[str, Any]
    context: Context
    template: bool
    """A template inside another object, not a Pod: fewer defaults, a few rules less."""
    volumes: Mapping[str, Any] | None
    """The volumes by name, or `None` where they cannot be known (so no mount is called missing)."""
    claims: frozenset[str] | None
    """Names in `resourceClaims`, or `None` where they cannot be known."""
    found: list[Problem]
