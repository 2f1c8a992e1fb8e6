"""Call a Flyte task's function in a pod: what torchrun, or a pod without torchrun, starts once a process.

    python -m ptcompile.flyte.run FILE_OR_MODULE:TASK --input epochs=7

Self-contained, for Python 3.9 or newer: a ConfigMap can carry the file into an image without ptcompile. It calls the
function inside the task; the task itself would start flytekit's elastic launch in every process that torchrun started.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import enum
import importlib
import inspect
import json
import os
import re
import sys
import time
import traceback
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Callable  # noqa: UP035  typing's own is what Python 3.9 can subscript and call

_TRUTH = {
    **dict.fromkeys(("true", "t", "1", "yes", "y", "on"), True),
    **dict.fromkeys(("false", "f", "0", "no", "n", "off"), False),
}
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))


class TaskCallError(Exception):
    """The task cannot be called: no such module or task, or an input that its function does not take."""


def main(words: Sequence[str] | None = None) -> int:
    """Call the function once. Returns 0, or 2 where it cannot be called; what the function raises is raised."""
    what = "Call the function of a Flyte task in this process."
    parser = argparse.ArgumentParser("python -m ptcompile.flyte.run", description=what, allow_abbrev=False)
    parser.add_argument("task", metavar="FILE_OR_MODULE:TASK", help="such as train.py:train, or acme.train:train")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=VALUE", help="repeatable")
    options = parser.parse_args(words)
    sys.argv[1:] = []  # the function may parse arguments too
    try:
        function = function_of(loaded(options.task), options.task)
        values, refused = arguments(function, pairs(options.input))
        if refused:
            raise TaskCallError("; ".join(f"input {name}: {why}" for name, why in refused.items()))
    except TaskCallError as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 2
    _call(function, values)
    return 0


def pairs(given: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE texts as a mapping; the last of a name counts."""
    for text in given:
        if "=" not in text:
            raise TaskCallError(f"--input {text}: write NAME=VALUE")
    return {name.strip(): value for name, _, value in (text.partition("=") for text in given)}


def loaded(target: str) -> Any:
    """The object that FILE_OR_MODULE:NAME names. Its folder, or the working one, is put on sys.path for good."""
    where, _, name = target.rpartition(":")
    if not where or not name:
        raise TaskCallError(f"{target!r} does not name a task: write FILE.py:TASK or MODULE:TASK")
    folder, module = _of_file(where) if where.endswith(".py") else (os.getcwd(), where)
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise TaskCallError(f"no module {module!r} in {folder}, nor on PYTHONPATH") from None
    file = getattr(found, "__file__", None)
    if where.endswith(".py") and not (file and os.path.realpath(file) == os.path.realpath(where)):
        raise TaskCallError(f"{where}: module name {module!r} is already taken by {file}; rename the file")
    for part in name.split("."):
        if not hasattr(found, part):
            raise TaskCallError(f"{where} has no {name!r}")
        found = getattr(found, part)
    return found


def _of_file(path: str) -> tuple[str, str]:
    """The folder that a file's module is imported from, and the module's name with its packages."""
    if not os.path.isfile(path):
        raise TaskCallError(f"no such file: {path}")
    folder, file = os.path.split(os.path.abspath(path))
    parts = [file[: -len(".py")]]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return folder, ".".join(parts)


def function_of(task: Any, name: str) -> Callable[..., Any]:
    """The function of a task of flytekit's or of ptcompile.flyte's; a function as it is."""
    mode = getattr(getattr(task, "execution_mode", None), "name", "DEFAULT")
    if mode != "DEFAULT":
        raise TaskCallError(f"{name} is a {mode.lower()} task, which creates workflow nodes and trains nothing itself")
    function = getattr(task, "task_function", task)
    if not inspect.isroutine(function):
        raise TaskCallError(f"{name} is not a task but {_article(type(task))}")
    return function


def _call(function: Callable[..., Any], values: dict[str, Any]) -> None:
    """Call the function, and let torchrun show why it failed."""
    try:
        if inspect.iscoroutinefunction(function):
            asyncio.run(function(**values))
        else:
            function(**values)
    except Exception as error:
        kind = type(error)
        if (kind.__module__, kind.__name__) == ("flytekit.core.base_task", "IgnoreOutputs"):
            return  # flytekit's word for a rank that ends well and has no result
        _record(error)
        raise


def _record(error: Exception) -> None:
    """Write the error file of torch's elastic agent, as torch 2.13's `record` does."""
    extra = {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}
    with open(os.environ.get("TORCHELASTIC_ERROR_FILE") or os.devnull, "w", encoding="utf-8") as file:
        json.dump({"message": {"message": f"{type(error).__name__}: {error}", "extraInfo": extra}}, file)


