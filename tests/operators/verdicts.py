"""What operators reject of recorded objects and of variations of them, in our words, recorded in their folders.

`python -m tests.operators.verdicts` writes the records again; review the difference. The recorded answers of the
operators themselves are in tests/recorded; other tests compare our verdicts with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import ptcompile
from tests import recorded
from tests.operators.kueue.webhooks.making import profile
from tests.oracle import rows
from tests.variations import variations

FOLDER = Path(__file__).parent
AGAIN = "after a change that is meant: python -m tests.operators.verdicts"


def kueue_verdicts(kinds: str) -> dict[str, Any]:
    """Return the findings of each recorded object and of its variations with others, and of some recorded changes."""
    bases, beside = recorded.manifests(f"kueue/{kinds}/real"), []
    if kinds == "foreign":
        beside = [*recorded.rows("kueue/foreign/beside")]
    found: dict[str, Any] = {}
    for base, manifest in bases.items():
        usual = _findings(manifest, beside, "kueue")
        changed = {name: _findings(variation, beside, "kueue") for name, variation in variations(manifest)}
        found[base] = {"": usual, **{name: lines for name, lines in changed.items() if lines != usual}}
    changes = [*recorded.rows(f"kueue/{kinds}/creates")][::3]
    manifests = (recorded.with_operations(bases[row["base"]], row["ops"]) for row in changes)
    found["changes"] = [_findings(manifest, beside, "kueue") for manifest in manifests]
    return found


def operator_verdicts(operator: str, authority: str) -> list[list[str]]:
    """Return the findings of every third recorded object."""
    return [_findings(manifest, [], authority) for _, manifest in [*rows(operator)][::3]]


def _findings(manifest: Any, beside: Iterable[Any], authority: str) -> list[str]:
    report = ptcompile.lint(manifest, beside=[*beside], cluster=profile("0.19"))
    return [
        f"{found.name}: {found.message}" + (f" [{found.fix.title}, {found.fix.safe}]" if found.fix else "")
        for found in report.diagnostics
        if found.authority == authority and found.stage == "apply"
    ]


RECORDS: dict[str, Callable[[], Any]] = {
    "kueue/webhooks": partial(kueue_verdicts, "foreign"),
    "kueue/objects": partial(kueue_verdicts, "own"),
    "pytorchjob": partial(operator_verdicts, "pytorchjob", "training-operator"),
    "volcano": partial(operator_verdicts, "volcano", "volcano"),
    "jobset": partial(operator_verdicts, "jobset", "jobset"),
    "trainer": partial(operator_verdicts, "trainjob", "trainer"),
}
"""The records, keyed by the folder of the tests."""


def recorded_verdicts(folder: str) -> Any:
    return json.loads((FOLDER / folder / "verdicts.json").read_text())


def main() -> None:
    for folder, record in RECORDS.items():
        text = json.dumps(record(), indent=1, ensure_ascii=False) + "\n"
        (FOLDER / folder / "verdicts.json").write_text(text)


if __name__ == "__main__":
    main()
