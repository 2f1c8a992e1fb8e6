"""The page of the Python functions, made from the list of public names."""

from __future__ import annotations

import inspect

import ptcompile

MODELS = "[the spec](spec.md) and [the profile](cluster.md)"


def page() -> str:
    """Functions, then what they return, each by mkdocstrings; the models of the vocabulary have pages of their own."""
    from pydantic import BaseModel

    names = [name for name in ptcompile.__all__ if not name.startswith("_")]
    functions = [name for name in names if inspect.isfunction(getattr(ptcompile, name))]
    models = [
        name for name in names if inspect.isclass(getattr(ptcompile, name)) and _is(name, BaseModel)
    ]
    results = [name for name in names if name not in {*functions, *models}]
    assert functions
    assert results
    return "\n\n".join(
        [
            "# Python",
            "[Guide](../guide/python.md). These names are all that is public; every one is imported from `ptcompile`.",
            "## Functions",
            *(f"::: ptcompile.{name}" for name in functions),
            "## Results",
            *(f"::: ptcompile.{name}" for name in results),
            "## Models",
            f"The models of {MODELS}: " + ", ".join(f"`{name}`" for name in models) + ".",
            "",
        ]
    )


def _is(name: str, kind: type) -> bool:
    found = getattr(ptcompile, name)
    return isinstance(found, type) and issubclass(found, kind)
