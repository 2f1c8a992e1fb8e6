"""ptcompile: one typed PyTorch training spec into validated Kubernetes manifests, for every operator, offline.

The public names are the list below. Verbs take text, bytes or plain mappings and return values; nothing here does I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptcompile.api import CompileError, Report, Result, compile, explain, lint
from ptcompile.diagnostics import Diagnostic, Span
from ptcompile.simulating import simulate

if TYPE_CHECKING:
    from ptcompile.cluster import ClusterProfile
    from ptcompile.explaining.explanation import Explanation
    from ptcompile.simulation import World
    from ptcompile.spec import Spec

__version__ = "0.1.0"

__all__ = [
    "ClusterProfile",
    "CompileError",
    "Diagnostic",
    "Explanation",
    "Report",
    "Result",
    "Span",
    "Spec",
    "World",
    "__version__",
    "compile",
    "explain",
    "lint",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """The vocabularies and the world, loaded when asked for: linting a manifest needs neither."""
    if name == "Spec":
        from ptcompile.spec import Spec

        return Spec
    if name == "ClusterProfile":
        from ptcompile.cluster import ClusterProfile

        return ClusterProfile
    if name == "World":
        from ptcompile.simulation import World

        return World
    if name == "Explanation":
        from ptcompile.explaining.explanation import Explanation

        return Explanation
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
