"""What a webhook says, in short."""

from __future__ import annotations

from typing import Any

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.common.verdict import Webhook, webhook_of


def admission(manifest: dict[str, Any]) -> Webhook:
    """The webhook of the manifest's kind, which has one."""
    webhook = webhook_of(kind_of(manifest))
    assert webhook is not None
    return webhook


def said(manifest: dict[str, Any], *, others: Any = (), versions: Versions | None = None) -> list[Problem]:
    """The refusals after defaulting, without warnings."""
    webhook = admission(manifest)
    found = webhook.check(webhook.default(manifest), versions or Versions(), others)
    return [p for p in found if p.severity == "error"]


def later(manifest: dict[str, Any], *, others: Any = (), versions: Versions | None = None) -> list[Problem]:
    """What is refused after admission."""
    webhook = admission(manifest)
    return list(webhook.later(webhook.default(manifest), versions or Versions(), others))


def one(problems: list[Problem]) -> Problem:
    """The only problem."""
    assert len(problems) == 1, [p.message for p in problems]
    return problems[0]
