"""`ptcompile compile --check`: check that the manifests in git match the specs. Nothing is written."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ptcompile.cli import files
from ptcompile.verbs import check as verb


def check(contents: Mapping[str, str], folder: str | None) -> int:
    """Compare files with what would be written to them; 1 where they differ.

    The difference goes to standard output, as a patch that makes the files current wherever no secret had to be
    hidden; the names of stale, missing and orphaned files go to standard error. Orphans are files of `folder`
    that ptcompile could have written, and that no spec makes any more; without `folder` they are not looked for.
    """
    committed = {path: files.read(path) for path in contents if os.path.lexists(path)}
    beside = _beside(folder, contents) if folder is not None else {}
    checked = verb.check(contents, committed, beside)
    for what, path in checked.found:
        files.say(f"ptcompile: {what}: {path}\n")
    if checked.ok:
        return 0
    files.say(
        "ptcompile: the same command without --check writes what is stale or missing; orphans are yours to delete\n"
    )
    return max(1, files.write_stdout(checked.patch))


def _beside(folder: str, contents: Mapping[str, str]) -> dict[str, bytes]:
    """The other files of a folder with the ending of those that would be written."""
    written = {os.path.realpath(path) for path in contents}
    ending = os.path.splitext(next(iter(contents)))[1]
    paths = (os.path.join(folder, name) for name in (os.listdir(folder) if os.path.isdir(folder) else ()))
    kept = (path for path in paths if path.endswith(ending) and os.path.isfile(path))
    return {path: files.read(path) for path in kept if os.path.realpath(path) not in written}
