"""`ryaml.loads` from ryaml's compiled part alone.

The package around it imports typing for a few annotations, which every start would pay for (`ptcompile.typed`). This
goes once ryaml does not do so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader, PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PART = "ryaml._ryaml"


def extension() -> Callable[[str], Any] | None:
    """The function that reads a text as YAML; None where the package is not installed, or has no such part."""
    try:
        return getattr(sys.modules.get(_PART) or _part(), "loads", None)
    except ImportError:  # no wheel for this platform
        return None


def _part() -> object:
    """The compiled part, under the name by which the package finds it when that is imported later."""
    package = PathFinder.find_spec("ryaml")
    spec = package and PathFinder.find_spec(_PART, package.submodule_search_locations)
    if spec is None or not isinstance(spec.loader, ExtensionFileLoader):
        import ryaml

        return ryaml
    part = spec.loader.create_module(spec)
    spec.loader.exec_module(part)
    sys.modules[_PART] = part
    return part
