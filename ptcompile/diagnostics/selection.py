"""Which findings are told: selectors, as `--select` and `--ignore` take them, and the names that they stand for.

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
    """The findings that are wanted."""

    select: frozenset[str] | None = None
    """Names of what is looked for beyond what would be refused; None for all of it."""
    ignore: frozenset[str] = frozenset()
    """Names of what is not told, refusals among them."""
    codes: Mapping[str, str] = NO_CODES
    """The codes of rules that plugins and the configuration add, by name."""

    def tells(self, name: str, stage: Stage) -> bool:
        """Whether a finding is told. What would be refused is told unless it is ignored by name or code."""
        if name in self.ignore:
            return False
        return self.select is None or name in self.select or stage in ("apply", "pod")


_ALL: Final = Selection()


def selection(
    select: Iterable[str] | None = None, ignore: Iterable[str] = (), codes: Mapping[str, str] = NO_CODES
) -> Selection:
    """The selection that selectors make. Raises ValueError for a selector that selects nothing, TypeError for no list.

    `codes` are those of rules that plugins and the configuration add, by name.
    """
    if select is None and ignore in ((), []) and codes is NO_CODES:
        return _ALL
    chosen = None if select is None else selected_names(arguments.strings(select, "select"), codes)
    return Selection(chosen, selected_names(arguments.strings(ignore, "ignore"), codes), codes)


def selected_names(selectors: Iterable[str], codes: Mapping[str, str] = NO_CODES) -> frozenset[str]:
    """The names that selectors stand for. Raises ValueError for one that stands for none."""
    return frozenset(name for one in selectors for name in _of(one, codes))


def _of(selector: str, more: Mapping[str, str]) -> list[str]:
    text, codes = selector.strip(), {**CODES, **more} if more else CODES
    if text == "ALL":
        return list(codes)
    found = [name for name, code in codes.items() if name == text or (code.startswith(text) and _family(text, code))]
    if not found:
        near = closest_match(text, [*codes, *codes.values()])
        foreign = text[:2].isupper() and text[:3] != "PTC" and text[-3:].isdecimal()
        help = f"did you mean {near}?" if near else "the configuration names no plugin that has it" if foreign else ""
        raise ValueError(f"no rule {text!r}" + (f"; {help}" if help else ""))
    return found


def _family(text: str, code: str) -> bool:
    """Whether a text is the whole prefix of a code, with or without digits: PTC and PTC3 are, PT is not."""
    return text.rstrip("0123456789") == code.rstrip("0123456789")
