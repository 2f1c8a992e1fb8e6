"""`--untrusted`: whether the files of this run are a stranger's, and what that changes."""

from __future__ import annotations

import os

from ptcompile.disk import inside, root_of

_untrusted: list[bool] = [False]


def distrust() -> None:
    """`--untrusted`: the lower limits, no frames of files outside of the tree, no named links out of it."""
    from ptcompile.limits import lower

    _untrusted[0] = True
    lower()


def untrusted() -> bool:
    """Whether `--untrusted` was given."""
    return _untrusted[0]


def hidden(path: str) -> bool:
    """Whether `--untrusted` keeps the lines of a file from reports: it lies outside of the tree."""
    try:
        here = os.getcwd()
    except OSError:
        return untrusted()
    return untrusted() and path != "<stdin>" and not inside(path, root_of(here) or here)
