"""ComputeDomain on updates (dra-driver-nvidia-gpu, 2026-08)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FIXED: Final = (("spec", "A computeDomain.spec is immutable"),)
"""What the CRD makes immutable."""
