"""What makes the command start sooner than the library: measured in `benchmarks/`, and only for its own process."""

from __future__ import annotations

import marshal
import os
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Final

_READ: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_MOST: Final = 2**17
"""Bytes of byte code that are read at once, far more than any module of ours has."""


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


def find_modules_of(package: ModuleType) -> None:
    """Find the modules of a package where their names say: an eighth of a cold start.

    The usual finder lists each folder and looks at it again for each module, and byte code is read in twelve calls of
    the system instead of four. What is in an archive, frozen, or compiled in another way is left to it.
    """
    spec = package.__spec__
    if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None or spec.cached is None:
        return
    try:
        with open(spec.cached, "rb") as file:
            start = file.read(8)
    except OSError:
        return
    if start[4:] == bytes(4):  # its flags: it is current while it says the time and size of its source
        sys.meta_path.insert(0, _Finder(spec.name, spec.origin, spec.cached, start))


class _Finder:
    """Finds the modules of one package."""

    def __init__(self, package: str, origin: str, cached: str, start: bytes) -> None:
        self.dotted = f"{package}."
        self.folder, source = os.path.split(origin)
        cache, file = os.path.split(cached)
        self.kind = file.removeprefix(source.removesuffix("py"))
        self.start = start
        self.beside = os.path.basename(cache) == "__pycache__"
        """Whether each folder keeps its own byte code, as it does without a prefix for all."""
        self.cache = self.folder if self.beside else cache

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """The module of a name, None where there is none in the package."""
        if not name.startswith(self.dotted):
            return None
        place = name[len(self.dotted) :].replace(".", os.sep)
        return self._found(name, *os.path.split(place)) or self._found(name, place, "__init__")

    def _found(self, name: str, folder: str, module: str) -> ModuleSpec | None:
        source = os.path.join(self.folder, folder, f"{module}.py")
        try:
            there = os.stat(source)
        except OSError:
            return None
        cached = os.path.join(self.cache, folder, "__pycache__" if self.beside else "", f"{module}.{self.kind}")
        loader = _Loader(name, source)
        loader.cached = cached
        numbers = (int(there.st_mtime), there.st_size)
        loader.start = self.start + b"".join((one & 0xFFFFFFFF).to_bytes(4, "little") for one in numbers)
        spec = ModuleSpec(name, loader, origin=source, is_package=module == "__init__")
        spec.has_location, spec.cached = True, cached
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(source))
        return spec


class _Loader(SourceFileLoader):
    """Loads a module from its byte code where that is current, and else as usual."""

    cached: str
    start: bytes

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the module."""
        try:
            file = os.open(self.cached, _READ)
            try:
                data = os.read(file, _MOST)
            finally:
                os.close(file)
            if data.startswith(self.start):
                code: CodeType = marshal.loads(memoryview(data)[len(self.start) :])  # noqa: S302 - as usual
                return code
        except (OSError, EOFError):  # there is none, or more of it
            pass
        return super().get_code(fullname)
