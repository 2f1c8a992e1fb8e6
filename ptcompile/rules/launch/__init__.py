"""Rules for the launch and the rendezvous, asked of the world that a job would make."""

from __future__ import annotations

from ptcompile.rules.rule import Rule

RULES: tuple[Rule, ...] = ()
