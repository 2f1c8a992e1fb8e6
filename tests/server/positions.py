"""What the language server says at each word of a few texts, for the recordings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lsprotocol.types import InsertReplaceEdit, Position

from ptcompile.server.completion import complete
from ptcompile.server.definition import definition
from ptcompile.server.document import OpenDocument
from ptcompile.server.hover import hover
from tests.server.making import opened

TEXTS = {
    "spec": """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec:
  image: img:1
  command: [sh, -c, "echo $(LEVEL)"]  # ptcompile: ignore[latest-image]
  accelerator: nvidia-gb200
  fabric: infiniband
  target: jobset
  worker: {replicas: 1, env: {LEVEL: info}}
  volumes: [{name: data, emptyDir: {}}]
  volumeMounts: [{name: data, mountPath: /d}]
""",
    "job": """\
apiVersion: v1
kind: List
items:
- apiVersion: batch/v1
  kind: Job
  metadata: {name: many}
  spec:
    completionMode: Indexed
    completions: 12
    parallelism: 12
    template:
      spec:
        containers:
        - name: main
          image: img:1
          command: [torchrun, --nnodes=12, --nproc-per-node=1, --node-rank=$(R), --master-addr=many-0.many, train.py]
          env:
          - {name: R, valueFrom: {fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']"}}}
          - {name: RANK, value: "x"}
          - {name: LOCAL_RANK, value: "x"}
          - {name: LOCAL_WORLD_SIZE, value: "x"}
          - {name: MASTER_ADDR, value: "x"}
          - {name: MASTER_PORT, value: "x"}
          envFrom: [{configMapRef: {name: settings}}]
          volumeMounts: [{name: data, mountPath: /data}]
        initContainers: [{name: fetch, image: "img:1", volumeDevices: [{name: data, devicePath: /x}]}]
        volumes: [{name: data, emptyDir: {}}]
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: settings}
""",
}
_word = re.compile(r"[\w./$*-]+")


def _recorded(answer: Callable[[OpenDocument, Position], str]) -> str:
    """Return an answer at each word and at the end of each line, without the words that have none."""
    lines = []
    for name, text in TEXTS.items():
        document = opened(text)
        starts = {match.start() + 1: match[0] for match in _word.finditer(text)}
        ends = {match.start(): "end of line" for match in re.finditer("$", text, re.MULTILINE)}
        for offset, word in sorted({**starts, **ends}.items()):
            position = document.lines.position(offset)
            if found := answer(document, position):
                lines.append(f"# {name} {position.line}:{position.character} {word}\n{found}")
    return "\n".join(lines) + "\n"


def hovers() -> str:
    """Return the hover texts."""

    def answer(document: OpenDocument, position: Position) -> str:
        hovered = hover(document, position)
        return "" if hovered is None else str(hovered.contents.value)  # type: ignore[union-attr]  # Markdown, always

    return _recorded(answer)


def definitions() -> str:
    """Return the places that names lead to."""

    def answer(document: OpenDocument, position: Position) -> str:
        ranges = [place.range for place in definition(document, position)]
        return ", ".join(
            f"{at.start.line}:{at.start.character}-{at.end.line}:{at.end.character}"
            for at in ranges
        )

    return _recorded(answer)


def completions() -> str:
    """Return the completions: their number, and the first ones."""

    def answer(document: OpenDocument, position: Position) -> str:
        return "\n".join(_items(document, position))

    return _recorded(answer)


def _items(document: OpenDocument, position: Position) -> Iterator[str]:
    items = complete(document, position).items
    if not items:
        return
    count = len(items) if len(items) < 100 else "many"
    yield f"{count}: {', '.join(item.label for item in items[:6])}"
    edit = items[0].text_edit
    if edit is not None:
        at = edit.insert if isinstance(edit, InsertReplaceEdit) else edit.range
        yield f"  {at.start.character}-{at.end.character} {edit.new_text!r} {items[0].kind} {items[0].sort_text}"
