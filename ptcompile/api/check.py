"""The verb `check` as a function: whether committed manifests match their specs."""

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

_NOWHERE = "/dev/null"


class Checked(NamedTuple):
    """What is not as it would be written: each file with what is wrong with it, and a patch that makes all current."""

    found: tuple[tuple[str, str], ...]
    """`stale`, `missing` or `orphaned`, and the file's name."""
    patch: str
    """A unified diff. Where a secret is on either side of a file, both are shown with secrets hidden."""

    @property
    def ok(self) -> bool:
        """Whether everything is current."""
        return not self.found


def check(
    wanted: Mapping[str, str], committed: Mapping[str, bytes | None], beside: Mapping[str, bytes] | None = None
) -> Checked:
    """Compare files with what would be written to them; no file is read.

    `wanted` has the texts by file name, such as `{"job.yaml": result.yaml()}`, `committed` what is in these files (None
    or absent where there is no file). Of the files `beside` them, those are orphaned that ptcompile could have written,
    jobs byte for byte in its own layout.
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
        if path not in wanted and _is_ours(text):
            differences.append(("orphaned", path))
            patch += _patch(path, text, None)
    return Checked(tuple(differences), patch)


def _patch(path: str, before: str | None, after: str | None) -> str:
    """Return a unified diff. If either side contains a secret, both are shown with secrets masked."""
    shown, note = (before or "", after or ""), ""
    manifests = [None if text is None else _objects(text) for text in (before, after)]
    if before is not None and manifests[0] is None:
        return (
            f"--- {path}\n+++ {path}\n# the existing file is not YAML that ptcompile can read: its lines are not "
            "shown\n"
        )
    if any(hidden(manifest) != manifest for side in manifests for manifest in side or ()):
        old, new = (emit_all([hidden(manifest) for manifest in side or ()]) for side in manifests)
        shown = (old, new)
        note = (
            "# secrets are hidden; layout and comments are omitted" + ("; nothing else differs" * (old == new)) + "\n"
        )
    names = (_NOWHERE if before is None else path, _NOWHERE if after is None else path)
    return note + "".join(_lines(shown, names))


def _lines(texts: tuple[str, str], names: tuple[str, str]) -> Iterator[str]:
    old, new = (text.splitlines(keepends=True) for text in texts)
    for line in difflib.unified_diff(old, new, *names):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _objects(text: str) -> list[dict[str, Any]] | None:
    """Return the objects of a file, including the items of Lists, or None if it cannot be read."""
    read = source.read(text)
    if read.problems:
        return None
    return [dict(manifest) for document in read.documents for _, manifest in streams.objects_in(document.data)]


def _is_ours(text: str) -> bool:
    """Return whether ptcompile would write exactly these bytes, and at least one object is a job."""
    objects = _objects(text)
    if not objects or not any(kind_of(manifest) in RUNS_PODS for manifest in objects):
        return False
    whole = objects[0] if len(objects) == 1 else {"apiVersion": "v1", "kind": "List", "items": objects}
    return text in (emit_all(objects), json.dumps(whole, indent=2) + "\n")
