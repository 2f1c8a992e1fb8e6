"""One answer to a question: functions that answer the same one, and patterns that read shell scripts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests import sources

QUESTIONS = {
    "does a toleration cover a taint?": (r"_?tolerates", {"toleration", "taint"}),
    "does a selector match labels?": (r"_?(selects(_labels)?|admits)", {"selector", "labels"}),
    "what answers to a host name?": (r"_?resolves?_?(host|elsewhere|name)?", {"host", "job"}),
    "what is the script of `sh -c`?": (r"_?shell_script", {"argv", "shell"}),
}
"""By question, the names of functions that answer it, and the parameters that show it whatever the name is."""

_ANSWERS_OF_OTHERS = frozenset(
    {
        "_internal.files.resolve",
        "apiserver.admission.quota.selects",
        "apiserver.cel.checker._resolve",
        "apiserver.kinds.resolve",
        "simulator.launchers.arguments._resolve",
        "source.scalars.resolve",
    }
)
"""Functions of the same names that answer something else: about paths, types, options, scopes and references."""

THE_READER_OF_SCRIPTS = "shell."
"""The one room that may know how a shell script is built."""
_SHELL_WORDS = frozenset(
    {"if", "for", "while", "until", "case", "eval", "source", "esac", "done", "fi", "trap"}
)
_FEWEST_WORDS = 3


def repeated_answers() -> tuple[int, set[str]]:
    """Return the number of functions, and those that answer a question that another one answers too."""
    functions = [*_functions()]
    repeated: set[str] = set()
    for pattern, parameters in QUESTIONS.values():
        answers = {
            name for name, node in functions if _answers(node, pattern, parameters)
        } - _ANSWERS_OF_OTHERS
        repeated |= answers if len(answers) > 1 else set()
    return len(functions), repeated


def _answers(node: ast.FunctionDef, pattern: str, parameters: set[str]) -> bool:
    if re.fullmatch(pattern, node.name):
        return True
    is_bool = isinstance(node.returns, ast.Name) and node.returns.id == "bool"
    return is_bool and parameters <= {argument.arg for argument in node.args.args}


def shell_patterns() -> tuple[int, set[str]]:
    """Return the number of patterns, and those that look for words of the shell in the text of a script."""
    patterns = [*_patterns()]
    found = {
        name
        for name, text in patterns
        if len({*re.findall(r"[a-z]+", text)} & _SHELL_WORDS) >= _FEWEST_WORDS
    }
    return len(patterns), {name for name in found if not name.startswith(THE_READER_OF_SCRIPTS)}


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for path, module in sources.package().items():
        name = path.removesuffix(".py").replace("/", ".")
        yield name.removesuffix(".__init__"), module.tree


def _functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for module, tree in _modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                yield f"{module}.{node.name}", node


def _patterns() -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each pattern, and its text; one without a name is named by its text."""
    for module, tree in _modules():
        names: dict[int, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                name = ast.unparse(target)
                names |= {id(inner): name for inner in ast.walk(node.value)}
            if isinstance(node, ast.Call) and _is_pattern(node):
                text = ast.unparse(node.args[0])
                yield f"{module}.{names.get(id(node), text)}", text


def _is_pattern(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    return bool(call.args) and (name == "Pattern" or name.startswith("re."))
