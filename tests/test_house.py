"""The layout: knowledge about an operator stays in its folder, rooms have budgets, and imports have no cycles.

Code names an operator only if its name is a public word: a target on the command line, a field of a model, a code or an
authority. Everything else is in its record and its folder, so a new operator is added in one place.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from tests import sources
from tests.sources import PACKAGE, Source

ROOT = Path(__file__).parents[1]
MOST_FILES = {
    "jobset": 15,
    "kueue": 17,
    "mpijob": 3,
    "pytorchjob": 14,
    "trainjob": 13,
    "volcano": 17,
}
"""Maximum number of files that name an operator. The folders of operators are left out, because they know one another;
`operators/shared/`, `operators/queues/` and the tables beside them are counted.
"""
ROOM_TOKENS = {
    "_internal": 5_050,
    "adapters": 5_500,
    "api": 28_950,
    "apiserver": 139_850,
    "cli": 51_000,
    "compiler": 42_900,
    "converter": 8_650,
    "diagnosis": 7_750,
    "diagnostics": 4_650,
    "differ": 11_950,
    "explainer": 24_400,
    "extending": 4_400,
    "fixer": 12_150,
    "flyte": 25_300,
    "graph": 4_550,
    "hardware": 8_250,
    "importer": 31_750,
    "ir": 4_350,
    "kinds": 9_850,
    "kubernetes": 14_650,
    "linter": 75_400,
    "mcp": 4_200,
    "operators": 152_850,
    "rehearsal": 23_750,
    "report": 5_000,
    "requirements": 10_050,
    "server": 17_600,
    "shell": 22_200,
    "simulator": 41_300,
    "source": 27_950,
    "spec": 15_800,
    "world": 7_000,
}
"""Budget of each room, in tokens of code. To raise one is a line in a diff, and the commit says why; whoever makes a
room smaller lowers it.
"""
MOST_TOKENS = 849_000
"""Budget of the whole package, files beside the rooms included."""
SHORTEST_FILE = 60
"""Fewest lines of a module, blank lines and comments included; a smaller fact stands in the module of its subject."""
LONGEST_FILE = 650
LONGEST_LISTED_FILE = 800
LONGEST_FUNCTION = 60
"""The caps of files and functions, in lines of at most 100 columns that are neither blank nor a comment."""
LONG_MODULES: dict[str, str] = {}
"""Modules above `LONGEST_FILE`, with the reason why the subject is one. None is today."""
SMALL_MODULES = {
    "__main__.py": "`python -m ptcompile` runs it",
    "_internal/about.py": "imports nothing, so that the version is cheap; a build reads it",
    "_internal/dates.py": "source/ and cli/ both ask for today's date, and _internal/ alone is below both",
    "_internal/schema_files.py": "reads package data; files.py reads users' files, within limits that do not hold here",
    "apiserver/validation/context.py": "in pod.py it would close a circle: pod.py asks all who import it",
    "apiserver/warnings/header.py": "each module of warnings reports with it, as validation with field_errors.py",
    "cli/commands/admit.py": "each command that prepares its input has a module, which it alone loads",
    "compiler/frontend/reader.py": "in compiler/reader.py it would close a circle: checks/job.py asks placeholder_name",
    "diagnostics/codes.py": "reads one table: in __init__.py, a reader of codes alone would load all of it",
    "diagnostics/terms.py": "imports typing for models and schemas: 33 M instructions, which a cold start does without",
    "explainer/reasons.py": "reads one table; provenance.py, which asks it, is about causes and not their sentences",
    "hardware/csi_drivers.py": "in linter/volumes.py it would load the linter for compile, whose pass asks it",
    "kubernetes/requests.py": "what kinds, API server and operators hand one another; versions.py stands below it",
    "linter/releases.py": "one finding, as a rule's module is, but of what a profile declares",
    "linter/successors.py": "one finding, as a rule's module is, but of a file",
    "mcp/resources.py": "needs no `mcp` package, which protocol.py imports",
    "operators/kai/gang.py": "a scheduler's folder has a gang.py",
    "operators/pytorchjob/facts.py": "an operator's folder has a facts.py",
    "operators/scheduler_plugins/gang.py": "a scheduler's folder has a gang.py",
    "rehearsal/sweep.py": "a program of its own, which survives the rehearsal",
    "simulator/launchers/ray.py": "`ray start` is no row of LAUNCHERS: its options have no torchrun names",
}
"""Modules below `SHORTEST_FILE`, with the reason; rules, passes and `__init__.py` may be short."""


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path, module in sources.package().items():
        yield f"ptcompile/{path}", module.tree


def _words(tree: ast.AST) -> Iterator[str]:
    """Yield strings, names, attributes, arguments and imports, but no docstrings or comments."""
    docstrings = {
        id(statement.value)
        for holder in ast.walk(tree)
        if isinstance(holder, ast.Module | ast.ClassDef | ast.FunctionDef)
        for statement in holder.body
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
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
    files_by_name: dict[str, list[str]] = {name: [] for name in MOST_FILES}
    for path, module in sources.package().items():
        text = module.text.lower()
        if _is_in_operator(path) or not any(name in text for name in files_by_name):
            continue
        words = "\n".join(_words(module.tree)).lower()
        for name, files in files_by_name.items():
            files += [path] if name in words else []
    assert all(files_by_name.values()), "the names are those of operators"
    assert {
        name: files for name, files in files_by_name.items() if len(files) > MOST_FILES[name]
    } == {}, "records and folders hold it"


def _is_in_operator(path: str) -> bool:
    """Return whether a file is in the folder of an operator."""
    return re.match(r"operators/(?!shared/|queues/)\w+/", path) is not None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("jobset/emit.py", True),
        ("kueue/rules/a.py", True),
        ("shared/a.py", False),
        ("queues/a.py", False),
        ("a.py", False),
    ],
)
def test_files_of_operator_folders_are_recognized(path: str, expected: bool) -> None:
    assert _is_in_operator(f"operators/{path}") is expected


def test_operator_names_are_found_in_code_only() -> None:
    code = '"""Kueue."""\nimport kueue.a as b\nx.Kueue = kueue\ndef f(kueue): "Kueue"; return "of Kueue"  # Kueue\n'
    assert sorted(word for word in _words(ast.parse(code)) if "kueue" in word.lower()) == [
        "Kueue",
        "kueue",
        "kueue",
        "kueue.a b",
        "of Kueue",
    ]


@cache
def _tokens_by_room() -> Counter[str]:
    """Return the tokens of each package below ptcompile; files beside the packages are under ""."""
    tokens: Counter[str] = Counter()
    for path, module in sources.package().items():
        room, *inside = path.split("/")
        tokens[room if inside else ""] += module.tokens.count
    return tokens


def test_tokens_of_code_leave_out_comments_and_docstrings() -> None:
    text = (
        '"""Docs."""\n\n# a comment\ndef f(a):\n    """Docs\n    of f."""\n    return [a]  # all\n'
    )
    assert Source(text).tokens.count == 10


def test_no_room_is_above_its_budget() -> None:
    tokens = _tokens_by_room()
    assert tokens.keys() - {""} == ROOM_TOKENS.keys()
    assert {
        room: tokens[room] for room, budget in ROOM_TOKENS.items() if tokens[room] > budget
    } == {}, "write less, or raise the budget and say why in the commit"


def test_the_house_is_within_its_budget() -> None:
    assert _tokens_by_room().total() <= MOST_TOKENS, (
        "write less, or raise the budget and say why in the commit"
    )


def counted_lines(text: str) -> int:
    """Return the number of lines that are neither blank nor a comment; docstrings count."""
    return sum(
        not line.isspace() and not line.lstrip().startswith("#")
        for line in text.splitlines(keepends=True)
    )


def test_counted_lines_leave_out_blanks_and_comments() -> None:
    assert counted_lines('"""Docs.\n\nMore.\n"""\n\n# a comment\nx = 1  # one\n') == 4


def test_no_module_is_long() -> None:
    lengths = {path: counted_lines(module.text) for path, module in sources.package().items()}
    long = {path: length for path, length in lengths.items() if length > LONGEST_FILE}
    assert long.keys() == LONG_MODULES.keys(), (
        "split it by subject, or give the reason why the subject is one"
    )
    assert max(long.values(), default=0) <= LONGEST_LISTED_FILE


def test_no_module_is_short_without_a_reason() -> None:
    small = {
        path
        for path, module in sources.package().items()
        if len(module.text.splitlines()) < SHORTEST_FILE
        and not re.search(r"(^|/)(rules|passes)/|(^|/)__init__\.py$", path)
    }
    assert small == SMALL_MODULES.keys(), (
        "merge it into the module of its subject, or give the reason"
    )


def test_no_function_is_long() -> None:
    lengths: dict[str, int] = {}
    for path, module in sources.package().items():
        lines = module.text.splitlines(keepends=True)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lengths[f"{path}: {node.name}"] = _length(node, lines)
    assert {name: n for name, n in lengths.items() if n > LONGEST_FUNCTION} == {}


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: Sequence[str]) -> int:
    """Return the counted lines of a function without its docstring."""
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = range(first.lineno, (first.end_lineno or 0) + 1) if is_docstring else ()
    numbers = (
        number
        for number in range(node.lineno, (node.end_lineno or 0) + 1)
        if number not in docstring
    )
    return counted_lines("".join(lines[number - 1] for number in numbers))


def _imports() -> dict[str, set[str]]:
    """Return the modules that each module imports when it is loaded: not inside functions or for type checkers."""
    names = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): tree
        for path, tree in _modules()
    }
    return {
        name: {one for one in _imported(tree, names) if one != name} for name, tree in names.items()
    }


def _run_at_once(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when a module is imported."""
    for node in ast.iter_child_nodes(tree):
        for_types = (
            isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
        )
        if not for_types and not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ):
            yield node
            yield from _run_at_once(node)


