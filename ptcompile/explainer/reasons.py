"""One sentence for each field that a pass or a target writes.

Sentences are looked up along the path from the value upwards: by a key, a key with its parent key
(`containers.name`), the name of a list item, alone or with its list (`rules.deadline`), or an
option (`--nnodes`). The empty key is the fallback. They are in `sentences.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.schema_files import load_table
from ptcompile.ir.job import Target

_TABLE = load_table("explainer/sentences.json")
SPEC_SENTENCES: Mapping[str, str] = _TABLE["spec"]
"""Sentences for fields that a job has before the first pass."""
PASS_SENTENCES: Mapping[str, Mapping[str, str]] = _TABLE["passes"]
"""Sentences of the passes, keyed by pass name."""
TARGET_SENTENCES: Mapping[str, str] = _TABLE["target"]
"""Sentences for fields that every target writes."""
_OF_WRITER = {**PASS_SENTENCES, "spec": SPEC_SENTENCES, "target": TARGET_SENTENCES}


def sentence(by: str, target: Target, keys: Sequence[str]) -> str:
    """Return the sentence for a value with the keys of `values.ShownLeaf`; `by` as in `Cause`."""
    tables = [_OF_WRITER.get(by, {})]
    if by == "target":
        tables.insert(0, target.sentences)
    for table in tables:
        text = next((table[key] for key in keys if key in table), table.get(""))
        if text is not None:
            return text

    if by == "target":
        return f"The target writes {target.title}."

    return f"The pass {by} wrote it."
