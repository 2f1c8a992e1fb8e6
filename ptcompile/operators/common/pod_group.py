"""Which pods a gang counts: what the operators' own ways share."""

from __future__ import annotations

from ptcompile.operators.common.expansion import Role

Shares = list[tuple[Role, int]]
"""Roles, each with the number of its pods that count."""


def first(limit: int, roles: tuple[Role, ...]) -> Shares:
    """The first pods in the order of their roles, the higher priority class first: its value is not in the manifest."""
    out: Shares = []
    for role in roles:
        taken = min(limit, role.count)
        out.append((role, taken))
        limit -= taken
    return out
