"""Results of lint kept between runs: keys, entries, and a bound on their size.

An entry is JSON behind its own digest, readable by its owner alone. One that is broken, half written, of another
version or of another user is none. Nothing here is needed: whatever cannot be read or written is left out in silence.

The file itself and its name, the objects that other files have for it, and the rules that are ignored in it make its
key. All that a run has in common makes the key of the settings: options, configuration, profile, schemas, Python, the
libraries, and ptcompile itself. Its version alone would not tell two commits apart, whether installed from git or
editable, so that sizes and times of its files are taken: some five milliseconds.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256

import ptcompile
from ptcompile._internal import files as disk
from ptcompile._internal.about import __version__
from ptcompile._internal.schema_files import FOLDERS
from ptcompile.cli.files import InputFile
from ptcompile.cli.reporter import Judged
from ptcompile.diagnostics import Diagnostic, Fix, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any, Final

    from ptcompile.cli.config import Config
    from ptcompile.cli.related import RelatedObjects


def encoded(one: Judged, filename: str) -> list[Any] | None:
    """As JSON without the file's name; None where something in it would not come back as it is."""
    if any(each.filename != filename for each in one.diagnostics):
        return None
    return [[*map(_encoded, one.diagnostics)], one.documents, one.unchecked, one.meant, [*one.lines.items()]]


def decoded(told: Any, filename: str) -> Judged:
    """What `encoded` wrote. Raises ValueError, TypeError, IndexError or AttributeError for anything else."""
    found, documents, unchecked, meant, lines = told
    if not isinstance(documents, int) or not isinstance(meant, int):
        raise TypeError("counts are numbers")
    diagnostics = tuple(_decoded(one, filename) for one in found)
    return Judged(diagnostics, documents, tuple(map(_text, unchecked)), meant, {int(n): _text(one) for n, one in lines})


def _encoded(one: Diagnostic) -> list[Any]:
    return [*one._replace(filename=None, fix=None), one.fix and (one.fix.title, one.fix.safe)]


def _decoded(told: Any, filename: str) -> Diagnostic:
    *fields, fix = told
    one = Diagnostic(*fields)
    _text(one.message)
    return one._replace(
        path=tuple(one.path),
        span=one.span and Span(*one.span),
        filename=filename,
        fix=fix and Fix(_text(fix[0]), (), bool(fix[1])),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is expected")
    return value


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

    def __init__(self, folder: str, settings: str, key: Callable[[InputFile], str]) -> None:
        self._folder, self._settings, self._key = folder, settings, key
        self._known: dict[str, dict[str, Any]] = {}
        """By the folder of the files: key and result by the file's name."""
        self._changed: set[str] = set()

    def get(self, file: InputFile) -> Judged | None:
        """What was found in a file at the last run, if nothing has changed."""
        above = os.path.dirname(file.name)
        if above not in self._known:
            self._known[above] = _read(self._path(above))
        found = self._known[above].get(file.name)
        with suppress(ValueError, TypeError, IndexError, KeyError, AttributeError):
            if found is not None and found[0] == self._key(file):
                return decoded(found[1], file.name)
        return None

    def put(self, file: InputFile, judged: Judged) -> None:
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


FORMAT: Final = 1
"""Of the entries: another number, and none of before is read."""
_PACKAGE: Final = os.path.dirname(os.path.abspath(ptcompile.__file__))
_LIBRARIES: Final = ("google_re2", "jsonschema", "pydantic", "pyyaml", "ryaml")
"""Those that have a part in findings, as the beginnings of their metadata folders, which end in the version."""


def settings_key(options: argparse.Namespace, config: Config, lines: bool) -> str:
    """The digest of all that the files of a run have in common. `lines`: whether lines of files are shown.

    Raises OSError where a file that the settings name cannot be read.
    """
    told = {
        "format": FORMAT,
        "ptcompile": (__version__, *_files(_PACKAGE), *_files(_own_schemas())),
        "python": sys.version,
        "libraries": sorted(_libraries()),
        "select": config.selected(),
        "ignore": config.ignore,
        "kubernetes": config.kubernetes_version,
        "webhooks": not options.no_webhooks,
        "unknown_kinds": options.unknown_kinds,
        "lines": lines,
        "cluster": config.cluster and _content(config.cluster),
        "schemas": [(path, _content(path)) for one in config.schemas for path in _schemas(one)],
        "rule": config.rule,
    }
    return sha256(json.dumps(told, sort_keys=True, default=repr).encode()).hexdigest()


def file_key(config: Config, beside: RelatedObjects) -> Callable[[InputFile], str]:
    """What gives the digest of a file and of what the other files have for it."""
    from ptcompile.source.templates import chart_role

    deciding = {name: sha256(file.content).digest() for name, file in beside.files.items()}

    def key(file: InputFile) -> str:
        others = [one for name, one in deciding.items() if name != file.name]
        decisive = [file.name, chart_role(file.name), config.ignored_in(file.name), len(others), beside.whole]
        named = json.dumps(decisive).encode()
        return sha256(b"\0".join([named, *others, file.content])).hexdigest()

    return key


def _files(top: str) -> Iterator[tuple[str, int, int]]:
    """Every file under a folder with the time of its last change, in nanoseconds, and its size. Raises OSError."""
    with os.scandir(top) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            else:
                status = entry.stat()
                yield entry.path, status.st_mtime_ns, status.st_size


def _own_schemas() -> str:
    """The schemas of a source tree; a wheel has them in the package."""
    inside, beside = FOLDERS
    return inside if os.path.isdir(inside) else beside


def _libraries() -> Iterator[str]:
    for folder in sys.path:
        try:
            names: Sequence[str] = os.listdir(folder)
        except OSError:
            continue
        yield from (name for name in names if name.endswith("-info") and name.lower().startswith(_LIBRARIES))


def _schemas(path: str) -> Iterator[str]:
    from ptcompile.apiserver.crds.loader import files_of

    return files_of(path)


def _content(path: str) -> str:
    return sha256(disk.read(path)).hexdigest()
