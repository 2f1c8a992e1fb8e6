"""The command finds its own modules by their names, and they are what an import finds anyhow."""

from __future__ import annotations

import importlib
import os
import py_compile
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from ptcompile.cli import startup

ROOT = Path(__file__).parents[2]
TOLD = """
import sys
from ptcompile.cli import startup
if sys.argv[1] == "named":
    startup.find_modules_of(sys.modules["ptcompile"])
import ptcompile
assert not ptcompile.lint("kind: Pod").ok
for name in sorted(sys.modules):
    module = sys.modules[name]
    if name.startswith("ptcompile"):
        spec = module.__spec__
        print(name, module.__file__, module.__package__, getattr(module, "__path__", None), module.__cached__,
              spec.origin, spec.cached, spec.has_location, spec.parent, spec.submodule_search_locations)
loaders = [type(getattr(one, "__loader__", None)).__module__ for one in sys.modules.values()]
print(loaders.count("ptcompile.cli.startup"))
"""


@pytest.mark.parametrize("prefix", [False, True])
def test_modules_are_what_an_import_finds(prefix: bool, tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")}
    if prefix:
        env["PYTHONPYCACHEPREFIX"] = str(tmp_path)

    def told(how: str) -> list[str]:
        words = [sys.executable, "-c", TOLD, how]
        done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    (*usual, none), (*named, many) = told("usual"), told("named")
    assert named == usual
    assert (none, int(many) > 40) == ("0", True)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `own` with the modules `a`, which says 1, and `b.c`."""
    package = tmp_path / "own"
    (package / "b").mkdir(parents=True)
    for name, text in (("__init__", ""), ("a", "said = 1\n"), ("b/__init__", ""), ("b/c", "from own.a import said\n")):
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    py_compile.compile(str(package / "__init__.py"))
    yield package
    for name in [one for one in sys.modules if one.partition(".")[0] == "own"]:
        del sys.modules[name]


def _finding() -> ModuleType:
    package = importlib.import_module("own")
    startup.find_modules_of(package)
    return package


def _is_ours(module: ModuleType) -> bool:
    return type(module.__loader__).__module__ == "ptcompile.cli.startup"


def test_byte_code_is_written_and_read_again(own: Path) -> None:
    _finding()
    module = importlib.import_module("own.a")
    assert (module.said, _is_ours(module)) == (1, True)
    cached = Path(str(module.__cached__))
    assert cached.parent == own / "__pycache__"
    cached.write_bytes(cached.read_bytes().replace(b"said", b"gave"))  # what is read is what was written
    del sys.modules["own.a"]
    assert importlib.import_module("own.a").gave == 1


def test_a_package_is_found_and_what_is_in_it(own: Path) -> None:
    _finding()
    module = importlib.import_module("own.b.c")
    assert module.said == 1
    assert _is_ours(module)
    assert list(sys.modules["own.b"].__path__) == [str(own / "b")]
    with pytest.raises(ModuleNotFoundError, match=r"own\.b\.d"):
        importlib.import_module("own.b.d")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda cached: cached.unlink(),
        lambda cached: cached.write_bytes(b""),
        lambda cached: cached.write_bytes(b"\0" * 99),
        lambda cached: cached.write_bytes(cached.read_bytes()[:12] + b"\1" + cached.read_bytes()[13:]),
    ],
    ids=["none", "empty", "zeros", "of another size"],
)
def test_byte_code_that_is_not_current_is_made_again(spoil: Callable[[Path], object], own: Path) -> None:
    _finding()
    spoil(Path(py_compile.compile(str(own / "a.py")) or ""))
    assert importlib.import_module("own.a").said == 1


def test_a_source_that_changed_is_compiled(own: Path) -> None:
    _finding()
    py_compile.compile(str(own / "a.py"))
    (own / "a.py").write_text("said = 2\n", encoding="utf-8")
    os.utime(own / "a.py", (1, 1))
    assert importlib.import_module("own.a").said == 2


def test_byte_code_of_another_kind_is_left_to_the_usual_finder(own: Path) -> None:
    py_compile.compile(str(own / "__init__.py"), invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    before = [*sys.meta_path]
    _finding()
    assert sys.meta_path == before
    assert not _is_ours(importlib.import_module("own.a"))


def test_a_package_without_byte_code_or_file_is_left_to_the_usual_finder(own: Path) -> None:
    package = importlib.import_module("own")
    Path(str(package.__cached__)).unlink()
    before = [*sys.meta_path]
    startup.find_modules_of(package)
    startup.find_modules_of(ModuleType("bare"))
    startup.find_modules_of(sys)
    assert sys.meta_path == before
