"""JSON streams, as kubectl reads a file that begins with `{`; and decoded data that should be
JSON.
"""

from __future__ import annotations

import json
import re
from functools import partial

from ptcompile._internal.limits import limits
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Path, Problem, own_problem
from ptcompile.kubernetes.unstructured import JsonDict, entries_of, nested_value
from ptcompile.source.exact_reader import parse
from ptcompile.source.nodes import (
    MAX_DEPTH,
    MAX_DOCUMENT,
    MAX_VALUES,
    TOO_DEEP,
    TOO_LARGE,
    ReaderProblem,
)
from ptcompile.source.scalars import through_json

_whitespace = re.compile(r"[ \t\r\n]*")
_escape = re.compile(r"\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL)
"""An escape: half of a surrogate pair, or the beginning of another."""


class JsonValue(NamedTuple):
    """One value of a JSON stream and the offsets of its text; `data` is None if it is null or
    rejected.
    """

    data: JsonDict | None
    start: int
    end: int
    findings: list[ReaderProblem]


class _NotFiniteError(ValueError):
    pass


def read_json(text: str, *, is_dump: bool = False) -> tuple[list[JsonValue], ReaderProblem | None]:
    """Return the values of a JSON stream, and the problem that ended it early, or None.

    In a dump, the limits of a document hold for each item of a List that kubectl printed.
    """
    values: list[JsonValue] = []
    offset = _skip_whitespace(text, 0)
    max_documents = limits().documents
    while offset < len(text):
        if len(values) >= max_documents:
            message = f"the file has more than {max_documents} documents"
            return values, ReaderProblem(
                "too-large", message, "split it", offset, offset + 1, "ptcompile"
            )

        repeated: list[bool] = []
        decoder = json.JSONDecoder(
            object_pairs_hook=partial(_object, repeated),
            parse_float=lambda number: through_json(float(number)),
            parse_int=lambda number: (
                through_json(float(number)) if len(number) > 18 else int(number)
            ),
            parse_constant=_reject_constant,
        )
        try:
            data, end = decoder.raw_decode(text, offset)
        except json.JSONDecodeError as error:
            # Python 3.13 reports its position, older versions the one after it
            comma = error.msg.startswith("Illegal trailing comma")
            return values, _not_json(_skip_whitespace(text, error.pos + 1) if comma else error.pos)
        except _NotFiniteError:
            return values, _not_json(offset)
        except RecursionError:
            return values, ReaderProblem(
                "too-deep", TOO_DEEP, "move the inner parts out", offset, offset + 1, "ptcompile"
            )

        items = nested_value(data, "items") if is_dump else None
        parts = items if isinstance(items, list) else None
        values.append(_value(text, data, offset, end, parts, repeated=bool(repeated)))
        offset = _skip_whitespace(text, end)

    return values, None


def _skip_whitespace(text: str, offset: int) -> int:
    match = _whitespace.match(text, offset)
    return match.end() if match else offset


def _object(repeated: list[bool], pairs: list[tuple[str, Any]]) -> JsonDict:
    data = dict(pairs)
    if len(data) != len(pairs):
        repeated.append(True)
    return data


def _reject_constant(_: str) -> None:
    raise _NotFiniteError


def _not_json(offset: int) -> ReaderProblem:
    message = "kubectl reads a file that begins with '{' as JSON, but this is not JSON"
    return ReaderProblem(
        "yaml-syntax",
        message,
        "fix the JSON, or begin the file with a line '---'",
        offset,
        offset + 1,
    )


def _value(
    text: str, data: Any, start: int, end: int, parts: list[Any] | None, *, repeated: bool
) -> JsonValue:
    if end - start > MAX_DOCUMENT and parts is None:
        finding = ReaderProblem("too-large", TOO_LARGE, "split the document", 0, 1)
        return JsonValue(None, start, end, [finding])
    # kubectl skips a null document
    if data is None:
        return JsonValue(None, start, end, [])
    if not isinstance(data, dict):
        message = "the document is not a mapping, as a Kubernetes object must be"
        help = "write an object: {...}"
        finding = ReaderProblem("not-a-mapping", message, help, 0, end - start)
        return JsonValue(None, start, end, [finding])

    wholes = [{"": part} for part in parts] if parts is not None else [data]
    if problem := next(filter(None, map(not_json_problem, wholes)), None):
        finding = ReaderProblem(
            problem.name, problem.message, problem.help, 0, 1, problem.authority
        )
        return JsonValue(None, start, end, [finding])

    findings = parse(as_yaml(text[start:end]), is_json=True).findings if repeated else []
    # in this value only: searching the whole stream each time would be quadratic
    if text.find("\\u", start, end) >= 0:
        data = _without_lone_surrogates(data)

    return JsonValue(data, start, end, findings)


def _without_lone_surrogates(data: JsonDict) -> JsonDict:
    """Replace lone surrogates by the replacement character, as Go does."""
    text = json.dumps(data, ensure_ascii=False)
    if text.isascii() or not re.search("[\ud800-\udfff]", text):
        return data
    clean: JsonDict = json.loads(re.sub("[\ud800-\udfff]", "\ufffd", text))
    return clean


def as_yaml(text: str) -> str:
    """Return JSON as YAML of the same length, for positions: halves of surrogate pairs and DEL
    are not valid YAML.
    """
    return _escape.sub(_plain_escape, text).replace("\x7f", "?")


def _plain_escape(match: re.Match[str]) -> str:
    escape = match[0]
    return "/" * len(escape) if len(escape) > len("\\n") else escape


_SCALARS = (str, int, float, bool, type(None))


def not_json_problem(data: Any) -> Problem | None:
    """Return why decoded data is not JSON, or None: other types, keys that are not strings,
    infinities, too deep, too large.
    """
    level: list[tuple[Path, Any]] = [((), data)]
    depth = values = 0
    while level:
        depth += 1
        below: list[tuple[Path, Any]] = []
        for path, collection in level:
            values += len(collection)
            for key, value in entries_of(collection):
                item_path = (*path, key)
                if isinstance(collection, dict) and not isinstance(key, str):
                    return own_problem(
                        "unsupported-yaml", path, f"the key {key!r} is not a string", "use a string"
                    )

                if isinstance(value, dict | list):
                    below.append((item_path, value))
                elif not isinstance(value, _SCALARS):
                    message = f"a value of type {type(value).__name__} is not JSON"
                    return own_problem(
                        "unsupported-yaml",
                        item_path,
                        message,
                        "convert it to a string, number, list or dict",
                    )
                elif isinstance(value, float) and value - value != 0:
                    return own_problem(
                        "unsupported-yaml", item_path, f"{value} is not JSON", "use a finite number"
                    )

        if depth > MAX_DEPTH:
            path, _ = level[0]
            return own_problem("too-deep", path[:8], TOO_DEEP, "move the inner parts out")
        if values > MAX_VALUES:
            return own_problem(
                "too-large",
                (),
                f"the document has more than {MAX_VALUES} values",
                "split the document",
            )

        level = below

    return None
