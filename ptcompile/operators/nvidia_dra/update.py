"""ComputeDomain on updates (dra-driver-nvidia-gpu, 2026-08)."""

from typing import Final

FIXED: Final = (("spec", "A computeDomain.spec is immutable"),)
"""What the CRD makes immutable."""
