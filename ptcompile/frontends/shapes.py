"""Values that are right in the shape of another system: Kubernetes' list of variables, one line of arguments."""

from __future__ import annotations

import json
import shlex

from ptcompile.findings.diagnostics import Path
from ptcompile.findings.value_fixes import Cure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SHOWN = 60
"""Characters of a command line that a help repeats; the message shows no more of it."""


def reshaped(path: Path, value: Any) -> tuple[str, Cure | None] | None:
    """How to write a value of another shape, with the change that does it where that is beyond doubt; None for others.

    A value of a variable is not repeated: it may be a secret.
    """
    if path[-1:] == ("env",) and isinstance(value, list):
        variables = _variables(value)
        cure = Cure("write a mapping", "set", variables) if variables else None
        name = next(iter(variables or {}), "NAME")
        return f"write a mapping, not a list of name and value: {name}: ...", cure
    if path[-1:] in (("args",), ("command",)) and isinstance(value, str):
        words = _words(value)
        if not words or len(value) > _SHOWN:
            return "write a list, one word per item", None
        return f"write a list, one word per item: {json.dumps(words)}", Cure("write a list", "set", words, safe=False)
    return None


def _variables(entries: list[Any]) -> dict[str, Any] | None:
    """Kubernetes' env as a spec's; None where an item is anything else, or a name comes twice."""
    found: dict[str, Any] = {}
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or entry["name"] in found:
            return None
        source, value = entry.get("valueFrom"), entry.get("value", "")
        if entry.keys() - {"name", "value", "valueFrom"} or not isinstance(value, str):
            return None
        found[entry["name"]] = source if isinstance(source, dict) and source else value
    return found


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quotation mark that is not closed
        return []
