"""The verb `init` as a function: a spec to start from."""

from __future__ import annotations


def init(target: str | None = None) -> str:
    """A commented spec that compiles, for a target by its name or for what the job needs.

    Raises KeyError for an unknown target.
    """
    from ptcompile.compiling.starter import starter

    return starter(target)
