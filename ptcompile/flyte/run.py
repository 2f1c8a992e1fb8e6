"""Call a Flyte task's function in a pod; torchrun, or a pod without torchrun, starts this once per
process.

    python -m ptcompile.flyte.run FILE_OR_MODULE:TASK --input epochs=7

Self-contained, for Python 3.9 or newer: a ConfigMap can carry the file into an image without
ptcompile. It calls the function inside the task; the task itself would start flytekit's elastic
launch in every process of torchrun.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import datetime
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

_BOOLEANS = {
    **dict.fromkeys(("true", "t", "1", "yes", "y", "on"), True),
    **dict.fromkeys(("false", "f", "0", "no", "n", "off"), False),
}
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
_TIMES = (datetime.datetime, datetime.date, datetime.timedelta)
_STORED = {
    "flytekit": ("FlyteFile", "FlyteDirectory", "StructuredDataset"),
    "pandas": ("DataFrame",),
    "polars": ("DataFrame",),
    "pyarrow": ("Table",),
}
"""Types that flytekit reads from a path or a URL, keyed by top-level module."""


class TaskCallError(Exception):
    """Raised if the task cannot be called: no such module or task, or an input that its function
    does not take.
    """


@dataclasses.dataclass(frozen=True)
class StoredValue:
    """A value that the pod reads from a path or a URL."""

    hint: Any
    uri: str


def main(argv: Sequence[str] | None = None) -> int:
    """Call the function once. Return 0, or 2 if it cannot be called. Exceptions of the function
    propagate.
    """
    description = "Call the function of a Flyte task in this process."
    parser = argparse.ArgumentParser(
        "python -m ptcompile.flyte.run", description=description, allow_abbrev=False
    )
    parser.add_argument(
        "task", metavar="FILE_OR_MODULE:TASK", help="such as train.py:train, or acme.train:train"
    )
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME=VALUE", help="repeatable"
    )
    parser.add_argument(
        "--result", metavar="FILE", help="write the return value to a file, as JSON"
    )
    options = parser.parse_args(argv)
    sys.argv[1:] = []  # the function may parse arguments too
    try:
        function = function_of(load_task(options.task), options.task)
        values, rejected = parse_arguments(function, parse_inputs(options.input))
        if rejected:
            raise TaskCallError("; ".join(f"input {name}: {why}" for name, why in rejected.items()))
        values = {name: load_stored(value) for name, value in values.items()}
    except TaskCallError as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 2

    report_result(_call(function, values), options.result)
    return 0


def parse_inputs(texts: Sequence[str]) -> dict[str, str]:
    """Return NAME=VALUE texts as a mapping; the last value of a name wins."""
    for text in texts:
        if "=" not in text:
            raise TaskCallError(f"--input {text}: write NAME=VALUE")
    return {name.strip(): value for name, _, value in (text.partition("=") for text in texts)}


def load_task(target: str) -> Any:
    """Return the object named by FILE_OR_MODULE:NAME. Its folder, or the working directory,
    stays on sys.path.
    """
    module_or_file, _, name = target.rpartition(":")
    if not module_or_file or not name:
        raise TaskCallError(f"{target!r} does not name a task: write FILE.py:TASK or MODULE:TASK")

    folder, module = (
        _folder_and_module(module_or_file)
        if module_or_file.endswith(".py")
        else (os.getcwd(), module_or_file)
    )
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    try:
        target_object: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise TaskCallError(f"no module {module!r} in {folder}, nor on PYTHONPATH") from None

    file = getattr(target_object, "__file__", None)
    if module_or_file.endswith(".py") and not (
        file and os.path.realpath(file) == os.path.realpath(module_or_file)
    ):
        raise TaskCallError(
            f"{module_or_file}: module name {module!r} is already taken by {file}; rename the file"
        )

    for part in name.split("."):
        if not hasattr(target_object, part):
            raise TaskCallError(f"{module_or_file} has no {name!r}")
        target_object = getattr(target_object, part)

    return target_object


def _folder_and_module(path: str) -> tuple[str, str]:
    """Return the folder from which a file's module is imported, and the module's name with its
    packages.
    """
    if not os.path.isfile(path):
        raise TaskCallError(f"no such file: {path}")
    folder, file = os.path.split(os.path.abspath(path))
    parts = [file[: -len(".py")]]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return folder, ".".join(parts)


def function_of(task: Any, name: str) -> Callable[..., Any]:
    """Return the function of a task of flytekit or ptcompile.flyte; return a function unchanged."""
    mode = getattr(getattr(task, "execution_mode", None), "name", "DEFAULT")
    if mode != "DEFAULT":
        raise TaskCallError(
            f"{name} is a {mode.lower()} task, which creates workflow nodes and trains nothing "
            "itself"
        )
    function = getattr(task, "task_function", task)
    if not inspect.isroutine(function):
        raise TaskCallError(f"{name} is not a task but {_with_article(type(task))}")
    return function


def _call(function: Callable[..., Any], values: dict[str, Any]) -> Any:
    """Return what the function returns, and write torchrun's error file if it fails."""
    try:
        if inspect.iscoroutinefunction(function):
            return asyncio.run(function(**values))
        return function(**values)
    except Exception as error:
        kind = type(error)
        if (kind.__module__, kind.__name__) == ("flytekit.core.base_task", "IgnoreOutputs"):
            return None  # flytekit's exception for a rank that succeeds without a result
        _write_error_file(error)
        raise


