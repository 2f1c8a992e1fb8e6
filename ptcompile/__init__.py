"""ptcompile: one typed PyTorch training spec into validated Kubernetes manifests, for every operator, offline.

The public names are the list below. Verbs take text, bytes or plain mappings and return values; nothing here does I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptcompile.api import CompileError, Report, Result, compile, lint
from ptcompile.diagnostics import Diagnostic, Span

if TYPE_CHECKING:
    from ptcompile.cluster import ClusterProfile
    from ptcompile.spec import Spec

__version__ = "0.1.0"

__all__ = [
    "ClusterProfile",
    "CompileError",
    "Diagnostic",
    "Report",
    "Result",
    "Span",
    "Spec",
    "__version__",
    "compile",
    "lint",
]


def __getattr__(name: str) -> Any:
    """The two vocabularies, loaded when asked for: linting a manifest needs no pydantic."""
    if name == "Spec":
        from ptcompile.spec import Spec

        return Spec
    if name == "ClusterProfile":
        from ptcompile.cluster import ClusterProfile

        return ClusterProfile
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
