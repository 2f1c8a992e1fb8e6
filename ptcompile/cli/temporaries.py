"""Temporary files beside the files that are written: their names, and which of them no run writes any more."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cache
from zlib import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_START: Final = ".ptcompile-"
_OLD: Final = 3600
"""Seconds after which no run is still writing a temporary file, whoever it was."""


def name() -> str:
    """A new name: it says which run has it, and cannot be foreseen."""
    return f"{_START}{_here()}-{os.getpid()}-{os.urandom(8).hex()}.tmp"


@cache
def sweep(folder: str) -> None:
    """Remove what runs left that were killed (SIGKILL); asked once for each folder."""
    with suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            if entry.name.startswith(_START) and entry.name.endswith(".tmp") and entry.is_file(follow_symlinks=False):
                old = time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD
                with suppress(OSError):
                    os.unlink(entry.path) if old or _is_over(entry.name) else None


def _is_over(name: str) -> bool:
    """Whether the run that wrote a temporary file of this name has surely ended: it was here, and is no more."""
    where, _, rest = name.removeprefix(_START).partition("-")
    number = rest.partition("-")[0]
    if not where or where != _here() or not (number.isascii() and number.isdigit()) or not 0 < int(number) < 1 << 31:
        return False
    try:
        os.kill(int(number), 0)  # asks, and sends nothing
    except ProcessLookupError:
        return True
    except OSError:  # it is someone else's
        pass
    return False


@cache
def _here() -> str:
    """Where numbers of processes mean the same: this boot of the machine, this container. Nothing where unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read(64)
        return f"{crc32(boot + str(os.stat('/proc/self/ns/pid').st_ino).encode()):08x}"
    except OSError:
        return ""
