"""For code scanning: SARIF 2.1.0, with fingerprints that survive when lines move."""

from __future__ import annotations

import json as _json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from urllib.parse import quote

from ptcompile.about import SITE, __version__, page_address
from ptcompile.findings.diagnostics import Diagnostic
from ptcompile.report.common import in_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

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
