"""Which model a field of a vocabulary holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel


def model_in(annotation: Any, *, into_values: bool = False) -> type[BaseModel] | None:
    """The model that a field's annotation names, through `| None` and, if asked, `dict[str, ...]`."""
    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        return annotation
    if getattr(annotation, "__origin__", None) is dict and not into_values:
        return None
    for inner in getattr(annotation, "__args__", ()):
        found = model_in(inner, into_values=into_values)
        if found is not None:
            return found
    return None
