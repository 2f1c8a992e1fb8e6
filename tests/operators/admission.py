"""Shortcuts to the problems that an operator's webhook and controller report."""

from __future__ import annotations

from typing import Any

from ptcompile.diagnostics import Problem
from ptcompile.kinds.model import Kind, KindContext
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.table import kind_named


def admission(manifest: dict[str, Any]) -> Kind:
    """Return the kind of the manifest, which must have rejections."""
    kind = kind_named(kind_of(manifest))
    assert kind.rejects
    return kind


def errors_of(
    manifest: dict[str, Any], *, others: Any = (), versions: Versions | None = None
) -> list[Problem]:
    """Return the errors found after defaulting, without warnings."""
    kind = admission(manifest)
    problems = kind.rejections().validate(
        kind.default(manifest), KindContext(versions or Versions(), others)
    )
    return [p for p in problems if p.severity == "error"]


def later(
    manifest: dict[str, Any], *, others: Any = (), versions: Versions | None = None
) -> list[Problem]:
    """Return the errors that the controller reports after admission."""
    kind = admission(manifest)
    return list(
        kind.rejections().controller_errors(
            kind.default(manifest), KindContext(versions or Versions(), others)
        )
    )


def only(problems: list[Problem]) -> Problem:
    """Return the only problem."""
    assert len(problems) == 1, [p.message for p in problems]
    return problems[0]
