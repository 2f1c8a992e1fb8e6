"""Objects that kubectl reads from a stream: from kubectl itself if it is installed, otherwise from our reader.

Our reader is compared with kubectl's recorded answers (tests/recorded/kubectl and kubectl-scalars), so the reference
is the same on machines without kubectl.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

from ptcompile.source import documents as source

INSTALLED = shutil.which("kubectl") is not None
LABEL = ("ptcompile-read", "4")
"""The label that `kubectl label --local` adds to the objects it prints."""


def objects(text: str) -> list[Any]:
    """Return the objects of a stream, each with `LABEL`."""
    if not INSTALLED:
        return [_labelled(dict(document.data)) for document in source.read(text).documents]
    command = ["kubectl", "label", "--local", "-f", "-", "=".join(LABEL), "-o", "json"]
    env = {**os.environ, "KUBECONFIG": os.devnull}
    done = subprocess.run(
        command, input=text.encode(), env=env, capture_output=True, check=True, timeout=120
    )
    decoder, rest, read = json.JSONDecoder(), done.stdout.decode().strip(), []
    while rest:
        value, end = decoder.raw_decode(rest)
        rest = rest[end:].lstrip()
        read.append(value)
    return read


def _labelled(manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = manifest["metadata"]
    return {
        **manifest,
        "metadata": {**metadata, "labels": {**metadata.get("labels", {}), LABEL[0]: LABEL[1]}},
    }
