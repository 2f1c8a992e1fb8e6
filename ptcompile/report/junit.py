"""For CI servers: JUnit XML, a test suite a file and a failed test case a finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.report.common import in_order, place, printable


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
        text = escape(printable(f"{place(one)}: {one.message}" + (f"; {one.help}" if one.help else "")))
        yield f"    {case}>"
        if one.severity == "error":
            yield f"      <failure type={_attribute(one.code)} message={_attribute(one.message)}>{text}</failure>"
        else:
            yield f"      <system-out>{text}</system-out>"
        yield "    </testcase>"
    yield "  </testsuite>"


def _attribute(text: str) -> str:
    return quoteattr(printable(text))
