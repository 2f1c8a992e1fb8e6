"""Rules for objects of any kind, also those without pods."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "repeated_object": "name",
    "secret_in_env": "",
    "block_storage_shared": "ReadWriteMany",
    "bucket_url": "gcsfuse",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
