"""Rules for Services."""

from __future__ import annotations

from ptcompile.rules.rule import Rule
from ptcompile.rules.services import (
    exposed_rendezvous,
    hidden_until_ready,
    selector_misses_pods,
    service_not_headless,
    service_shadows_env,
)

RULES: tuple[Rule, ...] = (
    service_not_headless.RULE,
    selector_misses_pods.RULE,
    hidden_until_ready.RULE,
    exposed_rendezvous.RULE,
    service_shadows_env.RULE,
)
