"""`check`: whether committed manifests match their specs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.differ.normal import hidden
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.registry.table import RUNS_PODS
from ptcompile.source import documents as source, streams
from ptcompile.source.emitter import emit_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NO_FILE = "/dev/null"


class Checked(NamedTuple):
    """The files that differ from what ptcompile would write, and a patch that updates them all."""

    found: tuple[tuple[str, str], ...]
    """`stale`, `missing` or `orphaned`, and the file's name."""
    patch: str
    """A unified diff. If either side of a file contains a secret, both are shown with secrets masked."""

    @property
    def ok(self) -> bool:
        """Whether everything is current."""
        return not self.found


def check(
    wanted: Mapping[str, str], committed: Mapping[str, bytes | None], beside: Mapping[str, bytes] | None = None
) -> Checked:
    """Compare committed files with the text that would be written to them; read no files.

    `wanted` has the texts by file name, such as `{"job.yaml": result.yaml()}`; `committed` has the current content of
    these files, with None (or no entry) for a missing file. A file in `beside` is reported as orphaned if ptcompile
    could have written it: it contains a job, in exactly the layout that ptcompile writes.
    """
    differences: list[tuple[str, str]] = []
    patch = ""
    for path, text in sorted(wanted.items()):
        content = committed.get(path)
        if content is None:
            differences.append(("missing", path))
            patch += _patch(path, None, text)
        elif content != text.encode():
            differences.append(("stale", path))
            patch += _patch(path, content.decode("utf-8", errors="replace"), text)
    for path, content in sorted((beside or {}).items()):
        text = content.decode("utf-8", errors="replace")
        if path not in wanted and _is_written_by_ptcompile(text):
            differences.append(("orphaned", path))
            patch += _patch(path, text, None)
    return Checked(tuple(differences), patch)


def _patch(path: str, before: str | None, after: str | None) -> str:
    """Return a unified diff. If either side contains a secret, both are shown with secrets masked."""
    texts, note = (before or "", after or ""), ""
    manifests = [None if text is None else _read_objects(text) for text in (before, after)]
    if before is not None and manifests[0] is None:
        return (
            f"--- {path}\n+++ {path}\n# the existing file is not YAML that ptcompile can read: its lines are not "
            "shown\n"
        )
    if any(hidden(manifest) != manifest for side in manifests for manifest in side or ()):
        old, new = (emit_all([hidden(manifest) for manifest in side or ()]) for side in manifests)
        texts = (old, new)
        note = (
            "# secrets are hidden; layout and comments are omitted" + ("; nothing else differs" * (old == new)) + "\n"
        )
    names = (_NO_FILE if before is None else path, _NO_FILE if after is None else path)
    return note + "".join(_diff_lines(texts, names))


def _diff_lines(texts: tuple[str, str], names: tuple[str, str]) -> Iterator[str]:
    old, new = (text.splitlines(keepends=True) for text in texts)
    for line in difflib.unified_diff(old, new, *names):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _read_objects(text: str) -> list[dict[str, Any]] | None:
    """Return the objects of a file, including the items of Lists, or None if it cannot be read."""
    parsed = source.read(text)
    if parsed.problems:
        return None
    return [dict(manifest) for document in parsed.documents for _, manifest in streams.objects_in(document.data)]


def _is_written_by_ptcompile(text: str) -> bool:
    """Return whether ptcompile would write exactly these bytes, and at least one object is a job."""
    objects = _read_objects(text)
    if not objects or not any(kind_of(manifest) in RUNS_PODS for manifest in objects):
        return False
    as_json = objects[0] if len(objects) == 1 else {"apiVersion": "v1", "kind": "List", "items": objects}
    return text in (emit_all(objects), json.dumps(as_json, indent=2) + "\n")
