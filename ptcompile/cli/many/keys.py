"""What a file's findings depend on, as digests: where one of them differs, the file is judged again.

The file itself and its name, the objects that other files have for it, and the rules that are ignored in it make its
key. All that a run has in common makes the key of the settings: options, configuration, profile, schemas, Python, the
libraries, and ptcompile itself. Its version alone would not tell two commits apart, whether installed from git or
editable, so that sizes and times of its files are taken: some five milliseconds.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256

from ptcompile import disk
from ptcompile.about import __version__
from ptcompile.documents.schema_files import FOLDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Final

    from ptcompile.cli.beside import Beside
    from ptcompile.cli.config import Config
    from ptcompile.cli.files import File

FORMAT: Final = 1
"""Of the entries: another number, and none of before is read."""
_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
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


def file_key(config: Config, beside: Beside) -> Callable[[File], str]:
    """What gives the digest of a file and of what the other files have for it."""
    deciding = {name: sha256(file.content).digest() for name, file in beside.files.items()}

    def key(file: File) -> str:
        others = [one for name, one in deciding.items() if name != file.name]
        named = json.dumps([file.name, config.ignored_in(file.name), len(others)]).encode()
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
    from ptcompile.validate.definitions.files import files_of

    return files_of(path)


def _content(path: str) -> str:
    return sha256(disk.read(path)).hexdigest()