def _write_error_file(error: Exception) -> None:
    """Write the error file of torch's elastic agent, as torch 2.13's `record` does."""
    extra = {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}
    with open(
        os.environ.get("TORCHELASTIC_ERROR_FILE") or os.devnull, "w", encoding="utf-8"
    ) as file:
        json.dump(
            {"message": {"message": f"{type(error).__name__}: {error}", "extraInfo": extra}}, file
        )


def report_result(result: Any, file: str | None) -> None:
    """Print a return value as one line of JSON, and write it to `file`. Only the process of rank 0
    does, as in Flyte, where the others' results are ignored.
    """
    if os.environ.get("RANK", "0") != "0" or (result is None and file is None):
        return

    try:
        text = json.dumps(plain_data(result), ensure_ascii=False, default=_reject_value)
    except (TypeError, ValueError) as error:
        sys.stderr.write(f"the return value is not printed: {error}\n")
        return

    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
    if file is not None:
        os.makedirs(os.path.dirname(os.path.abspath(file)), exist_ok=True)
        with open(file, "w", encoding="utf-8") as output:
            output.write(f"{text}\n")


def plain_data(value: Any) -> Any:
    """Return enums, dataclasses, pydantic models, times and references to files as plain data,
    at any depth.
    """
    if isinstance(value, enum.Enum):
        return plain_data(value.value)
    if isinstance(value, StoredValue) or is_stored(type(value)):
        return _uri_of(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [data_field.name for data_field in dataclasses.fields(value) if data_field.init]
        return {name: plain_data(getattr(value, name)) for name in fields}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, _TIMES):
        if isinstance(value, datetime.timedelta):
            return f"{value.total_seconds():f}s"
        return value.isoformat()
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain_data(getattr(value, name)) for name in value._fields}
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(item) for item in value]

    # a scalar of numpy or torch is a number in an array without dimensions
    has_one_number = hasattr(value, "item") and getattr(value, "ndim", None) == 0

    return value.item() if has_one_number else value


def _reject_value(value: Any) -> Any:
    raise TypeError(f"{_with_article(type(value))} is not JSON")


