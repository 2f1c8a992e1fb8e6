"""Rules for the pods of any kind."""

from __future__ import annotations

from ptcompile.rules.pods import missing_shm
from ptcompile.rules.rule import Rule

RULES: tuple[Rule, ...] = (missing_shm.RULE,)
