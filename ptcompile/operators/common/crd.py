"""Careful reading: what is of another type than a rule needs is another problem, told elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.findings.diagnostics import Path, Problem, field_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def entries(value: Any, key: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of the list under a key, with their indexes."""
    found = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(found, list):
        for index, item in enumerate(found):
            if isinstance(item, Mapping):
                yield index, item


def refusal(path: Path, text: str, help_text: str) -> Problem:
    """An `Invalid value` of the API server."""
    return Problem("invalid-value", path, f"{field_path(path)}: Invalid value: {text}", help_text)
