"""Rules for Services."""

from __future__ import annotations

RULES: dict[str, str] = {
    "service_not_headless": "@Pod/@Job",
    "selector_misses_pods": "@Pod/@Job",
    "hidden_until_ready": "@Pod/@Job",
    "exposed_rendezvous": "NodePort/LoadBalancer",
    "service_shadows_env": "master",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
