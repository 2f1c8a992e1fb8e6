"""ptcompile: one typed PyTorch training spec into validated Kubernetes manifests, for every operator, offline.

The public names are the list below. Verbs take text, bytes or plain mappings and return values; nothing here does I/O.
"""

from __future__ import annotations

from importlib import import_module

from ptcompile.about import __version__

TYPE_CHECKING = False  # as typing says it, which takes longer to import than all that is here

if TYPE_CHECKING:
    from typing import Any

    from ptcompile.diffing import Difference
    from ptcompile.explaining.explanation import Explanation
    from ptcompile.findings.diagnostics import Diagnostic, Span
    from ptcompile.simulation import World
    from ptcompile.verbs.compile import CompileError, Result, compile, explain
    from ptcompile.verbs.diff import diff
    from ptcompile.verbs.lint import Report, lint
    from ptcompile.verbs.simulate import simulate
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.spec import Spec

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


_FROM = {
    "ClusterProfile": "vocabulary.cluster.model",
    "CompileError": "verbs.compile",
    "Diagnostic": "findings.diagnostics",
    "Difference": "diffing",
    "Explanation": "explaining.explanation",
    "Report": "verbs.lint",
    "Result": "verbs.compile",
    "Span": "findings.diagnostics",
    "Spec": "vocabulary.spec",
    "World": "simulation",
    "compile": "verbs.compile",
    "diff": "verbs.diff",
    "explain": "verbs.compile",
    "lint": "verbs.lint",
    "simulate": "verbs.simulate",
}
"""The module of each public name, imported when it is asked for: linting needs no compiler, compiling no rules."""


def __getattr__(name: str) -> Any:
    """A public name, from its module."""
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"ptcompile.{_FROM[name]}"), name)
    return found
