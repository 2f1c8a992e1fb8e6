"""Rules for network policies, beside the pods that they select."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "closed_network": "",
}
"""The modules in the order in which they are asked, each with the words that it needs (`words`)."""
