"""Results of lint kept between runs: keys, entries and a size limit.

A file of entries is JSON after its own digest, readable only by its owner. Corrupt, partial and
outdated files and those of another user are ignored. The cache is optional: read and write errors
are ignored too.

The key of a file covers its content and place, the related objects in other files, of which context
files are some, and the rules ignored in it. A run over a few files of a folder shares the results
of a run over the folder. The key of the settings covers everything that a run has in common:
options, configuration, profile, schemas, Python, the libraries and ptcompile itself. The version
alone would not distinguish two commits installed from git or as editable, so the key includes sizes
and times of ptcompile's files, which takes about five milliseconds.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256

import ptcompile
from ptcompile._internal import files as disk
from ptcompile._internal.about import __version__
from ptcompile._internal.dates import today
from ptcompile._internal.schema_files import FOLDERS
from ptcompile.cli import files
from ptcompile.cli.files import InputFile
from ptcompile.cli.reporter import LintedFile
from ptcompile.diagnostics import Diagnostic, Fix, Span
from ptcompile.kubernetes.unstructured import Json, JsonDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ptcompile.cli.config import Config
    from ptcompile.cli.related import RelatedObjects
    from ptcompile.kubernetes.index import ObjectIdentity


def encode(result: LintedFile, filename: str) -> list[Any] | None:
    """Return a result as JSON data without the file's name, or None if part of it would not be
    restored exactly.
    """
    if any(diagnostic.filename != filename for diagnostic in result.diagnostics):
        return None

    diagnostics = [
        [
            *diagnostic._replace(filename=None, fix=None),
            diagnostic.fix and (diagnostic.fix.title, diagnostic.fix.safe),
        ]
        for diagnostic in result.diagnostics
    ]
    return [
        diagnostics,
        result.documents,
        result.unchecked,
        result.ignored,
        [*result.lines.items()],
        result.objects,
        result.checked,
    ]


def decode(data: Any, filename: str) -> LintedFile:
    """Return the result that `encode` wrote. Raises ValueError, TypeError, IndexError or
    AttributeError for other data.
    """
    items, documents, unchecked, ignored, lines, objects, checked = data
    if not all(isinstance(count, int) for count in (documents, ignored, checked)):
        raise TypeError("counts must be numbers")

    diagnostics = tuple(_decode_diagnostic(item, filename) for item in items)
    return LintedFile(
        diagnostics,
        documents,
        tuple(map(_check_string, unchecked)),
        ignored,
        {int(n): _check_string(line) for n, line in lines},
        tuple((_decode_identity(identity), _check_string(digest)) for identity, digest in objects),
        checked,
    )


def _decode_identity(data: Any) -> ObjectIdentity:
    group, kind, namespace, name = map(_check_string, data)
    return group, kind, namespace, name


def _decode_diagnostic(data: Any, filename: str) -> Diagnostic:
    *fields, fix = data
    diagnostic = Diagnostic(*fields)
    _check_string(diagnostic.message)

    return diagnostic._replace(
        path=tuple(diagnostic.path),
        labels=_decode_pairs(diagnostic.labels),
        comparison=_decode_pairs(diagnostic.comparison),
        span=diagnostic.span and Span(*diagnostic.span),
        filename=filename,
        fix=fix and Fix(_check_string(fix[0]), (), bool(fix[1])),
    )


def _decode_pairs(data: Any) -> tuple[tuple[str, str], ...]:
    return tuple((_check_string(first), _check_string(second)) for first, second in data)


def _check_string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a string, not {type(value).__name__}")
    return value


MAX_BYTES = 64 * 1024 * 1024
"""Size limit of the whole folder; the least recently used entries are removed first."""
_MAX_ENTRY_BYTES = 16 * 1024 * 1024
"""Size limit of one entry; larger ones are not stored."""
_STALE_SECONDS = 3600
"""Age at which a temporary file is certainly abandoned, and at which an entry's last use is
recorded again.
"""
_SUFFIX = ".entry"
_TEMPORARY = ".tmp"


def default_folder() -> str | None:
    """Return the user's cache folder for ptcompile on this system, or None if it is unknown."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        # the XDG specification ignores a relative path
        base = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(base):
            base = os.path.join(home, ".cache")
    if os.path.isabs(base):
        return os.path.join(base, "ptcompile")
    return None


class ResultCache:
    """The stored results in a folder for one set of settings. `key` returns the digest of
    everything else that affects a file.
    """

    def __init__(self, folder: str, settings: str, key: Callable[[InputFile], str]) -> None:
        self._folder = folder
        self._settings = settings
        self._key = key
        self._entries: dict[str, JsonDict] = {}
        """For each folder of input files: key and result by file name."""
        self._changed: set[str] = set()

    def get(self, file: InputFile) -> LintedFile | None:
        """Return the result of an earlier run for a file, or None if it is missing or outdated."""
        folder = os.path.dirname(file.name)
        if folder not in self._entries:
            self._entries[folder] = _read_entries(self._path(folder))
        entry = self._entries[folder].get(os.path.basename(file.name))
        with suppress(ValueError, TypeError, IndexError, KeyError, AttributeError):
            if entry is not None and entry[0] == self._key(file):
                return decode(entry[1], file.name)
        return None

    def put(self, file: InputFile, result: LintedFile) -> None:
        """Add a file's result; `save` writes it."""
        data = encode(result, file.name)
        if data is not None and file.name != "<stdin>":
            folder = os.path.dirname(file.name)
            self._entries[folder][os.path.basename(file.name)] = self._key(file), data
            self._changed.add(folder)

    def save(self) -> None:
        """Write new results and drop the entries of deleted files."""
        with suppress(OSError, ValueError):
            for folder in self._changed:
                existing = set(os.listdir(folder or "."))
                entries = self._entries[folder].items()
                kept = {name: entry for name, entry in entries if name in existing}
                _write_entries(self._path(folder), kept)
            if self._changed:
                _limit_size(self._folder)

    def _path(self, folder: str) -> str:
        """Return the file of the cache for a folder, under the current settings."""
        digest = sha256(
            f"{self._settings}\0{os.path.abspath(folder)}".encode(errors="surrogatepass")
        ).hexdigest()
        return os.path.join(self._folder, digest[:32] + _SUFFIX)


