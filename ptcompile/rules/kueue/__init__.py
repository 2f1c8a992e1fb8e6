"""Rules for Kueue's labels and annotations, on every kind that it admits."""

from __future__ import annotations

from ptcompile.rules.rule import Rule

RULES: tuple[Rule, ...] = ()
