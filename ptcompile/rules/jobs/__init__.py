"""Rules for Indexed Jobs (batch/v1)."""

from __future__ import annotations

from ptcompile.rules.rule import Rule

RULES: tuple[Rule, ...] = ()