def arguments(function: Callable[..., Any], given: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The function's arguments from texts, and what is wrong, by input. Defaults are left to the function."""
    wanted, hints = parameters(function), hints_of(function)
    values: dict[str, Any] = {}
    has = f"unknown input; the function has {', '.join(wanted) or 'none'}"
    wrong = {name: has for name in given if name not in wanted}
    for name, parameter in wanted.items():
        if name in given:
            try:
                values[name] = value_of(given[name], hints.get(name, Any))
            except TaskCallError as error:
                wrong[name] = str(error)
        elif parameter.default is parameter.empty:
            wrong[name] = f"is missing, {_article(hints.get(name, Any))}"
    return values, wrong


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The function's inputs: all its parameters but *args and **kwargs."""
    found = inspect.signature(function).parameters
    return {name: one for name, one in found.items() if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of a function's inputs and of its `return`, or of a class's fields; unevaluated where that fails."""
    try:
        return typing.get_type_hints(function)
    except Exception:  # a name that only a type checker imports
        return dict(getattr(function, "__annotations__", {}))


def value_of(text: str, hint: Any) -> Any:
    """An input's value from its text, by its type, as `pyflyte run` takes it (flytekit 1.16): a word, else JSON.

    No message repeats the text, which may be a secret.

    Raises:
        Refused: it is not a value of that type, or no text can express the type.
    """
    if typing.get_origin(hint) in _UNIONS:
        options = [one for one in typing.get_args(hint) if one is not type(None)]
        if text == "null" and len(options) < len(typing.get_args(hint)):
            return None
        return _first(value_of, text, sorted(options, key=lambda one: one is str), hint)
    _check(hint)
    if hint in (bool, int, float, str):
        return _word(text, hint)
    try:
        return _made(text if _is_enum(hint) else json.loads(text), hint)
    except ValueError:
        if hint is Any:
            return text
        raise TaskCallError(f"is not JSON, as {_article(hint)} must be") from None


def _check(hint: Any) -> None:
    """Refuse a type that no JSON can say."""
    if isinstance(hint, str):
        raise TaskCallError(f"is {_article(hint)}, which is undefined at run time; import it outside TYPE_CHECKING")
    known = hint in (Any, bool, int, float, str, list, dict, type(None)) or _is_enum(hint)
    inner = typing.get_args(hint) if typing.get_origin(hint) in (list, dict, *_UNIONS) else ()
    for one in inner:
        _check(one)
    data = dataclasses.is_dataclass(hint) and not hint.__module__.startswith("flytekit.")
    if not (known or inner or data or hasattr(hint, "model_validate")):
        raise TaskCallError(f"is {_article(hint)}, which only Flyte can pass; declare a str and pass a path or URL")


def _word(text: str, hint: Any) -> Any:
    """A value of a plain type from a word of a command line."""
    try:
        return _TRUTH[text.strip().lower()] if hint is bool else hint(text)
    except (KeyError, ValueError):
        raise TaskCallError(f"is not {_article(hint)}") from None


def _made(data: Any, hint: Any) -> Any:
    """A value of a type from JSON data."""
    _check(hint)
    origin, inner = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in _UNIONS:
        return _first(_made, data, inner, hint)
    if origin in (list, dict):
        return _items(data, inner[-1] if inner else Any, hint, origin)
    if _is_enum(hint):
        return _member(data, hint)
    if hasattr(hint, "model_validate"):
        return _constructed(lambda: hint.model_validate(data), hint)
    if dataclasses.is_dataclass(hint):
        return _dataclass(data, hint)
    if hint is float and type(data) is int:
        return float(data)
    if hint is not Any and type(data) is not hint:
        raise TaskCallError(f"is not {_article(hint)}")
    return data


def _first(make: Callable[[Any, Any], Any], data: Any, options: Sequence[Any], hint: Any) -> Any:
    """A value of the first type of a union that takes the data."""
    for one in options:
        try:
            return make(data, one)
        except TaskCallError:
            continue
    raise TaskCallError(f"is not {_article(hint)}")


def _items(data: Any, inner: Any, hint: Any, kind: type) -> Any:
    if isinstance(data, list) and kind is list:
        return [_within(f"[{i}]", item, inner) for i, item in enumerate(data)]
    if isinstance(data, dict) and kind is dict:
        return {key: _within(f"[{key!r}]", item, inner) for key, item in data.items()}
    raise TaskCallError(f"is not {_article(hint)} in JSON")


def _member(data: Any, hint: Any) -> Any:
    for one in hint:
        if data in (one.value, str(one.value)):
            return one
    raise TaskCallError(f"is none of {', '.join(str(one.value) for one in hint)}")


def _dataclass(data: Any, hint: Any) -> Any:
    fields = {one.name: one for one in dataclasses.fields(hint) if one.init}
    if not isinstance(data, dict):
        raise TaskCallError(f"is not {_article(hint)} in JSON, an object with {', '.join(fields)}")
    unset = dataclasses.MISSING
    needed = [name for name, one in fields.items() if one.default is unset is one.default_factory]
    for name in [*data, *needed]:
        if name not in fields or name not in data:
            what = "a field" if name in fields else "no field"
            raise TaskCallError(f"is not {_article(hint)}, which has {what} {name!r}")
    hints = hints_of(hint)
    values = {name: _within(f".{name}", item, hints.get(name, Any)) for name, item in data.items()}
    return _constructed(lambda: hint(**values), hint)


def _constructed(make: Callable[[], Any], hint: Any) -> Any:
    """What a class of the user's makes of its fields, unless a check of its own fails."""
    try:
        return make()
    except Exception as error:  # its text may repeat what may be a secret
        raise TaskCallError(f"is not {_article(hint)}: {type(error).__name__}") from None


def _within(place: str, data: Any, hint: Any) -> Any:
    try:
        return _made(data, hint)
    except TaskCallError as error:
        raise TaskCallError(f"{place} {error}") from None


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, enum.Enum)


def _article(hint: Any) -> str:
    """A type with its article, for people: `an int`, `a list[Config]`."""
    named = isinstance(hint, type) and not typing.get_args(hint)
    name = hint.__name__ if named else re.sub(r"\b[A-Za-z_]+\.", "", str(hint))
    return "any value" if hint is Any else f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


if __name__ == "__main__":
    sys.exit(main())
