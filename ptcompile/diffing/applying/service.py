"""Service over an update (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diffing.applying.told import fixed
from ptcompile.findings.diagnostics import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.operators.record import Update


def service_update(update: Update) -> Iterator[Problem]:
    """A Service: its first address stays what it is, None among them, unless the Service becomes an ExternalName."""
    old, new = (_spec(one) for one in (update.old, update.new))
    if "ExternalName" in (old.get("type"), new.get("type")):
        return
    before, after = _address(old), _address(new)
    if before == after or after is None or (before is None and after != "None"):
        return
    help = "delete the Service and apply again: an address is assigned once"
    yield fixed(("spec", "clusterIP"), after, help, "may not change once set")


def _spec(manifest: Any) -> dict[str, Any]:
    spec = manifest.get("spec")
    return spec if isinstance(spec, dict) else {}


def _address(spec: dict[str, Any]) -> str | None:
    """The first address that is asked for; None where the server gives one."""
    many = spec.get("clusterIPs")
    first = many[0] if isinstance(many, list) and many else None
    return spec.get("clusterIP") or first or None