def _imported(tree: ast.Module, names: dict[str, ast.Module]) -> Iterator[str]:
    for node in _run_at_once(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
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
    "ptcompile.apiserver.kinds": "the function of a kind, out of sixty of one type",
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
        cycle: list[str] = error.args[1]
        return cycle
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
    assert mapped_rooms("| `ptcompile/api/` | verbs |\n| `ptcompile/cli/` | commands |\n") == [
        "api",
        "cli",
    ]
    assert misplaced_rooms(["api", "cli", "_internal"]) == ["api"]


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("Imports point down the layers", PACKAGE),
        ("Operators use one another in this order", PACKAGE / "operators"),
    ],
)
def test_the_layers_name_every_folder(name: str, folder: Path) -> None:
    named = {word for layer in _contract(name)["layers"] for word in layer.split(" | ")}
    assert {path.parent.name for path in folder.glob("*/__init__.py")} - named == set()


def test_modules_import_without_cycles() -> None:
    assert circle(_imports()) == []


def test_a_cycle_is_detected() -> None:
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}})) == {"b", "c"}


def numbered_tests(tree: ast.AST) -> list[str]:
    """Return the tests whose name begins with the number of a case, a section or a list."""
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and re.match(r"test_(?!c10d_)(case_|section_)?[cv]?\d+[a-z]?(_|$)", node.name)
    ]


