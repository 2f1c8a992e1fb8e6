"""The words of a difference: what became of a value, and what an apply does to an object."""

from __future__ import annotations

from typing import Literal  # noqa: TID253 - read at run time by schemas alone

Kind = Literal["added", "removed", "changed", "moved"]

Outcome = Literal["unchanged", "in-place", "refused", "restarts", "ignored"]
"""What an apply does to an object: nothing, changes it, is rejected, restarts pods, or is taken and running pods do not
see it."""
