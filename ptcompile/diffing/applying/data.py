"""ConfigMap and Secret over an update (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diffing.applying.told import fixed, forbidden
from ptcompile.findings.diagnostics import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.operators.record import Update

_RENAME: Final = "give it a new name, and use that name in the pods; a hash of the content as suffix is common"


def config_map_update(update: Update) -> Iterator[Problem]:
    """A ConfigMap: nothing of it changes once it is immutable."""
    yield from _immutable(update, "data", "binaryData")


def secret_update(update: Update) -> Iterator[Problem]:
    """A Secret: its type never changes."""
    if update.under("type"):
        yield fixed(("type",), update.new.get("type"), "delete it and apply again, or give it a new name")
    yield from _immutable(update, "data", "stringData")


def _immutable(update: Update, *fields: str) -> Iterator[Problem]:
    if update.old.get("immutable") is not True:
        return
    for name in (*fields, "immutable"):
        if update.under(name):
            yield forbidden((name,), "field is immutable when `immutable` is set", _RENAME)
