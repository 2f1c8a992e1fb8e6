"""Findings for CI systems: GitHub commands, JUnit, SARIF."""

from __future__ import annotations

import json as _json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from types import MappingProxyType
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from ptcompile._internal.about import SITE, __version__, page_address
from ptcompile.diagnostics import Diagnostic
from ptcompile.report.layout import format_location, in_order, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def github(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """`::error file=...,line=...::message` (or warning, notice) a finding, escaped as GitHub Actions' toolkit does."""
    return "".join(f"{_command(d)}\n" for d in in_order(diagnostics))


def _command(diagnostic: Diagnostic) -> str:
    where = {"file": diagnostic.filename or "", "title": f"{diagnostic.code} {diagnostic.name}"}
    if (span := diagnostic.span) is not None:
        where |= {"line": str(span.line), "col": str(span.column), "endLine": str(span.end_line)}
        if span.end_line == span.line:
            where["endColumn"] = str(span.end_column)
    message = diagnostic.message + (f"; {diagnostic.help}" if diagnostic.help else "")
    listed = ",".join(f"{key}={_property(value)}" for key, value in where.items() if value)
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_data(message)}"


def _data(text: str) -> str:
    """Text behind the second `::`: no line break, and nothing that could begin another command."""
    return printable(text.replace("%", "%25")).replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def junit(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """One `<testsuites>`; a warning or a note is a test case that passed and says so: it fails no build."""
    found = in_order(diagnostics)
    errors = sum(d.severity == "error" for d in found)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<testsuites name="ptcompile" tests="{len(found)}" failures="{errors}">')
    for filename, group in groupby(found, key=lambda d: d.filename):
        lines += _suite(filename, list(group))
    return "\n".join([*lines, "</testsuites>", ""])


def _suite(filename: str | None, found: list[Diagnostic]) -> Iterator[str]:
    errors = sum(d.severity == "error" for d in found)
    name = _attribute(filename or "<input>")
    yield f'  <testsuite name={name} tests="{len(found)}" failures="{errors}">'
    for one in found:
        case = f"<testcase classname={_attribute(one.resource or '')} name={_attribute(f'{one.code} {one.name}')}"
        if one.span is not None:
            case += f' line="{one.span.line}"'
        text = escape(printable(f"{format_location(one)}: {one.message}" + (f"; {one.help}" if one.help else "")))
        yield f"    {case}>"
        if one.severity == "error":
            yield f"      <failure type={_attribute(one.code)} message={_attribute(one.message)}>{text}</failure>"
        else:
            yield f"      <system-out>{text}</system-out>"
        yield "    </testcase>"
    yield "  </testsuite>"


def _attribute(text: str) -> str:
    return quoteattr(printable(text))


_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(
    diagnostics: Sequence[Diagnostic],
    _texts: Mapping[str | None, str],
    pages: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> str:
    """One run with the rules that were found, as ASCII JSON. `pages` has the title and the text of rules, by name."""
    found = in_order(diagnostics)
    rules = {d.code: d for d in sorted(found, key=lambda d: d.code)}
    indexes = {code: i for i, code in enumerate(rules)}
    seen: Counter[str] = Counter()
    driver = {
        "name": "ptcompile",
        "version": __version__,
        "informationUri": SITE,
        "rules": [_rule(one, pages.get(one.name)) for one in rules.values()],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, indexes[d.code], seen) for d in found],
    }
    return _json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(one: Diagnostic, page: tuple[str, str] | None) -> dict[str, Any]:
    """A rule as code scanning shows it: its title in the list, its page beside a finding."""
    title, text = page or (one.name, "")
    described: dict[str, Any] = {"id": one.code, "name": one.name, "shortDescription": {"text": title}}
    described["helpUri"] = page_address(one.code)
    if text:
        described["help"] = {"text": text, "markdown": text}
    return described


def _result(diagnostic: Diagnostic, index: int, seen: Counter[str]) -> dict[str, Any]:
    text = diagnostic.message + (f"; {diagnostic.help}" if diagnostic.help else "")
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(diagnostic.filename)}, "region": _region(diagnostic)}
    location: dict[str, Any] = {"physicalLocation": physical}
    if diagnostic.resource:
        location["logicalLocations"] = [{"fullyQualifiedName": diagnostic.resource, "kind": "resource"}]
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": diagnostic.severity,  # SARIF has the same three words
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {"ptcompile/v1": _fingerprint(diagnostic, seen)},
        "properties": {"stage": diagnostic.stage, "authority": diagnostic.authority},
    }


def _region(diagnostic: Diagnostic) -> dict[str, int]:
    """Where it is; the first line where that is unknown, because a result without a place is shown nowhere."""
    span = diagnostic.span
    if span is None:
        return {"startLine": 1, "startColumn": 1}
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _uri(filename: str | None) -> str:
    return quote((filename or "stdin").replace("\\", "/").removeprefix("./"), safe="/~", errors="replace")


def _fingerprint(diagnostic: Diagnostic, seen: Counter[str]) -> str:
    """What a finding is, without lines: code, file, object and path; a number where that is not yet one finding."""
    parts = (diagnostic.code, _uri(diagnostic.filename), diagnostic.resource or "", *map(str, diagnostic.path))
    digest = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    seen[digest] += 1
    return f"{digest}:{seen[digest]}"
