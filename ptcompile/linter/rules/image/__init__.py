"""Rules for a pod's image and command line, wherever a kind has them."""

from __future__ import annotations

RULES: dict[str, str] = {
    "invalid_image": "image",
    "image_placeholder": "image",
    "command_in_one_word": "command @blank",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
