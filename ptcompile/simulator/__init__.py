"""What every pod will see: manifests -> the world that their operators would make of them. Pure, offline, lazy."""

from __future__ import annotations

__all__ = ["Job", "Pod", "job_of", "simulate"]
