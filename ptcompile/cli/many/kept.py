"""Results kept from one run to the next: a file for each folder of files and each way of judging them.

An entry is JSON behind its own digest, readable by its owner alone. One that is broken, half written, of another
version or of another user is none. Nothing here is needed: whatever cannot be read or written is left out in silence.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256

from ptcompile import disk
from ptcompile.cli.files import File
from ptcompile.cli.many import Judged
from ptcompile.cli.many.entries import decoded, encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of the whole folder: the entries that were used longest ago go first."""
_LARGEST: Final = 16 * 1024 * 1024
"""Of one entry: a larger one is not kept."""
_OLD: Final = 3600
"""Seconds after which no run is still writing a temporary file, and an entry's last use is noted again."""
_SUFFIX, _TEMPORARY = ".entry", ".tmp"


def place() -> str | None:
    """The user's own folder for what can be made again, as each system has it; None where there is none."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")  # which counts only if it is absolute, says its specification
        base = base if os.path.isabs(base) else os.path.join(home, ".cache")
    return os.path.join(base, "ptcompile") if os.path.isabs(base) else None


class Kept:
    """The results in a folder, for one way of judging files. `key` gives the digest of all that decides about one."""

    def __init__(self, folder: str, settings: str, key: Callable[[File], str]) -> None:
        self._folder, self._settings, self._key = folder, settings, key
        self._known: dict[str, dict[str, Any]] = {}
        """By the folder of the files: key and result by the file's name."""
        self._changed: set[str] = set()

    def get(self, file: File) -> Judged | None:
        """What was found in a file at the last run, if nothing has changed."""
        above = os.path.dirname(file.name)
        if above not in self._known:
            self._known[above] = _read(self._path(above))
        found = self._known[above].get(file.name)
        with suppress(ValueError, TypeError, IndexError, KeyError, AttributeError):
            if found is not None and found[0] == self._key(file):
                return decoded(found[1], file.name)
        return None

    def put(self, file: File, judged: Judged) -> None:
        """Keep what was found in a file, once all is saved."""
        told = encoded(judged, file.name)
        if told is not None and file.name != "<stdin>":
            above = os.path.dirname(file.name)
            self._known[above][file.name] = self._key(file), told
            self._changed.add(above)

    def save(self) -> None:
        """Write what is new; entries of files that are gone are dropped."""
        with suppress(OSError, ValueError):
            for above in self._changed:
                there = set(os.listdir(above or "."))
                known = self._known[above].items()
                left = {name: one for name, one in known if os.path.basename(name) in there}
                _write(self._path(above), left)
            if self._changed:
                _bound(self._folder)

    def _path(self, above: str) -> str:
        whole = sha256(f"{self._settings}\0{os.path.abspath(above)}".encode(errors="surrogatepass")).hexdigest()
        return os.path.join(self._folder, whole[:32] + _SUFFIX)


def prepare(folder: str) -> None:
    """Make the folder if needed.

    Raises OSError if it cannot be written, or if others can write it: they could say of a file that it is clean.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    status = os.stat(folder)
    if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
        raise OSError(0, "it belongs to another user, or others can write to it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OSError(0, "it cannot be written")


def _read(path: str) -> dict[str, Any]:
    """The entries of a file; none where it is not as it was written."""
    with suppress(OSError, ValueError, RecursionError):
        digest, _, body = disk.read(path, _LARGEST).partition(b"\n")
        if digest == sha256(body).hexdigest().encode():
            known = json.loads(body)
            if time.time() - os.stat(path).st_mtime > _OLD:
                os.utime(path)
            return known if isinstance(known, dict) else {}
    return {}


def _write(path: str, entries: Mapping[str, Any]) -> None:
    """Write beside the place, then move: another run sees the whole of one or of the other."""
    body = json.dumps(entries, separators=(",", ":")).encode()
    if len(body) > _LARGEST - 100:
        return
    temporary = f"{path}.{os.urandom(8).hex()}{_TEMPORARY}"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(sha256(body).hexdigest().encode() + b"\n" + body)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _bound(folder: str) -> None:
    """Remove the entries that were used longest ago, above a size, and what killed runs left behind."""
    now, size = time.time(), 0
    for used, bytes_, path in sorted(_ours(folder), reverse=True):
        size += bytes_
        if size > MOST_BYTES or (path.endswith(_TEMPORARY) and now - used > _OLD):
            with suppress(OSError):
                os.unlink(path)


def _ours(folder: str) -> Iterator[tuple[float, int, str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((_SUFFIX, _TEMPORARY)):
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    yield status.st_mtime, status.st_size, entry.path
