"""What makes the command start sooner than the library: measured in `benchmarks/`, and only for its own process."""

from __future__ import annotations

import sys
from types import ModuleType

own_process: list[bool] = [False]
"""Whether this process is the command's own: only then are others started without being asked for."""


def import_argparse() -> None:
    """Import argparse without gettext, which would look for translations of its few words and import locale for it.

    So its words are English, as all of ours are, whatever catalogues the machine has.
    """
    if "argparse" in sys.modules or "gettext" in sys.modules:
        return
    stand_in = ModuleType("gettext")
    # argparse translates a missing description too: it stays None
    stand_in.__dict__.update(gettext=lambda text: text, ngettext=lambda one, many, count: one if count == 1 else many)
    sys.modules["gettext"] = stand_in
    try:
        import argparse  # noqa: F401 - the commands use it
    finally:
        del sys.modules["gettext"]
