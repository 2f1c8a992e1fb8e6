"""Texts with a cursor, and short ways to request completions in them."""

from __future__ import annotations

from typing import Any

from lsprotocol.types import CompletionItem, Position

from ptcompile.api.options import LintOptions
from ptcompile.server.completion import complete
from ptcompile.server.document import OpenDocument
from ptcompile.server.workspace import FileSettings, NamedObject, named_objects
from ptcompile.source.documents import read

CURSOR = "|"
"""Marks the cursor in a text."""

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train, namespace: research}
spec:
  image: ghcr.io/acme/llama:2.1
  script: train.py
  nodes: 4
  elastic: {nprocPerNode: 8}
  resources: {cpu: 32, memory: 256Gi, gpu: 8}
  env:
    NCCL_DEBUG: INFO
  target: volcano
"""

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: registry.example.com/train:1
    command: [python, train.py]
    volumeMounts:
    - {name: data, mountPath: /data}
  volumes:
  - name: data
    emptyDir: {}
"""


def split(text: str) -> tuple[str, int]:
    """Return the text without its cursor, and the cursor's offset."""
    before, _, after = text.partition(CURSOR)
    return before + after, len(before)


def opened(text: str, **given: Any) -> OpenDocument:
    """Return a text as an open document."""
    return OpenDocument("file:///w/a.yaml", "/w/a.yaml", text, **given)


def at_cursor(text: str, **given: Any) -> tuple[OpenDocument, Position]:
    """Return a text as an open document, and its cursor as a protocol position."""
    whole, offset = split(text)
    document = opened(whole, **given)
    return document, document.lines.position(offset)


def completions(text: str, **given: Any) -> dict[str, CompletionItem]:
    """Return the completions at the cursor by label, in order."""
    document, position = at_cursor(text, **given)
    return {item.label: item for item in complete(document, position).items}


def accepted(text: str, label: str, **given: Any) -> str:
    """Return the text after a completion is accepted."""
    document, position = at_cursor(text, **given)
    item = next(item for item in complete(document, position).items if item.label == label)
    assert item.text_edit is not None
    assert not hasattr(item.text_edit, "insert")
    where = item.text_edit.range
    start, end = document.lines.offset(where.start), document.lines.offset(where.end)
    return document.text[:start] + item.text_edit.new_text + document.text[end:]


def elsewhere(text: str, path: str = "/w/other.yaml") -> tuple[NamedObject, ...]:
    """Return the objects that another file of the workspace defines."""
    return named_objects(read(text, path), path)


def with_profile(text: str) -> FileSettings:
    """Return settings with a profile."""
    from ptcompile.compiler.reader import load_profile

    profile, diagnostics = load_profile(text)
    assert profile is not None, diagnostics
    return FileSettings(LintOptions(profile, profile.versions()), "/w/cluster.yaml", text.encode())
