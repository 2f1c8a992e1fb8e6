"""ptcompile: one typed PyTorch training spec into validated Kubernetes manifests, for every operator, offline.

The public names are the list below. Verbs take text, bytes or plain mappings and return values; nothing here does I/O.
"""

from __future__ import annotations

from importlib import import_module

from ptcompile.about import __version__

TYPE_CHECKING = False  # as typing says it, which takes longer to import than all that is here

if TYPE_CHECKING:
    from typing import Any

    from ptcompile.api import CompileError, Result, compile, explain
    from ptcompile.cluster import ClusterProfile
    from ptcompile.comparing import diff
    from ptcompile.diagnostics import Diagnostic, Span
    from ptcompile.diffing import Difference
    from ptcompile.explaining.explanation import Explanation
    from ptcompile.linting import Report, lint
    from ptcompile.simulating import simulate
    from ptcompile.simulation import World
    from ptcompile.spec import Spec
    from ptcompile.verbs.import_manifests import Imported, import_manifests

__all__ = [
    "ClusterProfile",
    "CompileError",
    "Diagnostic",
    "Difference",
    "Explanation",
    "Imported",
    "Report",
    "Result",
    "Span",
    "Spec",
    "World",
    "__version__",
    "compile",
    "diff",
    "explain",
    "import_manifests",
    "lint",
    "simulate",
]


_FROM = {
    "ClusterProfile": "cluster",
    "CompileError": "api",
    "Diagnostic": "diagnostics",
    "Difference": "diffing",
    "Explanation": "explaining.explanation",
    "Imported": "verbs.import_manifests",
    "Report": "linting",
    "Result": "api",
    "Span": "diagnostics",
    "Spec": "spec",
    "World": "simulation",
    "compile": "api",
    "diff": "comparing",
    "explain": "api",
    "import_manifests": "verbs.import_manifests",
    "lint": "linting",
    "simulate": "simulating",
}
"""The module of each public name, imported when it is asked for: linting needs no compiler, compiling no rules."""


def __getattr__(name: str) -> Any:
    """A public name, from its module."""
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"ptcompile.{_FROM[name]}"), name)
    return found
