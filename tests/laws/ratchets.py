"""What breaks each law today, in ratchets.json: texts, each with what is lost and won, that may only become fewer."""

from __future__ import annotations

import json
import re
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

_CHANGE = re.compile(r"(?:^|: )([-+]) .*?(PTC\d+)")

Marks = frozenset[str]
"""What breaks a law in one text, without places and words: `-PTC406`, `+PTC483`, or `simulate` for a prediction."""


class Ratchet(NamedTuple):
    """What one law looks at, and what breaks it, by the id of the text."""

    looked_at: int
    broken: Mapping[str, Marks]


def recorded() -> dict[str, Ratchet]:
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        law: Ratchet(
            row["looked at"],
            {name: frozenset(marks.split()) for name, marks in row["broken"].items()},
        )
        for law, row in rows.items()
    }


def measured() -> dict[str, Ratchet]:
    """Return today's ratchets, from all texts."""
    looked_at = dict.fromkeys(LAWS, 0)
    broken: dict[str, dict[str, Marks]] = {law: {} for law in LAWS}
    for identity, verdicts in mapped(_verdicts, every_text()):
        for law, marks in verdicts.items():
            looked_at[law] += 1
            broken[law] |= {identity: marks} if marks else {}

    ratchets = {law: Ratchet(looked_at[law], broken[law]) for law in LAWS}
    for law, look in CODE_LAWS.items():
        count, names = look()
        ratchets[law] = Ratchet(count, dict.fromkeys(sorted(names), _marks(["again"])))
    return ratchets


def _verdicts(text: Text) -> tuple[str, dict[str, Marks]]:
    """Return the id, and what breaks each law that says something about the text."""
    verdicts = {law: check(text) for law, check in LAWS.items()}
    return text.id, {law: _marks(lines) for law, lines in verdicts.items() if lines is not None}


def _marks(lines: Iterable[str]) -> Marks:
    return frozenset(_mark(line) for line in lines)


def _mark(line: str) -> str:
    change = _CHANGE.search(line)
    return line.split()[0].rstrip(":") if change is None else change[1] + change[2]


def shortened(today: Mapping[str, Ratchet], *, grown: bool) -> tuple[dict[str, Ratchet], list[str]]:
    """Return the ratchets to record, and what newly breaks a law: it is recorded only if the corpus has grown."""
    before = recorded() if FILE.exists() else {}
    kept: dict[str, Ratchet] = {}
    new: list[str] = []
    for law, (looked_at, broken) in today.items():
        allowed = before[law].broken if law in before else broken
        still: dict[str, Marks] = {}
        for identity, marks in broken.items():
            known = allowed.get(identity, frozenset())
            new += (
                [f"{law}: {identity}: {' '.join(sorted(marks - known))}"] if marks - known else []
            )
            still |= {identity: left} if (left := marks if grown else marks & known) else {}
        kept[law] = Ratchet(looked_at, still)
    return kept, new


def write(ratchets: Mapping[str, Ratchet]) -> None:
    rows = {
        law: {
            "looked at": row.looked_at,
            "broken": {name: " ".join(sorted(row.broken[name])) for name in row.broken},
        }
        for law, row in ratchets.items()
    }
    FILE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def table(ratchets: Mapping[str, Ratchet]) -> list[str]:
    """Return a line for each law: how many texts it looks at, and how many break it."""
    return [f"{law:30} {len(row.broken):5} of {row.looked_at:5}" for law, row in ratchets.items()]


def complaint(law: str, verdicts: Mapping[str, Broken]) -> str:
    """Return why the ratchet of a law does not fit what was found in some texts; empty if it does."""
    known = recorded()[law].broken
    parts: list[str] = []
    repaired: list[str] = []
    for identity, lines in verdicts.items():
        marks, recorded_marks = _marks(lines or ()), known.get(identity, frozenset())
        new = [line for line in lines or () if _mark(line) not in recorded_marks]
        parts += (
            [f"{identity} breaks the law {law}:", *(f"  {line}" for line in new)] if new else []
        )
        repaired += (
            [f"  {identity}: {' '.join(sorted(recorded_marks - marks))}"]
            if recorded_marks - marks
            else []
        )
    if repaired:
        parts += [f"no longer breaks the law {law}; `{SHORTEN}` shortens the list:", *repaired]
    return "\n".join(parts)