def prepare(folder: str) -> None:
    """Create the folder if needed.

    Raises OSError if it is not writable, or if other users can write to it: they could mark any
    file as clean.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    status = os.stat(folder)
    if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
        raise OSError(0, "belongs to another user, or others can write to it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OSError(0, "cannot be written")


def _read_entries(path: str) -> JsonDict:
    """Return the entries of a file, or none if it is missing or corrupt."""
    with suppress(OSError, ValueError, RecursionError):
        digest, _, body = disk.read(path, _MAX_ENTRY_BYTES).partition(b"\n")
        if digest == sha256(body).hexdigest().encode():
            entries = json.loads(body)
            if time.time() - os.stat(path).st_mtime > _STALE_SECONDS:
                os.utime(path)
            return entries if isinstance(entries, dict) else {}
    return {}


def _write_entries(path: str, entries: Json) -> None:
    """Write to a temporary file, then rename it, so other runs never read a partial file."""
    body = json.dumps(entries, separators=(",", ":")).encode()
    if len(body) > _MAX_ENTRY_BYTES - 100:
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


def _limit_size(folder: str) -> None:
    """Remove the least recently used entries above the size limit, and temporary files that
    killed runs left.
    """
    now = time.time()
    total = 0
    for used, size, path in sorted(_cache_files(folder), reverse=True):
        total += size
        if total > MAX_BYTES or (path.endswith(_TEMPORARY) and now - used > _STALE_SECONDS):
            with suppress(OSError):
                os.unlink(path)


def _cache_files(folder: str) -> Iterator[tuple[float, int, str]]:
    """Yield the time, size and path of each file of the cache."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((_SUFFIX, _TEMPORARY)):
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    yield status.st_mtime, status.st_size, entry.path


FORMAT = 3
"""Version of the entry format; entries of other versions are ignored."""
_PACKAGE = os.path.dirname(os.path.abspath(ptcompile.__file__))
_LIBRARIES = ("google_re2", "jsonschema", "pydantic", "pyyaml", "ryaml")
"""Name prefixes of the libraries that affect findings; their metadata folders end in the
version.
"""


def settings_key(options: argparse.Namespace, config: Config, lines: bool) -> str:
    """Return the digest of everything that the files of a run share. `lines`: whether lines of
    files are reported.

    Raises OSError if a file that the settings name cannot be read.
    """
    # a wheel has the schemas in the package, a source tree next to it
    packaged, checkout = FOLDERS
    schema_folder = packaged if os.path.isdir(packaged) else checkout
    schema_files: list[str] = []
    if config.schemas:
        from ptcompile.apiserver.crds.loader import files_of

        schema_files = [path for schemas in config.schemas for path in files_of(schemas)]
    settings = {
        "format": FORMAT,
        "ptcompile": (__version__, *_file_stamps(_PACKAGE), *_file_stamps(schema_folder)),
        "python": sys.version,
        "libraries": sorted(_library_versions()),
        "select": config.selectors(),
        "ignore": config.ignore,
        "kubernetes": config.kubernetes_version,
        "target": config.target,
        "webhooks": not options.no_webhooks,
        "unknown_kinds": options.unknown_kinds,
        "lines": lines,
        "cluster": config.cluster and sha256(files.read(config.cluster)).hexdigest(),
        "schemas": [(path, sha256(disk.read(path)).hexdigest()) for path in schema_files],
        "rule": config.rule,
    }
    return sha256(json.dumps(settings, sort_keys=True, default=repr).encode()).hexdigest()


def file_key(config: Config, related: RelatedObjects) -> Callable[[InputFile], str]:
    """Return a function that returns the digest of a file and of its related objects in other
    files.
    """
    from ptcompile.source.templates import chart_role

    related_digest = sha256(
        b"".join(sha256(file.content).digest() for file in related.files.values())
    ).digest()

    def key(file: InputFile) -> str:
        # a run over the folder and one over the file share the result
        decisive = [
            os.path.abspath(file.name),
            chart_role(file.name),
            config.ignored_in(file.name),
            config.severities(file.name),
            today() if b"until" in file.content else None,  # comments may have a last day
            related.is_complete,
        ]
        return sha256(
            b"\0".join([json.dumps(decisive).encode(), related_digest, file.content])
        ).hexdigest()

    return key


def _file_stamps(top: str) -> Iterator[tuple[str, int, int]]:
    """Yield path, modification time in nanoseconds and size of every file under a folder. Raises
    OSError.
    """
    with os.scandir(top) as entries:
        for entry in sorted(entries, key=lambda item: item.name):
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _file_stamps(entry.path)
            else:
                status = entry.stat()
                yield entry.path, status.st_mtime_ns, status.st_size


def _library_versions() -> Iterator[str]:
    for folder in sys.path:
        try:
            names: Sequence[str] = os.listdir(folder)
        except OSError:
            continue
        yield from (
            name for name in names if name.endswith("-info") and name.lower().startswith(_LIBRARIES)
        )
