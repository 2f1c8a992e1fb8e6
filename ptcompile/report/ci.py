"""Findings for CI systems: GitHub commands and Markdown, GitLab code quality, JUnit, SARIF.

The Markdown is a comment or the summary of a job. Nothing in a manifest can break out of its
markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from types import MappingProxyType
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from ptcompile._internal.about import SITE, __version__
from ptcompile._internal.secret_formats import mask_formats
from ptcompile.diagnostics import Diagnostic
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.report import Unchecked
from ptcompile.report.layout import (
    format_json,
    format_location,
    format_origin,
    safe_text,
    shorten,
    sort_by_location,
    template_instead_of_file,
)

_GITHUB_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_SAFE_CHARACTERS = frozenset(" ,-/=")
"""Unescaped characters besides letters and digits. A dot is safe too if the text contains no www
address.
"""
_MAX_MESSAGE_LENGTH = 500


def github(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """Return one `::error file=...,line=...::message` (or warning, notice) per finding, escaped as
    in GitHub's toolkit.
    """
    return "".join(f"{_github_command(d)}\n" for d in sort_by_location(diagnostics))


def _github_command(diagnostic: Diagnostic) -> str:
    template = template_instead_of_file(diagnostic)
    properties = {
        "file": template or diagnostic.filename or "",
        "title": f"{diagnostic.code} {diagnostic.name}",
    }
    if (span := diagnostic.span) is not None and template is None:
        properties |= {
            "line": str(span.line),
            "col": str(span.column),
            "endLine": str(span.end_line),
        }
        if span.end_line == span.line:
            properties["endColumn"] = str(span.end_column)

    message = _message(diagnostic)
    property_list = ",".join(
        f"{key}={_escape_property(value)}" for key, value in properties.items() if value
    )

    return f"::{_GITHUB_COMMANDS[diagnostic.severity]} {property_list}::{_escape_data(message)}"


def _message(diagnostic: Diagnostic) -> str:
    """Return the message and the help; in a rendered document, also the template, or the rendered
    line if the template is already the finding's file.
    """
    text = diagnostic.message + (f"; {diagnostic.help}" if diagnostic.help else "")
    if template_instead_of_file(diagnostic) is not None:
        return f"{text} ({format_location(diagnostic)})"
    return text + format_origin(diagnostic)


def _escape_data(text: str) -> str:
    """Escape text for the message of a command: no line break, and no start of another command."""
    return safe_text(text.replace("%", "%25")).replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


_GITLAB_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def gitlab(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """Return a code quality report as GitLab reads it: a list of issues with unique
    fingerprints.
    """
    counts: Counter[str] = Counter()
    return format_json([_issue(diagnostic, counts) for diagnostic in sort_by_location(diagnostics)])


def _issue(diagnostic: Diagnostic, counts: Counter[str]) -> JsonDict:
    template = template_instead_of_file(diagnostic)
    line = 1 if diagnostic.span is None or template is not None else diagnostic.span.line

    return {
        "type": "issue",
        "check_name": f"{diagnostic.code} {diagnostic.name}",
        "description": safe_text(_message(diagnostic)),
        "severity": _GITLAB_SEVERITIES[diagnostic.severity],
        "fingerprint": _fingerprint(diagnostic, counts),
        "location": {
            "path": safe_text(_relative(template or diagnostic.filename)),
            "lines": {"begin": line},
        },
    }


def junit(
    diagnostics: Sequence[Diagnostic],
    _texts: Mapping[str | None, str],
    unchecked: Sequence[Unchecked] = (),
) -> str:
    """Return one `<testsuites>`. Warnings and notes are test cases that pass with output, so they
    do not fail a build; what was not checked is a test case that was skipped.
    """
    ordered = sort_by_location(diagnostics)
    errors = sum(d.severity == "error" for d in ordered)
    count = len(ordered) + len(unchecked)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="ptcompile" tests="{count}" failures="{errors}">',
    ]
    for filename, group in groupby(ordered, key=lambda d: d.filename):
        lines += _test_suite(filename, list(group))
    if unchecked:
        lines += _skipped_tests(unchecked)

    return "\n".join([*lines, "</testsuites>", ""])


def _skipped_tests(unchecked: Sequence[Unchecked]) -> Iterator[str]:
    count = len(unchecked)
    yield f'  <testsuite name="not checked" tests="{count}" failures="0" skipped="{count}">'
    for each in unchecked:
        names = (
            f"classname={_quote_attribute(each.filename or '')} "
            f"name={_quote_attribute(each.object)}"
        )
        yield f'    <testcase {names}><skipped message="not checked"/></testcase>'
    yield "  </testsuite>"


def _test_suite(filename: str | None, diagnostics: list[Diagnostic]) -> Iterator[str]:
    errors = sum(d.severity == "error" for d in diagnostics)
    name = _quote_attribute(filename or "<input>")
    yield f'  <testsuite name={name} tests="{len(diagnostics)}" failures="{errors}">'
    for diagnostic in diagnostics:
        code = _quote_attribute(diagnostic.code)
        message = _quote_attribute(diagnostic.message)
        test_name = _quote_attribute(f"{diagnostic.code} {diagnostic.name}")
        case = f"<testcase classname={_quote_attribute(diagnostic.resource or '')} name={test_name}"
        if diagnostic.span is not None:
            case += f' line="{diagnostic.span.line}"'
        help = f"; {diagnostic.help}" if diagnostic.help else ""
        location = format_location(diagnostic) + format_origin(diagnostic)
        text = escape(safe_text(f"{location}: {diagnostic.message}{help}"))
        yield f"    {case}>"
        if diagnostic.severity == "error":
            yield f"      <failure type={code} message={message}>{text}</failure>"
        else:
            yield f"      <system-out>{text}</system-out>"

        yield "    </testcase>"

    yield "  </testsuite>"


def _quote_attribute(text: str) -> str:
    return quoteattr(safe_text(text))


_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(
    diagnostics: Sequence[Diagnostic],
    _texts: Mapping[str | None, str],
    unchecked: Sequence[Unchecked] = (),
    pages: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> str:
    """Return one run with its rules as ASCII JSON. `pages` maps rule names to title and text."""
    ordered = sort_by_location(diagnostics)
    rules = {d.code: d for d in sorted(ordered, key=lambda d: d.code)}
    indexes = {code: i for i, code in enumerate(rules)}
    counts: Counter[str] = Counter()
    driver = {
        "name": "ptcompile",
        "version": __version__,
        "informationUri": SITE,
        "rules": [_rule(diagnostic, pages.get(diagnostic.name)) for diagnostic in rules.values()],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, indexes[d.code], counts) for d in ordered],
    }
    if unchecked:
        notices = [*map(_notification, unchecked)]
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": notices}]

    return format_json({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _notification(unchecked: Unchecked) -> JsonDict:
    location = {"physicalLocation": {"artifactLocation": {"uri": _uri(unchecked.filename)}}}
    return {
        "level": "note",
        "message": {"text": f"not checked: {safe_text(unchecked.object)}"},
        "locations": [location],
    }


def _rule(diagnostic: Diagnostic, page: tuple[str, str] | None) -> JsonDict:
    """Return a rule for code scanning, which lists the title and shows the text next to
    findings.
    """
    title, text = page or (diagnostic.name, "")
    rule = {
        "id": diagnostic.code,
        "name": diagnostic.name,
        "shortDescription": {"text": title},
    }
    if diagnostic.url is not None:
        rule["helpUri"] = diagnostic.url
    if text:
        rule["help"] = {"text": text, "markdown": text}

    return rule


def _result(diagnostic: Diagnostic, index: int, counts: Counter[str]) -> JsonDict:
    template = template_instead_of_file(diagnostic)
    span = diagnostic.span
    # results without a region are not shown
    region = {"startLine": 1, "startColumn": 1}
    if span is not None and template is None:
        region = {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": span.end_column,
        }
    uri = _uri(template or diagnostic.filename)
    physical: JsonDict = {"artifactLocation": {"uri": uri}, "region": region}
    location: JsonDict = {"physicalLocation": physical}
    if diagnostic.resource:
        location["logicalLocations"] = [
            {"fullyQualifiedName": diagnostic.resource, "kind": "resource"}
        ]

    return {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": diagnostic.severity,  # SARIF uses the same three levels
        "message": {"text": _message(diagnostic)},
        "locations": [location],
        "partialFingerprints": {"ptcompile/v1": _fingerprint(diagnostic, counts)},
        "properties": {"stage": diagnostic.stage, "authority": diagnostic.authority},
    }


def _uri(filename: str | None) -> str:
    return quote(_relative(filename), safe="/~", errors="replace")


def _relative(filename: str | None) -> str:
    return mask_formats(filename or "stdin").replace("\\", "/").removeprefix("./")


def _fingerprint(diagnostic: Diagnostic, counts: Counter[str]) -> str:
    """Return an id that does not depend on lines: code, file, object and path, and a number if
    these are equal.
    """
    place = diagnostic.resource or "", diagnostic.namespace or "", diagnostic.stable_path
    parts = (diagnostic.code, _uri(diagnostic.filename), *place)
    digest = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    counts[digest] += 1
    return f"{digest}:{counts[digest]}"


def html_code(text: str, length: int = 120) -> str:
    """Return the text as HTML code in which nothing is read as Markdown, HTML, a link or a
    mention.
    """
    safe = _SAFE_CHARACTERS | ({"."} if "www" not in text.lower() else set())
    escaped = "".join(
        c if c.isalnum() or c in safe else f"&#{ord(c)};" for c in shorten(text, length)
    )
    return f"<code>{escaped}</code>" if escaped.strip() else "<code>&#34;&#34;</code>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def rule_link(code: str, name: str, url: str | None) -> str:
    """Return a rule's code, linked to its page if it has one, and its name."""
    if code.isalnum() and url:
        return f"[{code}]({url}) {name}"
    return html_code(f"{code} {name}")


def markdown(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """Return a table with a row for each finding; nothing without findings."""
    if not diagnostics:
        return ""
    rows = []
    for d in sort_by_location(diagnostics):
        place = html_code(format_location(d) + format_origin(d))
        text = f"{d.resource}: {d.message}" if d.resource else d.message
        finding = html_code(text, _MAX_MESSAGE_LENGTH)
        rows.append((d.severity, rule_link(d.code, d.name, d.url), place, finding))
    return table(("Severity", "Rule", "Place", "Finding"), rows)
