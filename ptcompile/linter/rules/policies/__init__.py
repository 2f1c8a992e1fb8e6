"""Rules that compare network policies with the pods that they select."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "closed_network": "",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
