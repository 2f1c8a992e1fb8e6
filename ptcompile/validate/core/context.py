"""What the field rules know besides the object and the server: the pod that a container belongs to."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.findings.diagnostics import Problem
from ptcompile.operators.record import ApiServer
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Scope(NamedTuple):
    """One pod spec under check: what its parts need to know of the whole."""

    spec: Mapping[str, Any]
    context: ApiServer
    template: bool
    """A template inside another object, not a Pod: fewer defaults, a few rules less."""
    volumes: Mapping[str, Any] | None
    """The volumes by name, or `None` where they cannot be known (so no mount is called missing)."""
    claims: frozenset[str] | None
    """Names in `resourceClaims`, or `None` where they cannot be known."""
    found: list[Problem]
