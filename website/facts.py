"""Which pages of docs/facts a source names."""

from __future__ import annotations

import re
from typing import Final

PAGES: Final = {
    "torchrun": r"PyTorch|torch[./]|torchrun",
    "training-operator": r"training-operator",
    "trainer": r"\bTrainer\b",
    "jobset": r"\bJobSet\b",
    "volcano": r"\bVolcano\b|volcano#",
    "kueue": r"\bKueue\b",
    "kubernetes": r"Kubernetes|kubelet|kube-apiserver|Job controller",
}
"""The page, and the words of a source that it is about."""


def cited(source: str) -> str:
    """A sentence with links to the pages of facts that a source names; empty where there are none."""
    found = [name for name, words in PAGES.items() if re.search(words, source)]
    links = ", ".join(f"[{name}](../facts/{name}.md)" for name in found)
    return f"\n\nFacts: {links}." if found else ""