def deleted_parameters(tree: ast.AST) -> list[str]:
    """Return the tests that delete a parameter, which only names the case."""
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for statement in node.body
        if isinstance(statement, ast.Delete)
        and {ast.unparse(target) for target in statement.targets}
        & {parameter.arg for parameter in node.args.args}
    ]


def _has_boolean(node: ast.expr) -> bool:
    """Return whether a tuple contains True, False or a comparison."""
    return isinstance(node, ast.Tuple) and any(
        isinstance(item, ast.Compare)
        or (isinstance(item, ast.Constant) and isinstance(item.value, bool))
        for item in node.elts
    )


def tuples_with_booleans(tree: ast.AST) -> list[str]:
    """Return the asserts that compare a tuple in which one item is true or false."""
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
        for part in ast.walk(node.test)
        if isinstance(part, ast.Compare)
        and any(_has_boolean(side) for side in (part.left, *part.comparators))
    ]


@cache
def _tests() -> dict[str, ast.Module]:
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "tests").rglob("*.py"))
    }


@pytest.mark.parametrize(
    ("find", "advice"),
    [
        (numbered_tests, "name the test by what holds; its docstring may cite the section"),
        (deleted_parameters, "name the case by pytest.param(..., id=...)"),
        (tuples_with_booleans, "write one assert for each fact, so that a failure says which"),
    ],
)
def test_a_failing_test_says_what_failed(find: Callable[[ast.AST], list[str]], advice: str) -> None:
    places = {path: names for path, tree in _tests().items() if (names := find(tree))}
    assert places == {}, advice


def test_tests_that_do_not_say_what_failed_are_detected() -> None:
    tree = ast.parse(
        "def test_c4_to_c7(): pass\n"
        "def test_6_1_names(): pass\n"
        "def test_c10d_names(): pass\n"
        "def test_cases(case, x):\n    del case\n    del x.y\n    assert (x.a, 'b' in x) == (1, True)\n"
        "    assert (x.a, x.b) == (1, 2)\n"
    )
    assert numbered_tests(tree) == ["test_c4_to_c7", "test_6_1_names"]
    assert deleted_parameters(tree) == ["test_cases"]
    assert tuples_with_booleans(tree) == ["assert (x.a, 'b' in x) == (1, True)"]
