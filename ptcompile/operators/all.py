"""The operators, those of the targets first: the one table that is keyed by kind. All others are views of it.

A new operator is a folder, a record in `written` or `beside`, and an authority in `findings.terms`.
"""

from __future__ import annotations

from functools import lru_cache

from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.beside import BESIDE
from ptcompile.operators.record import Key, Kind, Operator, resolve
from ptcompile.operators.written import WRITTEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

OPERATORS: Final = (*WRITTEN, *BESIDE)
_UNKNOWN: Final = Kind("", "")

BY_FOLDER: Final = {one.folder: one for one in OPERATORS}
BY_QUEUE_SYSTEM: Final = {one.queue_system: one for one in OPERATORS if one.queue_system}
BY_GANG_SCHEDULER: Final = {one.gang_scheduler: one for one in OPERATORS if one.gang_scheduler}
BY_TARGET: Final = {one.target: one for one in OPERATORS if one.target}
KINDS: Final[dict[Key, tuple[Operator, Kind]]] = {kind.key: (one, kind) for one in OPERATORS for kind in one.kinds}


def record(key: Key) -> Kind:
    """The record of a kind; an empty one of a kind that is unknown."""
    found = KINDS.get(key)
    return found[1] if found else _UNKNOWN


def having(field: str) -> frozenset[Key]:
    """The kinds whose records say something under a field, such as `pods`."""
    return frozenset(key for key, (_, kind) in KINDS.items() if getattr(kind, field))


def version(key: Key, versions: Versions) -> Version:
    """The release, among a cluster's, of the operator of a known kind."""
    found: Version = getattr(versions, KINDS[key][0].version)
    return found


@lru_cache(maxsize=1024)
def part(key: Key, field: str) -> Any:
    """What the record of a kind names under a field, imported; None where the kind is unknown or names nothing."""
    found = KINDS.get(key)
    reference = getattr(found[1], field) if found else ""
    return resolve(found[0].folder, reference) if found and reference else None
