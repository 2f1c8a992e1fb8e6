"""What breaks each law today: ids that may only become fewer, in ratchets.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.laws.laws import LAWS, Broken
from tests.laws.once import repeated_answers, shell_patterns
from tests.laws.processes import mapped
from tests.laws.texts import Text, every_text

FILE = Path(__file__).parent / "ratchets.json"
SHORTEN = "python -m tests.laws ratchets"

CODE_LAWS: dict[str, Callable[[], tuple[int, set[str]]]] = {
    "9-one-answer": repeated_answers,
    "9-shell-patterns": shell_patterns,
}
"""Laws about the code: how many functions or patterns they look at, and the names that break them."""


class Ratchet(NamedTuple):
    """What one law looks at, and what breaks it."""

    looked_at: int
    broken: frozenset[str]


def recorded() -> dict[str, Ratchet]:
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    return {law: Ratchet(row["looked at"], frozenset(row["broken"])) for law, row in rows.items()}


def measured() -> dict[str, Ratchet]:
    """Return today's ratchets, from all texts."""
    looked_at = dict.fromkeys(LAWS, 0)
    broken: dict[str, set[str]] = {law: set() for law in LAWS}
    for identity, verdicts in mapped(_verdicts, every_text()):
        for law, is_broken in verdicts.items():
            looked_at[law] += 1
            broken[law] |= {identity} if is_broken else set()
    texts = {law: Ratchet(looked_at[law], frozenset(broken[law])) for law in LAWS}
    code = {law: Ratchet(count, frozenset(names)) for law, (count, names) in _code_laws().items()}
    return {**texts, **code}


def _code_laws() -> dict[str, tuple[int, set[str]]]:
    return {law: look() for law, look in CODE_LAWS.items()}


def _verdicts(text: Text) -> tuple[str, dict[str, bool]]:
    """Return the id, and whether the text breaks each law that says something about it."""
    found = {law: check(text) for law, check in LAWS.items()}
    return text.id, {law: bool(lines) for law, lines in found.items() if lines is not None}


def shortened(today: Mapping[str, Ratchet], *, grown: bool) -> tuple[dict[str, Ratchet], list[str]]:
    """Return the ratchets to record, and what newly breaks a law: it is recorded only if the corpus has grown."""
    before = recorded() if FILE.exists() else {}
    kept: dict[str, Ratchet] = {}
    new: list[str] = []
    for law, (looked_at, broken) in today.items():
        allowed = before[law].broken if law in before else broken
        new += [f"{law}: {identity}" for identity in sorted(broken - allowed)]
        kept[law] = Ratchet(looked_at, broken if grown else broken & allowed)
    return kept, new


def write(ratchets: Mapping[str, Ratchet]) -> None:
    rows = {law: {"looked at": row.looked_at, "broken": sorted(row.broken)} for law, row in ratchets.items()}
    FILE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def table(ratchets: Mapping[str, Ratchet]) -> list[str]:
    """Return a line for each law: how many texts it looks at, and how many break it."""
    return [f"{law:30} {len(row.broken):5} of {row.looked_at:5}" for law, row in ratchets.items()]


def complaint(law: str, found: Mapping[str, Broken], texts: Iterable[str]) -> str:
    """Return why the ratchet of a law does not fit what was found in some texts; empty if it does."""
    known = recorded()[law].broken & {*texts}
    broken = {identity: lines for identity, lines in found.items() if lines}
    parts = []
    for identity in sorted(broken.keys() - known):
        parts += [f"{identity} breaks the law {law}:", *(f"  {line}" for line in broken[identity] or ())]
    if repaired := sorted(known - broken.keys()):
        parts += [
            f"no longer break the law {law}; shorten the list with `{SHORTEN}`:",
            *(f"  {one}" for one in repaired),
        ]
    return "\n".join(parts)
