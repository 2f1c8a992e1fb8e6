"""Rules for the folders to which a training container writes, wherever a kind has its command line."""

from __future__ import annotations

from ptcompile.linter.needs import CHECKPOINT_WORDS

RULES: dict[str, str] = {
    "checkpoint_not_kept": f"command/args {CHECKPOINT_WORDS}",
    "read_only_checkpoint": f"command/args {CHECKPOINT_WORDS}",
    "checkpoint_on_node": f"command/args {CHECKPOINT_WORDS}",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
