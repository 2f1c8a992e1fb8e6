"""What kubectl reads in a stream: kubectl's own answer where it is installed, else that of our reader.

Our reader is held to kubectl's recorded answers (tests/recorded/kubectl and kubectl-scalars), so that what is emitted
is compared with the same thing everywhere, and with kubectl itself where there is one.
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
"""`kubectl label --local` prints what it reads, with one label more."""


def objects(text: str) -> list[Any]:
    """The objects of a stream with `LABEL` in each."""
    if not INSTALLED:
        return [_labelled(dict(document.data)) for document in source.read(text).documents]
    command = ["kubectl", "label", "--local", "-f", "-", "=".join(LABEL), "-o", "json"]
    env = {**os.environ, "KUBECONFIG": os.devnull}
    done = subprocess.run(command, input=text.encode(), env=env, capture_output=True, check=True, timeout=120)
    decoder, rest, read = json.JSONDecoder(), done.stdout.decode().strip(), []
    while rest:
        one, end = decoder.raw_decode(rest)
        rest = rest[end:].lstrip()
        read.append(one)
    return read


def _labelled(manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**metadata.get("labels", {}), LABEL[0]: LABEL[1]}}}
