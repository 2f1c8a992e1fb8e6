"""JSON streams, as kubectl reads a file that begins with `{`; and decoded data that should be JSON."""

from __future__ import annotations

import json
import re
from functools import partial

from ptcompile._internal.limits import limits
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.source.exact_reader import parse
from ptcompile.source.nodes import MAX_DEPTH, MAX_DOCUMENT, MAX_VALUES, ReaderProblem
from ptcompile.source.scalars import through_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_blank = re.compile(r"[ \t\r\n]*")
_escape = re.compile(r"\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL)


class JsonValue(NamedTuple):
    """One value of a JSON stream and the offsets of its text; `data` is `None` where it is rejected."""

    data: dict[str, Any] | None
    start: int
    end: int
    findings: list[ReaderProblem]


class _NotFiniteError(ValueError):
    pass


def read_json(text: str) -> tuple[list[JsonValue], ReaderProblem | None]:
    """The values of a JSON stream, and what ended it before its end."""
    values: list[JsonValue] = []
    at = _skip(text, 0)
    most = limits().documents
    while at < len(text):
        if len(values) >= most:
            message = f"the file has more than {most} documents"
            return values, ReaderProblem("too-large", message, "split it", at, at + 1, "ptcompile")
        repeated: list[bool] = []
        decoder = json.JSONDecoder(
            object_pairs_hook=partial(_object, repeated),
            parse_float=lambda number: through_json(float(number)),
            parse_int=lambda number: through_json(float(number)) if len(number) > 18 else int(number),
            parse_constant=_refuse_constant,
        )
        try:
            data, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            comma = error.msg.startswith("Illegal trailing comma")  # Python 3.13 points at it, older ones behind it
            return values, _not_json(_skip(text, error.pos + 1) if comma else error.pos)
        except _NotFiniteError:
            return values, _not_json(at)
        except RecursionError:
            return values, ReaderProblem("too-deep", _deep(), "move the inner parts out", at, at + 1, "ptcompile")
        values.append(_value(text, data, at, end, repeated=bool(repeated)))
        at = _skip(text, end)
    return values, None


def _skip(text: str, at: int) -> int:
    match = _blank.match(text, at)
    return match.end() if match else at


def _object(repeated: list[bool], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        repeated.append(True)
    return data


def _refuse_constant(_: str) -> None:
    raise _NotFiniteError


def _deep() -> str:
    return f"nested more than {MAX_DEPTH} levels deep"


def _not_json(at: int) -> ReaderProblem:
    message = "kubectl reads a file that begins with '{' as JSON, and this is not JSON"
    return ReaderProblem("yaml-syntax", message, "fix the JSON, or begin the file with a line '---'", at, at + 1)


def _value(text: str, data: Any, start: int, end: int, *, repeated: bool) -> JsonValue:
    if end - start > MAX_DOCUMENT:
        message = f"the document is larger than {MAX_DOCUMENT >> 20} MiB, the API server's limit for a request"
        return JsonValue(None, start, end, [ReaderProblem("too-large", message, "split the document", 0, 1)])
    if not isinstance(data, dict):
        message = "the document is not a mapping, as a Kubernetes object must be"
        return JsonValue(
            None, start, end, [ReaderProblem("not-a-mapping", message, "write an object: {...}", 0, end - start)]
        )
    if wrong := flaw(data):
        return JsonValue(
            None, start, end, [ReaderProblem(wrong.name, wrong.message, wrong.help, 0, 1, wrong.authority)]
        )
    findings = parse(as_yaml(text[start:end])).findings if repeated else []
    if text.find("\\u", start, end) >= 0:  # of this value alone: of the whole stream it would take a square of its size
        data = _without_lone_surrogates(data)
    return JsonValue(data, start, end, findings)


def _without_lone_surrogates(data: dict[str, Any]) -> dict[str, Any]:
    """Half a pair is not a character; Go reads the replacement character."""
    text = json.dumps(data, ensure_ascii=False)
    if text.isascii() or not re.search("[\ud800-\udfff]", text):
        return data
    clean: dict[str, Any] = json.loads(re.sub("[\ud800-\udfff]", "\ufffd", text))
    return clean


def as_yaml(text: str) -> str:
    r"""JSON as YAML of the same length, for positions: `\/`, surrogates and DEL are not for YAML."""
    return _escape.sub(_plain_escape, text).replace("\x7f", "?")


def _plain_escape(match: re.Match[str]) -> str:
    escape = match[0]
    return "/" * len(escape) if escape[1] in "/u" else escape


_SCALARS: Final = (str, int, float, bool, type(None))


def flaw(data: Any) -> Problem | None:
    """What makes decoded data no JSON: other types, keys that are not strings, infinities, too deep or too many."""
    level: list[tuple[Path, Any]] = [((), data)]
    depth = values = 0
    while level:
        depth += 1
        below: list[tuple[Path, Any]] = []
        for path, box in level:
            values += len(box)
            for key, value in box.items() if isinstance(box, dict) else enumerate(box):
                here = (*path, key)
                if isinstance(box, dict) and not isinstance(key, str):
                    return _flaw("unsupported-yaml", path, f"the key {key!r} is not a string", "use a string")
                if isinstance(value, dict | list):
                    below.append((here, value))
                elif not isinstance(value, _SCALARS):
                    what = f"a value of type {type(value).__name__} is not JSON"
                    return _flaw("unsupported-yaml", here, what, "convert it to a string, number, list or dict")
                elif isinstance(value, float) and value - value != 0:
                    return _flaw("unsupported-yaml", here, f"{value} is not JSON", "use a finite number")
        if depth > MAX_DEPTH:
            return _flaw("too-deep", level[0][0][:8], _deep(), "move the inner parts out")
        if values > MAX_VALUES:
            return _flaw("too-large", (), f"the document has more than {MAX_VALUES} values", "split the document")
        level = below
    return None


def _flaw(name: str, path: Path, message: str, cure: str) -> Problem:
    at = field_path(path)
    return Problem(name, path, f"{at}: {message}" if at else message, cure, authority="ptcompile")
