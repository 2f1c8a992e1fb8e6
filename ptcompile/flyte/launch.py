"""What starts in the container.

Flyte's pods run `pyflyte-execute`, which loads the function and calls it; outside Flyte nobody does. So the caller
names the program: `command`, or `script` or `module`. A decorated function stands for its module, which must train
when it is run (`if __name__ == "__main__":`). An Elastic task is torchrun's; the others run one process in each pod,
as Flyte's do, and the operator tells it MASTER_ADDR, WORLD_SIZE and RANK.
"""

from __future__ import annotations

from typing import Any

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.flyte.found import wrong
from ptcompile.flyte.knobs import Knobs


def launch(config: Any, knobs: Knobs, module: str | None, found: list[Problem]) -> dict[str, Any]:
    """The spec's `command`, `script`, `module` and `args` of a task."""
    given = {name: knobs.get(name) for name in ("command", "script", "module") if knobs.get(name) is not None}
    first = next(iter(given), None)
    for name in [*given][1:]:
        found.append(wrong("spec-conflict", (name,), f"{first} already says what starts", f"remove {first} or {name}"))
    if first is None and module == "__main__":
        found.append(_missing("the function stands in __main__, which no pod can import"))
        return {}
    if first is None and module is not None:
        first, given = "module", {"module": module}
    out: dict[str, Any] = {"args": _words(knobs.get("args"), ("args",), found)}
    if hasattr(config, "nnodes"):
        out.update(_torchrun(first, given, found))
    elif first == "command":
        out["command"] = _words(given["command"], ("command",), found)
    elif first is not None:
        out["command"] = ["python", given["script"]] if first == "script" else ["python", "-m", given["module"]]
    return {key: value for key, value in out.items() if value is not None}


def _torchrun(first: str | None, given: dict[str, Any], found: list[Problem]) -> dict[str, Any]:
    if first == "command":
        message = "an Elastic task is started by torchrun, which needs a Python file or module"
        found.append(wrong("spec-conflict", ("command",), message, "give script or module"))
        return {}
    if first is None:
        found.append(_missing("torchrun has nothing to start"))
        return {}
    return {first: given[first]}


def _missing(why: str) -> Problem:
    return wrong("spec-missing-field", ("script",), f"is missing: {why}", "give script or module")


def _words(value: Any, path: Path, found: list[Problem]) -> list[str] | None:
    if value is None:
        return None
    if isinstance(value, str) or not all(isinstance(word, str) for word in value):
        found.append(wrong("spec-wrong-type", path, f"{value!r} is no list of words", 'such as ["--epochs", "3"]'))
        return None
    return list(value)
