"""`ptcompile compile --check`: whether the manifests in git are what the specs say. Nothing is written."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from ptcompile import streams
from ptcompile.cli import files
from ptcompile.diffing.hiding import hidden
from ptcompile.documents import source
from ptcompile.documents.emit import emit_all
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.operators.pods import RUNS_PODS

_NOWHERE = "/dev/null"


def check(contents: Mapping[str, str], folder: str | None) -> int:
    """Compare files with what would be written to them; 1 where they differ.

    The difference goes to standard output, as a patch that makes the files current wherever no secret had to be
    hidden; the names of stale, missing and orphaned files go to standard error. Orphans are files of `folder`
    that ptcompile could have written, and that no spec makes any more; without `folder` nobody looks for them.
    """
    found: list[tuple[str, str]] = []
    patch = ""
    for path, text in sorted(contents.items()):
        committed = _committed(path)
        if committed is None:
            found.append(("missing", path))
            patch += _patch(path, None, text)
        elif committed != text.encode():
            found.append(("stale", path))
            patch += _patch(path, committed.decode("utf-8", errors="replace"), text)
    for path, text in _orphans(folder, contents) if folder is not None else ():
        found.append(("orphaned", path))
        patch += _patch(path, text, None)
    for what, path in found:
        files.say(f"ptcompile: {what}: {path}\n")
    if not found:
        return 0
    files.say(
        "ptcompile: the same command without --check writes what is stale or missing; orphans are yours to delete\n"
    )
    return max(1, files.write_stdout(patch))


def _committed(path: str) -> bytes | None:
    """A file's bytes, or None where there is none. Raises `UsageError` where it cannot be read."""
    return files.read(path) if os.path.lexists(path) else None


def _patch(path: str, before: str | None, after: str | None) -> str:
    """A unified diff. Where a secret is on either side, of both with secrets hidden."""
    shown, note = (before or "", after or ""), ""
    manifests = [None if text is None else _objects(text) for text in (before, after)]
    if before is not None and manifests[0] is None:
        return f"--- {path}\n+++ {path}\n# what is there is no YAML that ptcompile can read: its lines are not shown\n"
    if any(hidden(one) != one for side in manifests for one in side or ()):
        old, new = (emit_all([hidden(one) for one in side or ()]) for side in manifests)
        shown = (old, new)
        note = (
            "# secrets are hidden, and layout and comments left out" + ("; nothing else differs" * (old == new)) + "\n"
        )
    names = (_NOWHERE if before is None else path, _NOWHERE if after is None else path)
    return note + "".join(_lines(shown, names))


def _lines(texts: tuple[str, str], names: tuple[str, str]) -> Iterator[str]:
    old, new = (text.splitlines(keepends=True) for text in texts)
    for line in difflib.unified_diff(old, new, *names):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _objects(text: str) -> list[dict[str, Any]] | None:
    """The objects of a file, the items of Lists among them; None where it cannot be read."""
    read = source.read(text)
    if read.problems:
        return None
    return [dict(one) for document in read.documents for _, one in streams.objects(document.data)]


def _orphans(folder: str, contents: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Files beside those that would be written, with their texts: jobs, byte for byte in ptcompile's own layout."""
    written = {os.path.realpath(path) for path in contents}
    ending = os.path.splitext(next(iter(contents)))[1]
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if not name.endswith(ending) or not os.path.isfile(path) or os.path.realpath(path) in written:
            continue
        text = files.read(path).decode("utf-8", errors="replace")
        objects = _objects(text)
        if objects and any(kind_of(one) in RUNS_PODS for one in objects) and text in _own(objects):
            yield path, text


def _own(objects: list[dict[str, Any]]) -> list[str]:
    """How ptcompile would write these objects."""
    whole = objects[0] if len(objects) == 1 else {"apiVersion": "v1", "kind": "List", "items": objects}
    return [emit_all(objects), json.dumps(whole, indent=2) + "\n"]
