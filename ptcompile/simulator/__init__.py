"""The world that operators would create from manifests, as each pod sees it. Pure, offline and
lazy.
"""

from __future__ import annotations

__all__ = ["Job", "Pod", "job_of", "simulate"]