def parse_arguments(
    function: Callable[..., Any], texts: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the function's arguments parsed from texts, and the problem of each bad input.
    Defaults are left to the function.
    """
    inputs = parameters(function)
    hints = hints_of(function)
    values: dict[str, Any] = {}
    unknown = f"unknown input; the function has {', '.join(inputs) or 'none'}"
    errors = {name: unknown for name in texts if name not in inputs}
    for name, parameter in inputs.items():
        if name in texts:
            try:
                values[name] = value_of(texts[name], hints.get(name, Any))
            except TaskCallError as error:
                errors[name] = str(error)
        elif parameter.default is parameter.empty:
            errors[name] = f"is missing, {_with_article(hints.get(name, Any))}"

    return values, errors


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the function's inputs: all its parameters except *args and **kwargs."""
    all_parameters = inspect.signature(function).parameters
    return {
        name: parameter
        for name, parameter in all_parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a function's inputs and `return`, or of a class's fields; unevaluated
    if evaluation fails.
    """
    try:
        return typing.get_type_hints(function)
    except Exception:  # such as a name imported only under TYPE_CHECKING
        return dict(getattr(function, "__annotations__", {}))


def value_of(text: str, hint: Any) -> Any:
    """Parse an input's value by its type, as `pyflyte run` does (flytekit 1.16): plain text or
    JSON.

    Messages never repeat the text, which may be a secret.

    Raises:
        TaskCallError: it is not a value of that type, or no text can express the type.
    """
    if typing.get_origin(hint) in _UNIONS:
        options = [option for option in typing.get_args(hint) if option is not type(None)]
        if text == "null" and len(options) < len(typing.get_args(hint)):
            return None
        return _first_accepted(
            value_of, text, sorted(options, key=lambda option: option is str), hint
        )

    check_type(hint)
    if hint in (bool, int, float, str):
        return _parse_plain(text, hint)
    if hint in _TIMES:
        return parse_time(text, hint)
    if is_stored(hint):
        return _stored_value(text, hint)

    try:
        return _from_json(text if _is_enum(hint) else json.loads(text), hint)
    except ValueError:
        if hint is Any:
            return text
        raise TaskCallError(f"is not JSON, as {_with_article(hint)} must be") from None


def check_type(hint: Any) -> None:
    """Check that text or JSON can express a type. Raises TaskCallError if only Flyte can pass
    it.
    """
    if isinstance(hint, str):
        raise TaskCallError(
            f"is {_with_article(hint)}, which is undefined at run time; import it outside "
            "TYPE_CHECKING"
        )

    is_plain = hint in (Any, bool, int, float, str, list, dict, type(None), *_TIMES) or _is_enum(
        hint
    )
    inner = typing.get_args(hint) if typing.get_origin(hint) in (list, dict, *_UNIONS) else ()
    for inner_type in inner:
        check_type(inner_type)
    is_data = dataclasses.is_dataclass(hint) and not hint.__module__.startswith("flytekit.")
    if not (is_plain or inner or is_data or is_stored(hint) or hasattr(hint, "model_validate")):
        raise TaskCallError(
            f"is {_with_article(hint)}, which only Flyte can pass; declare a str and pass a path "
            "or URL"
        )


def is_stored(hint: Any) -> bool:
    """Return whether a type's values are read from a path or a URL: files, folders and tables."""
    bases = hint.__mro__ if isinstance(hint, type) else ()
    return hint is os.PathLike or any(
        base.__name__ in _STORED.get(base.__module__.partition(".")[0], ()) for base in bases
    )


def _stored_value(data: Any, hint: Any) -> StoredValue:
    """Return the reference in a text, or in flytekit's JSON of a file: {"path": ...} or {"uri":
    ...}.
    """
    if isinstance(data, dict):
        data = data.get("path", data.get("uri"))
    if not isinstance(data, str) or not data.strip():
        raise TaskCallError(f"is not the path or the URL of {_with_article(hint)}")
    if data.startswith("flyte://"):
        raise TaskCallError(
            "is a flyte:// address, which only Flyte can read; pass the URL of the data itself"
        )
    return StoredValue(hint, data)


def _uri_of(value: Any) -> str:
    """Return the path or URL of a reference. flytekit's files are not opened, which would
    download them.
    """
    for name in ("_remote_source", "uri", "path"):
        uri = getattr(value, name, None)
        if isinstance(uri, (str, os.PathLike)):
            return str(uri)
    return _reject_value(value)  # type: ignore[no-any-return]


def load_stored(value: Any) -> Any:
    """Return an argument with every reference in it read, as flytekit does in a pod."""
    if isinstance(value, StoredValue):
        return _read_stored(value.hint, value.uri)
    if isinstance(value, list):
        return [load_stored(item) for item in value]
    if isinstance(value, dict):
        return {key: load_stored(item) for key, item in value.items()}

    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for data_field in dataclasses.fields(value):
            item = getattr(value, data_field.name, None)
            if isinstance(item, (StoredValue, list, dict)):
                object.__setattr__(value, data_field.name, load_stored(item))

    return value


def _read_stored(hint: Any, uri: str) -> Any:
    """Return a file, folder or table. flytekit reads URLs with fsspec, files and folders when
    they are opened.
    """
    is_table = getattr(hint, "__module__", "").startswith("pandas.")
    if is_table and uri.endswith((".csv", ".parquet")):
        reader = "read_csv" if uri.endswith(".csv") else "read_parquet"
        return getattr(importlib.import_module("pandas"), reader)(uri)

    try:
        from flytekit.core.context_manager import FlyteContextManager
        from flytekit.core.type_engine import TypeEngine
        from flytekit.models import literals
    except ImportError:
        raise TaskCallError(
            f"cannot be read as {_with_article(hint)}: the image has no flytekit"
        ) from None

    kind = TypeEngine.to_literal_type(hint)
    if kind.blob is not None:
        scalar = literals.Scalar(blob=literals.Blob(literals.BlobMetadata(kind.blob), uri))
    else:
        metadata = literals.StructuredDatasetMetadata(kind.structured_dataset_type)
        scalar = literals.Scalar(structured_dataset=literals.StructuredDataset(uri, metadata))

    context = FlyteContextManager.current_context()
    return TypeEngine.to_python_value(context, literals.Literal(scalar=scalar), hint)


def _parse_plain(text: str, hint: Any) -> Any:
    """Return a value of a plain type from a command-line argument."""
    try:
        if hint is bool:
            return _BOOLEANS[text.strip().lower()]
        return hint(text)
    except (KeyError, ValueError):
        raise TaskCallError(f"is not {_with_article(hint)}") from None


_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_DURATION = re.compile(
    r"([-+]?)"
    + "".join(
        rf"(?:{_NUMBER}\s*(?:{unit})[\s,/]*)?"
        for unit in (
            "w|wks?|weeks?",
            "d|dys?|days?",
            "h|hrs?|hours?",
            "m|mins?|minutes?",
            "s|secs?|seconds?",
        )
    ),
    re.IGNORECASE,
).fullmatch
_CLOCK = re.compile(
    r"([-+]?)(?:(?:(\d+)(?::| days?, ))?(\d+):)?(\d{0,2}):(\d{2}(?:\.\d+)?)", re.IGNORECASE
).fullmatch


def parse_time(text: str, hint: Any) -> Any:
    """Return a datetime, date or timedelta, as `pyflyte run` reads them: ISO 8601, `2026-05-01 - 3
    days`; `1h30m`, `10 days`, `1:24`.

    Flyte passes times in UTC, and a time without an offset counts as UTC. `now` is rejected: each
    process would have its own.
    """
    text = text.strip()
    if hint is datetime.timedelta:
        return _duration_of(text)

    sign = next((sign for sign in (" - ", " + ") if sign in text), "")
    moment, _, offset = text.partition(sign) if sign else (text, "", "0s")
    if moment in ("now", "today"):
        raise TaskCallError(
            f"is {moment!r}, which each process would read from its own clock; write the time"
        )

    try:
        value = datetime.datetime.fromisoformat(re.sub("[Zz]$", "+00:00", moment))
    except ValueError:
        raise TaskCallError(
            f"is not {_with_article(hint)}, such as 2026-05-01 or 2026-05-01T12:00:00"
        ) from None

    utc = datetime.timezone.utc  # noqa: UP017  Python 3.9
    value = value.astimezone(utc) if value.tzinfo else value.replace(tzinfo=utc)
    delta = _duration_of(offset.strip())
    value = value - delta if sign == " - " else value + delta

    return value.date() if hint is datetime.date else value


def _duration_of(text: str) -> datetime.timedelta:
    units = _DURATION(text)
    clock = _CLOCK(text)
    if units and any(units.groups()[1:]):
        weeks, days, hours, minutes, seconds = (float(part or 0) for part in units.groups()[1:])
    elif clock:
        weeks, (days, hours, minutes, seconds) = (
            0.0,
            (float(part or 0) for part in clock.groups()[1:]),
        )
    else:
        raise TaskCallError("is not a timedelta, such as 90s, 1h30m, 2 days or 1:30:00")

    length = datetime.timedelta(
        weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds
    )

    return -length if text.startswith("-") else length


def _from_json(data: Any, hint: Any) -> Any:
    """Return a value of a type from JSON data."""
    check_type(hint)
    origin = typing.get_origin(hint) or hint
    inner = typing.get_args(hint)
    if origin in _UNIONS:
        return _first_accepted(_from_json, data, inner, hint)
    if origin in (list, dict):
        return _from_items(data, inner[-1] if inner else Any, hint, origin)
    if _is_enum(hint):
        return _enum_member(data, hint)
    if is_stored(hint):
        return _stored_value(data, hint)
    if hint in _TIMES:
        is_seconds = hint is datetime.timedelta and isinstance(data, (int, float))
        return parse_time(f"{data:f}s" if is_seconds else str(data), hint)
    if hasattr(hint, "model_validate"):
        return _construct(lambda: hint.model_validate(data), hint)
    if dataclasses.is_dataclass(hint):
        return _from_fields(data, hint)
    if hint is float and type(data) is int:
        return float(data)
    if hint is not Any and type(data) is not hint:
        raise TaskCallError(f"is not {_with_article(hint)}")

    return data


def _first_accepted(
    parse: Callable[[Any, Any], Any], data: Any, options: Sequence[Any], hint: Any
) -> Any:
    """Return a value of the first type of a union that accepts the data."""
    for option in options:
        try:
            return parse(data, option)
        except TaskCallError:
            continue
    raise TaskCallError(f"is not {_with_article(hint)}")


def _from_items(data: Any, inner: Any, hint: Any, kind: type) -> Any:
    if isinstance(data, list) and kind is list:
        return [_with_location(f"[{i}]", item, inner) for i, item in enumerate(data)]
    if isinstance(data, dict) and kind is dict:
        return {key: _with_location(f"[{key!r}]", item, inner) for key, item in data.items()}
    raise TaskCallError(f"is not {_with_article(hint)} in JSON")


def _enum_member(data: Any, hint: Any) -> Any:
    for member in hint:
        if data in (member.value, str(member.value)):
            return member
    raise TaskCallError(f"is none of {', '.join(str(member.value) for member in hint)}")


def _from_fields(data: Any, hint: Any) -> Any:
    fields = {
        data_field.name: data_field for data_field in dataclasses.fields(hint) if data_field.init
    }
    if not isinstance(data, dict):
        raise TaskCallError(
            f"is not {_with_article(hint)} in JSON, an object with {', '.join(fields)}"
        )

    unset = dataclasses.MISSING
    needed = [
        name
        for name, data_field in fields.items()
        if data_field.default is unset is data_field.default_factory
    ]
    for name in [*data, *needed]:
        if name not in fields or name not in data:
            problem = "a field" if name in fields else "no field"
            raise TaskCallError(f"is not {_with_article(hint)}, which has {problem} {name!r}")

    hints = hints_of(hint)
    values = {
        name: _with_location(f".{name}", item, hints.get(name, Any)) for name, item in data.items()
    }

    return _construct(lambda: hint(**values), hint)


def _construct(factory: Callable[[], Any], hint: Any) -> Any:
    """Construct a user's class; its own checks may reject the fields."""
    try:
        return factory()
    except Exception as error:  # its text may contain a secret
        raise TaskCallError(f"is not {_with_article(hint)}: {type(error).__name__}") from None


def _with_location(location: str, data: Any, hint: Any) -> Any:
    try:
        return _from_json(data, hint)
    except TaskCallError as error:
        raise TaskCallError(f"{location} {error}") from None


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, enum.Enum)


def _with_article(hint: Any) -> str:
    """Return a type's name with its article: `an int`, `a list[Config]`."""
    is_named = isinstance(hint, type) and not typing.get_args(hint)
    name = hint.__name__ if is_named else re.sub(r"\b[A-Za-z_]+\.", "", str(hint))
    if hint is Any:
        return "any value"
    article = "an" if name.startswith(tuple("aeiouAEIOU")) else "a"
    return f"{article} {name}"


if __name__ == "__main__":
    sys.exit(main())
