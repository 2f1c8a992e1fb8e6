"""The layout: knowledge about an operator stays in its folder, files are short, and imports have no cycles.

Code names an operator only if its name is a public word: a target on the command line, a field of a model, a code or an
authority. Everything else is in its record and its folder, so a new operator is added in one place.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ptcompile"
MOST_FILES = 11
"""Maximum number of files outside `operators/` that name an operator."""
LONGEST_FILE = 600
LONGEST_FUNCTION = 50


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), _parsed(path)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _words(tree: ast.AST) -> Iterator[str]:
    """Yield strings, names, attributes, arguments and imports, but no docstrings or comments."""
    told = {
        id(one.value)
        for holder in ast.walk(tree)
        if isinstance(holder, ast.Module | ast.ClassDef | ast.FunctionDef)
        for one in holder.body
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield f"{node.name} {node.asname or ''}"
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg


def test_few_files_outside_its_folder_name_an_operator() -> None:
    found: dict[str, list[str]] = {
        name: [] for name in ("jobset", "kueue", "mpijob", "pytorchjob", "trainjob", "volcano")
    }
    for path in (one.relative_to(ROOT).as_posix() for one in sorted(PACKAGE.rglob("*.py"))):
        text = (ROOT / path).read_text(encoding="utf-8").lower()
        if path.startswith("ptcompile/operators/") or not any(name in text for name in found):
            continue
        words = "\n".join(_words(_parsed(ROOT / path))).lower()
        for name, files in found.items():
            files += [path] if name in words else []
    assert all(found.values()), "the names are those of operators"
    assert {name: files for name, files in found.items() if len(files) > MOST_FILES} == {}, (
        "records and folders hold it"
    )


def test_operator_names_are_found_in_code_only() -> None:
    code = '"""Kueue."""\nimport kueue.a as b\nx.Kueue = kueue\ndef f(kueue): "Kueue"; return "of Kueue"  # Kueue\n'
    assert sorted(word for word in _words(ast.parse(code)) if "kueue" in word.lower()) == [
        "Kueue",
        "kueue",
        "kueue",
        "kueue.a b",
        "of Kueue",
    ]


def test_no_file_is_long() -> None:
    lengths = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path, _ in _modules()}
    assert {path: n for path, n in lengths.items() if n > LONGEST_FILE} == {}


def test_no_function_is_long() -> None:
    found = {
        f"{path}: {node.name}": _length(node)
        for path, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: n for name, n in found.items() if n > LONGEST_FUNCTION} == {}


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of lines without the docstring."""
    first = node.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    lines = (node.end_lineno or 0) - node.lineno + 1
    return lines - ((first.end_lineno or 0) - first.lineno + 1 if told else 0)


def _imports() -> dict[str, set[str]]:
    """Return the modules that each module imports when it is loaded: not inside functions or for type checkers."""
    names = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): tree for path, tree in _modules()}
    return {name: {one for one in _imported(tree, names) if one != name} for name, tree in names.items()}


def _run_at_once(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when a module is imported."""
    for node in ast.iter_child_nodes(tree):
        for_types = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        if not for_types and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            yield from _run_at_once(node)


def _imported(tree: ast.Module, names: dict[str, ast.Module]) -> Iterator[str]:
    for node in _run_at_once(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                inner = f"{node.module}.{one.name}"
                if inner in names:
                    yield inner
                elif node.module in names:
                    yield node.module


BY_NAME = {
    "ptcompile": "public names",
    "ptcompile.flyte": "public names",
    "ptcompile.flyte.run": "the user's module",
    "ptcompile.cli": "the module of the command that runs",
    "ptcompile.apiserver.goregex": "a package that need not be installed",
    "ptcompile.linter": "rules, by the words of a file",
}
"""Modules that import other modules by name, with the reason."""


def test_only_listed_modules_import_by_name() -> None:
    """Imports inside functions keep types for callers and navigation for editors."""
    found = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path, tree in _modules()
        if {"import_module", "__import__"} & set(_words(tree))
    }
    assert found == BY_NAME.keys()


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return modules that import one another in a cycle, ending with the first one again, or an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def _contract(name: str) -> dict[str, list[str]]:
    """Return a contract of import-linter, by its name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    return next(contract for contract in contracts if contract["name"] == name)


def floors() -> dict[str, int]:
    """Return the number of each room's layer, counted from the top, from the contract that `lint-imports` enforces."""
    layers = _contract("Imports point down the layers")["layers"]
    return {room: floor for floor, layer in enumerate(layers) for room in layer.split(" | ")}


def mapped_rooms(text: str) -> list[str]:
    """Return the rooms of the map in CONTRIBUTING, from top to bottom."""
    return re.findall(r"^\| `ptcompile/(\w+)/` \|", text, re.MULTILINE)


def misplaced_rooms(rooms: Sequence[str]) -> list[str]:
    """Return the rooms below which the map has a room of a higher layer."""
    floor = floors()
    return [room for room, following in pairwise(rooms) if floor[room] > floor[following]]


def test_the_map_of_the_rooms_is_that_of_the_layers() -> None:
    rooms = mapped_rooms((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    packages = [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    assert sorted(rooms) == sorted(packages) == sorted(floors())
    assert misplaced_rooms(rooms) == []


def test_a_misplaced_room_is_detected() -> None:
    assert mapped_rooms("| `ptcompile/api/` | verbs |\n| `ptcompile/cli/` | commands |\n") == ["api", "cli"]
    assert misplaced_rooms(["api", "cli", "_internal"]) == ["api"]


@pytest.mark.parametrize(
    ("name", "folder"),
    [("Imports point down the layers", PACKAGE), ("Operators use one another in this order", PACKAGE / "operators")],
)
def test_the_layers_name_every_folder(name: str, folder: Path) -> None:
    named = {word for layer in _contract(name)["layers"] for word in layer.split(" | ")}
    assert {path.parent.name for path in folder.glob("*/__init__.py")} - named == set()


def test_no_import_cycles() -> None:
    assert circle(_imports()) == []


def test_a_cycle_is_detected() -> None:
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}})) == {"b", "c"}
