"""Where a pod has its shared memory: 64 MiB, unless a volume is mounted there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

PATH: Final = "/dev/shm"  # noqa: S108 - compared with and mounted, never written to
