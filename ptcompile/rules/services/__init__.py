"""Rules for Services."""

from __future__ import annotations

from ptcompile.rules.rule import Rule

RULES: tuple[Rule, ...] = ()
