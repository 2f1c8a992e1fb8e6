"""The preflight of a rehearsal: which version of PyTorch an interpreter has, and what it lacks.

A standalone program for the interpreter that trains. It gets the user's script, or an empty text,
and the names of launchers; it prints the version, or an empty line without PyTorch, and a line for
each thing that is missing.
"""

import ast
import contextlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Iterator


def missing_in_script(path: str) -> Iterator[str]:
    """Yield a clause for a syntax error, or for each module that the script needs and that is not
    installed.

    Only the imports outside of blocks count: others may be for another machine.
    """
    with open(path, "rb") as file:
        content = file.read()
    try:
        body = ast.parse(content, path).body
    except (SyntaxError, ValueError) as error:
        yield f"does not read {path} as Python: {error}"
        return

    names = [alias.name for node in body if isinstance(node, ast.Import) for alias in node.names]
    names += [
        node.module or "" for node in body if isinstance(node, ast.ImportFrom) and not node.level
    ]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    for name in sorted({name.partition(".")[0] for name in names}):
        if not is_installed(name):
            yield f"has no module {name}, which {path} imports: install it there"


def is_installed(name: str) -> bool:
    """Return whether a module can be imported, without importing it."""
    with contextlib.suppress(ImportError, ValueError):
        return name in sys.modules or importlib.util.find_spec(name) is not None
    return False


def main(script: str, *launchers: str) -> None:
    """Print the version of PyTorch, then a line for each launcher and import of the script that the
    machine lacks.
    """
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        version = ""

    lines = [version]
    lines += [
        f"has no {name}, which starts the processes: install it there"
        for name in launchers
        if not is_installed(name)
    ]
    if script:
        lines += [
            line for line in missing_in_script(script) if version or " module torch," not in line
        ]

    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
