"""Rules for the images that pods are made of."""

from __future__ import annotations

from typing import Final

RULES: Final[dict[str, str]] = {"invalid_image": "image", "image_placeholder": "image"}
"""The modules in the order in which they are asked, each with the words that it needs (`words`)."""
