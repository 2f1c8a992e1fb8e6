"""Selections of findings: selectors as `--select` and `--ignore` take them, and the rule names that they match.

A selector is a code (PTC301), the beginning of one (PTC3), a name (missing-shm) or ALL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics.codes import CODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.diagnostics.terms import Stage

NO_CODES: Final[Mapping[str, str]] = MappingProxyType({})


class Selection(NamedTuple):
    """The findings to report."""

    select: frozenset[str] | None = None
    """Names of findings to report besides rejections; None for all."""
    ignore: frozenset[str] = frozenset()
    """Names of findings not to report, rejections included."""
    codes: Mapping[str, str] = NO_CODES
    """Codes by name of the rules that plugins and the configuration add."""

    def includes(self, name: str, stage: Stage) -> bool:
        """Return whether a finding is reported. Rejections are reported unless ignored by name or code."""
        if name in self.ignore:
            return False
        return self.select is None or name in self.select or stage in ("apply", "pod")


_ALL: Final = Selection()


def selection(
    select: Iterable[str] | None = None, ignore: Iterable[str] = (), codes: Mapping[str, str] = NO_CODES
) -> Selection:
    """Return the selection for some selectors.

    `codes` are those of rules that plugins and the configuration add, by name. Raises ValueError for a selector that
    matches nothing, and TypeError if a parameter is not a list of strings.
    """
    if select is None and ignore in ((), []) and codes is NO_CODES:
        return _ALL
    selected = None if select is None else selected_names(arguments.strings(select, "select"), codes)
    return Selection(selected, selected_names(arguments.strings(ignore, "ignore"), codes), codes)


def selected_names(selectors: Iterable[str], codes: Mapping[str, str] = NO_CODES) -> frozenset[str]:
    """Return the names that match the selectors. Raises ValueError for a selector that matches nothing."""
    return frozenset(name for selector in selectors for name in _matching_names(selector, codes))


def _matching_names(selector: str, extra_codes: Mapping[str, str]) -> list[str]:
    text, codes = selector.strip(), {**CODES, **extra_codes} if extra_codes else CODES
    if text == "ALL":
        return list(codes)
    matches = [
        name for name, code in codes.items() if name == text or (code.startswith(text) and _is_whole_prefix(text, code))
    ]
    if not matches:
        suggestion = closest_match(text, [*codes, *codes.values()])
        is_plugin_code = text[:2].isupper() and text[:3] != "PTC" and text[-3:].isdecimal()
        help = (
            f"did you mean {suggestion}?" if suggestion else "no configured plugin defines it" if is_plugin_code else ""
        )
        raise ValueError(f"no rule {text!r}" + (f"; {help}" if help else ""))
    return matches


def _is_whole_prefix(text: str, code: str) -> bool:
    """Return whether `text` is a code's whole alphabetic prefix, with or without digits: PTC and PTC3 are, PT is
    not.
    """
    return text.rstrip("0123456789") == code.rstrip("0123456789")
