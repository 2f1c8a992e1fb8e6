"""The compiled part of ryaml is the package's own, regardless of import order."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import PathFinder
from types import SimpleNamespace

import pytest

from ptcompile.source import fast_reader

ORDERS = {
    "ours first": "from ptcompile.source import fast_reader as fast; assert 'ryaml' not in sys.modules; import ryaml",
    "theirs first": "import ryaml; from ptcompile.source import fast_reader as fast",
}


def _ran(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("order", ORDERS)
def test_the_package_and_the_reader_share_one_function(order: str) -> None:
    pytest.importorskip("ryaml")
    same = "print(fast.loads is ryaml.loads, fast.loads('a: 1'))"
    wrong = "try: fast.loads('{')\nexcept ryaml.InvalidYamlError: print(1)"
    assert _ran(f"import sys\n{ORDERS[order]}\n{same}\n{wrong}") == "True {'a': 1}\n1\n"


@pytest.mark.parametrize("installed", [False, True])
def test_the_package_is_used_without_a_compiled_part(
    installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = SimpleNamespace(loads=len) if installed else None
    monkeypatch.delitem(sys.modules, "ryaml._ryaml", raising=False)
    monkeypatch.setitem(sys.modules, "ryaml", package)
    monkeypatch.setattr(PathFinder, "find_spec", lambda *_: None)
    assert fast_reader.extension() is (len if installed else None)
