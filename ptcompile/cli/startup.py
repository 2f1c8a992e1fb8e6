"""What makes the command start sooner than the library: measured in `benchmarks/`, and only for its own process."""

from __future__ import annotations

import sys
from types import ModuleType

_PLUGINS = "pydantic.plugin._loader"


def import_argparse() -> None:
    """Import argparse without gettext, which would look for translations of its few words and import locale for it.

    So its words are English, as all of ours are, whatever catalogues the machine has.
    """
    if "argparse" in sys.modules or "gettext" in sys.modules:
        return
    stand_in = ModuleType("gettext")
    stand_in.__dict__.update(gettext=str, ngettext=lambda one, many, count: one if count == 1 else many)
    sys.modules["gettext"] = stand_in
    try:
        import argparse  # noqa: F401 - the commands use it
    finally:
        del sys.modules["gettext"]


def build_spec() -> None:
    """Build the validator of specs without pydantic's search for plugins among all installed packages.

    The search imports importlib.metadata and with it email and zipfile: a tenth of a cold start, for plugins that a
    compiler has no use for. Should a coming pydantic want more of its loader, it gets it, and the time is spent.
    """
    if _PLUGINS in sys.modules:
        return
    stand_in = ModuleType(_PLUGINS)
    stand_in.__dict__["get_plugins"] = tuple
    sys.modules[_PLUGINS] = stand_in
    from ptcompile.spec import Spec

    try:
        Spec.model_rebuild()
    except (ImportError, AttributeError):
        pass
    finally:
        del sys.modules[_PLUGINS]
