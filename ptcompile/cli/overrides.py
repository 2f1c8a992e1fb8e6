"""`--set` and `--set-string`: parsing, and findings that point into the option's text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.cli.files import UsageError
from ptcompile.diagnostics import Diagnostic, Path, Span
from ptcompile.diagnostics.paths import PathSyntaxError, parse_assignment
from ptcompile.source import documents as source
from ptcompile.source.documents import Document
from ptcompile.source.secrets.names import MASK, mask_value
from ptcompile.source.secrets.texts import secret_parts, without_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


SET_OPTION = "--set"
"""File name of findings about these options."""


NAME_OPTION = "--name"


class Set(NamedTuple):
    """One option, PATH=VALUE."""

    path: Path
    value: Any
    text: str
    """The option as typed, with secrets masked."""
    start: int
    """Offset of the value in the text."""
    document: Document | None
    """The parsed value under the key `value`, or None for --set-string."""


def parse_yaml(text: str) -> Set:
    """Parse `spec.elastic.nnodes=2:4`. The value is YAML, including quotes and lists. Raises
    `UsageError`.
    """
    path, start = _parse_path(text, "--set")
    read = source.read(f"value: {text[start:]}")
    document = read.documents[0] if read.documents else None
    if read.problems or document is None or document.data.keys() != {"value"}:
        message = "not a YAML value; quote a string with special characters, or use --set-string"
        raise _usage_error("--set", _masked_text(text, path, start), start, message)

    return Set(path, document.data["value"], _masked_text(text, path, start), start, document)


def parse_string(text: str) -> Set:
    """Parse an option whose value is always a string. Raises `UsageError`."""
    path, start = _parse_path(text, "--set-string")
    return Set(path, text[start:], _masked_text(text, path, start), start, None)


def _parse_path(text: str, option: str) -> tuple[Path, int]:
    """Return the path of an assignment, and where its value begins."""
    try:
        return parse_assignment(text)
    except PathSyntaxError as error:
        value_start = text.find("=", error.offset) + 1 or len(text)
        masked = text[:value_start] + (MASK if value_start < len(text) else "")
        raise _usage_error(option, masked, error.offset, str(error)) from None


def _masked_text(text: str, path: Path, start: int) -> str:
    value = mask_value(str(path[-1]), text[start:])
    if value == MASK:
        return text[:start] + value
    return without_parts(text, secret_parts(text), lambda _: MASK)


def _usage_error(option: str, text: str, column: int, message: str) -> UsageError:
    """Return an error with the option's text and a caret below a character."""
    line = "".join(char if char.isprintable() else " " for char in text)
    return UsageError(
        f"{option} {line}", f"{'':>{len('ptcompile: ') + len(option) + 1 + column}}^ {message}"
    )


def options_text(options: Sequence[Set]) -> str:
    """Return the options as the text of a file, one per line."""
    return "\n".join(" ".join(option.text.splitlines()) for option in options)


def point_at_options(
    diagnostics: Iterable[Diagnostic], options: argparse.Namespace
) -> list[Diagnostic]:
    """Return the diagnostics; one about an override gets `--set` or `--name` as its file, and the
    span of the value in the options' text.
    """
    out = []
    for diagnostic in diagnostics:
        match = re.fullmatch(r"overrides\[(?P<number>\d+)\]", diagnostic.filename or "")
        if diagnostic.filename == "name=":
            span = Span(1, 1, 1, max(2, len(options.name or "") + 1))
            diagnostic = diagnostic._replace(filename=NAME_OPTION, span=span)
        elif match is not None and int(match["number"]) < len(options.set):
            number = int(match["number"])
            option = options.set[number]
            span = _span(diagnostic, option, number + 1)
            diagnostic = diagnostic._replace(filename=SET_OPTION, span=span)
            # the shell takes the quotes away, so a text needs the other option
            if _lacks_quotes(diagnostic, option):
                diagnostic = diagnostic._replace(help=f"use --set-string {option.text}")

        out.append(diagnostic)

    return out


def _lacks_quotes(diagnostic: Diagnostic, option: Set) -> bool:
    """Return whether the option's value would be right as a text: a number or a boolean of the
    wrong type has a help only then.
    """
    is_wrong_type = diagnostic.name == "spec-wrong-type" and diagnostic.help is not None
    return is_wrong_type and isinstance(option.value, bool | int | float)


def _span(diagnostic: Diagnostic, option: Set, line: int) -> Span:
    """Return the span of the value, of part of it, or of the path if that is wrong."""
    depth = len(option.path)
    width = len(option.text)
    if len(diagnostic.path) < depth or (
        len(diagnostic.path) == depth and diagnostic.name == "spec-unknown-field"
    ):
        return Span(line, 1, line, option.start)

    part = None
    if option.document and len(diagnostic.path) > depth:
        part = option.document.span(("value", *diagnostic.path[depth:]))
    if part is not None and part.line == part.end_line == 1:
        shift = option.start - len("value: ")
        if part.end_column + shift <= width + 1:
            return Span(line, part.column + shift, line, part.end_column + shift)

    return Span(line, option.start + 1, line, max(option.start + 2, width + 1))
