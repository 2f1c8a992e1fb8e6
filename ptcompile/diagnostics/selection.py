"""Selections of findings: selectors as `--select` and `--ignore` take them, and the rule names that
they match.

A selector is a code (PTC301), the beginning of one (PTC3), a name (missing-shm) or ALL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import Any, NamedTuple, cast
from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Severity, Stage
from ptcompile.diagnostics.codes import CODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics import Diagnostic

NO_CODES: Mapping[str, str] = MappingProxyType({})

SEVERITIES = ("error", "warning", "note")


class Selection(NamedTuple):
    """The findings to report."""

    select: frozenset[str] | None = None
    """Names of findings to report besides rejections; None for all."""
    ignore: frozenset[str] = frozenset()
    """Names of findings not to report, rejections included."""
    codes: Mapping[str, str] = NO_CODES
    """Codes by name of the rules that plugins and the configuration add."""
    severities: Mapping[str, Severity] = MappingProxyType({})
    """Severities by name that replace the rules' own."""

    def with_severity(self, diagnostic: Diagnostic) -> Diagnostic:
        """Return a finding with its configured severity. Errors that keep a spec from compiling
        remain errors.
        """
        severity = self.severities.get(diagnostic.name, diagnostic.severity)
        if severity == diagnostic.severity or diagnostic.blocks_compile:
            return diagnostic
        return diagnostic._replace(severity=severity, rule_severity=diagnostic.severity)

    def includes(self, name: str, stage: Stage) -> bool:
        """Return whether a finding is reported. Rejections are reported unless ignored by name
        or code.
        """
        if name in self.ignore:
            return False
        return self.select is None or name in self.select or stage in ("apply", "pod")


_ALL = Selection()


def selection(
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    codes: Mapping[str, str] = NO_CODES,
    severity: Mapping[str, str] | None = None,
) -> Selection:
    """Return the selection for some selectors.

    `codes` are those of rules that plugins and the configuration add, by name; `severity` has
    severities by selector. Raises ValueError for a selector that matches nothing and for an unknown
    severity, and TypeError if a parameter is not a list of strings.
    """
    severity = arguments.mapping(severity, "severity")
    if select is None and ignore in ((), []) and codes is NO_CODES and not severity:
        return _ALL

    selected = None
    if select is not None:
        selected = selected_names(arguments.strings(select, "select"), codes)
    ignored = selected_names(arguments.strings(ignore, "ignore"), codes)
    return Selection(selected, ignored, codes, severities(severity, codes))


def severities(
    table: Mapping[str, Any], codes: Mapping[str, str] = NO_CODES
) -> dict[str, Severity]:
    """Return the severity of each name that a selector of the table matches; the most specific
    selector decides.

    Raises ValueError for a selector that matches nothing and for an unknown severity.
    """
    result: dict[str, Severity] = {}
    arguments.strings(list(table), "severity")
    for selector in sorted(table, key=_specificity):
        severity = table[selector]
        if severity not in SEVERITIES:
            text = repr(severity) if isinstance(severity, str) else f"a {type(severity).__name__}"
            raise ValueError(
                f"{selector}: {text} is not a severity; it must be error, warning or note"
            )
        result.update(dict.fromkeys(_matching_names(selector, codes), cast("Severity", severity)))

    return result


def _specificity(selector: str) -> tuple[bool, int]:
    """Order ALL before prefixes, shorter ones first, and codes before names."""
    text = selector.strip()
    return text != "ALL", len(text) if text[:2].isupper() else 100


def selected_names(selectors: Iterable[str], codes: Mapping[str, str] = NO_CODES) -> frozenset[str]:
    """Return the names that match the selectors. Raises ValueError for a selector that matches
    nothing.
    """
    return frozenset(name for selector in selectors for name in _matching_names(selector, codes))


def _matching_names(selector: str, extra_codes: Mapping[str, str]) -> list[str]:
    """Return the names of the rules that a selector matches. Raises ValueError if there are
    none.
    """
    text = selector.strip()
    codes = {**CODES, **extra_codes}
    if text == "ALL":
        return list(codes)
    if text in codes:
        return [text]

    matches = [
        name
        for name, code in codes.items()
        if code.startswith(text) and _is_whole_prefix(text, code)
    ]
    if not matches:
        suggestion = closest_match(text, [*codes, *codes.values()])
        is_plugin_code = text[:2].isupper() and text[:3] != "PTC" and text[-3:].isdecimal()
        help = "; no configured plugin defines it" if is_plugin_code else ""
        if suggestion:
            help = f"; did you mean {suggestion}?"
        raise ValueError(f"no rule {text!r}{help}")

    return matches


def _is_whole_prefix(text: str, code: str) -> bool:
    """Return whether `text` is a code's whole alphabetic prefix, with or without digits: PTC and
    PTC3 are, PT is not.
    """
    return text.rstrip("0123456789") == code.rstrip("0123456789")
