"""Which findings are told: selectors, as `--select` and `--ignore` take them, and the names that they stand for.

A selector is a code (PTC301), the beginning of one (PTC3), a name (missing-shm) or ALL.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ptcompile import arguments
from ptcompile.findings.codes import CODES
from ptcompile.findings.diagnostics import Stage
from ptcompile.kubernetes.names import suggest


class Selection(NamedTuple):
    """The findings that somebody wants to be told."""

    select: frozenset[str] | None = None
    """Names of what is looked for beyond what would be refused; None for all of it."""
    ignore: frozenset[str] = frozenset()
    """Names of what is not told, refusals among them."""

    def tells(self, name: str, stage: Stage) -> bool:
        """Whether a finding is told. What would be refused is told unless it is ignored by name or code."""
        if name in self.ignore:
            return False
        return self.select is None or name in self.select or stage in ("apply", "pod")


def selection(select: Iterable[str] | None = None, ignore: Iterable[str] = ()) -> Selection:
    """The selection that selectors make. Raises ValueError for a selector that selects nothing, and
    TypeError for what is no list of strings."""
    chosen = None if select is None else named(arguments.strings(select, "select"))
    return Selection(chosen, named(arguments.strings(ignore, "ignore")))


def named(selectors: Iterable[str]) -> frozenset[str]:
    """The names that selectors stand for. Raises ValueError for one that stands for none."""
    return frozenset(name for one in selectors for name in _of(one))


@lru_cache(maxsize=256)
def _of(selector: str) -> list[str]:
    text = selector.strip()
    if text == "ALL":
        return list(CODES)
    found = [name for name, code in CODES.items() if name == text or (text[:3] == "PTC" and code.startswith(text))]
    if not found:
        near = suggest(text, [*CODES, *CODES.values()])
        raise ValueError(f"no rule {text!r}" + (f"; did you mean {near}?" if near else ""))
    return found
