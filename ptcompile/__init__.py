"""ptcompile: one typed PyTorch training spec into validated Kubernetes manifests, for every operator, offline.

The public names are the list below. Verbs take text, bytes or plain mappings and return values; nothing here does I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptcompile.about import __version__
from ptcompile.api import CompileError, Result, compile, explain
from ptcompile.diagnostics import Diagnostic, Span
from ptcompile.linting import Report, lint
from ptcompile.simulating import simulate

if TYPE_CHECKING:
    from ptcompile.cluster import ClusterProfile
    from ptcompile.comparing import diff
    from ptcompile.diffing import Difference
    from ptcompile.explaining.explanation import Explanation
    from ptcompile.simulation import World
    from ptcompile.spec import Spec

__all__ = [
    "ClusterProfile",
    "CompileError",
    "Diagnostic",
    "Difference",
    "Explanation",
    "Report",
    "Result",
    "Span",
    "Spec",
    "World",
    "__version__",
    "compile",
    "diff",
    "explain",
    "lint",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """The vocabularies, the world and differences, loaded when asked for: linting a manifest needs none of them."""
    if name == "Spec":
        from ptcompile.spec import Spec

        return Spec
    if name == "ClusterProfile":
        from ptcompile.cluster import ClusterProfile

        return ClusterProfile
    if name == "World":
        from ptcompile.simulation import World

        return World
    if name == "diff":
        from ptcompile.comparing import diff

        return diff
    if name == "Difference":
        from ptcompile.diffing import Difference

        return Difference
    if name == "Explanation":
        from ptcompile.explaining.explanation import Explanation

        return Explanation
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
