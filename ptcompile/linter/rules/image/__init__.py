"""Rules for the images that pods are made of."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {"invalid_image": "image", "image_placeholder": "image"}
"""The modules in the order in which they are asked, each with the words that it needs (`words`)."""
