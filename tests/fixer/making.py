"""Minimal findings with fixes."""

from __future__ import annotations

from ptcompile.diagnostics import Diagnostic, Edit, Fix
from ptcompile.diagnostics.terms import Stage


def finding(
    *edits: Edit,
    safe: bool = True,
    document: int = 0,
    name: str = "missing-shm",
    stage: Stage = "run",
) -> Diagnostic:
    """Return a finding whose fix has these edits."""
    return Diagnostic(
        code="PTC302",
        name=name,
        severity="error",
        message=f"{edits[0].path if edits else ''}: wrong",
        help=None,
        path=edits[0].path if edits else (),
        span=None,
        stage=stage,
        authority="ptcompile",
        document=document,
        fix=Fix(f"fix {edits}", edits, safe),
    )
