"""Rules for what is written of a pod's main program wherever a kind has it: the image and the command line."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "invalid_image": "image",
    "image_placeholder": "image",
    "command_in_one_word": "command @blank",
}
"""The modules in the order in which they are asked, each with the words that it needs (`words`)."""
