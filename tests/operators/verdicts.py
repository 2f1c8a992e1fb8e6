"""What operators reject of recorded objects and of variations of them, in our words, recorded in their folders.

`python -m tests.operators.verdicts` writes the records again; review the difference. The recorded answers of the
operators themselves are in tests/recorded; other tests compare our verdicts with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import ptcompile
from tests import recorded
from tests.operators.kueue.webhooks.making import profile
from tests.oracle import rows
from tests.records import Records, read_records, write_records
from tests.variations import variations

FOLDER = Path(__file__).parent
AGAIN = "after a change that is meant: python -m tests.operators.verdicts"
MAX_NAME = 160


def kueue_verdicts(kinds: str) -> Records:
    """Return, by kind, the findings of each recorded object, of its variations, and of some recorded changes.

    Objects without findings are left out, as are variations that have those of their object.
    """
    bases, beside = recorded.manifests(f"kueue/{kinds}/real"), []
    if kinds == "foreign":
        beside = [*recorded.rows("kueue/foreign/beside")]
    records: Records = {}
    for base, manifest in bases.items():
        cases = records.setdefault(manifest["kind"].lower(), {})
        cases[base] = usual = _findings(manifest, beside, "kueue")
        changed = {
            f"{base} {name}": _findings(variation, beside, "kueue")
            for name, variation in variations(manifest)
        }
        cases |= {name: lines for name, lines in changed.items() if lines != usual}
    for row in [*recorded.rows(f"kueue/{kinds}/creates")][::3]:
        manifest = recorded.with_operations(bases[row["base"]], row["ops"])
        name = _shortened(f"{row['base']} changed {json.dumps(row['ops'])}")
        records[bases[row["base"]]["kind"].lower()][name] = _findings(manifest, beside, "kueue")
    return {
        kind: {name: lines for name, lines in cases.items() if lines}
        for kind, cases in records.items()
    }


def operator_verdicts(operator: str, authority: str) -> Records:
    """Return the findings of every third recorded object, of those that have any, by the fields that are changed."""
    records: Records = {}
    for row, manifest in [*rows(operator)][::3]:
        fields = [key for key in row.get("path", ())[1:] if isinstance(key, str)]
        if lines := _findings(manifest, [], authority):
            records.setdefault("-".join(fields[:2]) or "object", {})[_row_name(row)] = lines
    return records


def _row_name(row: dict[str, Any]) -> str:
    if "base" in row:
        return _shortened(
            f"{row['base']} {row['op']} {json.dumps(row['path'])} {json.dumps(row.get('value'))}"
        )
    return str(row["id"]) if "id" in row else f"{row['src']} {_digest(json.dumps(row['manifest']))}"


def _shortened(name: str) -> str:
    """Return a name of bounded length, which is still no other's."""
    return name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]} ... {_digest(name)}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _findings(manifest: Any, beside: Iterable[Any], authority: str) -> list[str]:
    report = ptcompile.lint(manifest, beside=[*beside], cluster=profile("0.19"))
    return [
        f"{diagnostic.name}: {diagnostic.message}"
        + (f" [{diagnostic.fix.title}, {diagnostic.fix.safe}]" if diagnostic.fix else "")
        for diagnostic in report.diagnostics
        if diagnostic.authority == authority and diagnostic.stage == "apply"
    ]


RECORDS: dict[str, Callable[[], Records]] = {
    "kueue/webhooks": partial(kueue_verdicts, "foreign"),
    "kueue/objects": partial(kueue_verdicts, "own"),
    "pytorchjob": partial(operator_verdicts, "pytorchjob", "training-operator"),
    "volcano": partial(operator_verdicts, "volcano", "volcano"),
    "jobset": partial(operator_verdicts, "jobset", "jobset"),
    "trainer": partial(operator_verdicts, "trainjob", "trainer"),
}
"""The records, keyed by the folder of the tests."""


def recorded_verdicts(folder: str) -> Records:
    return read_records(FOLDER / folder / "verdicts")


def main() -> None:
    for folder, record in RECORDS.items():
        write_records(FOLDER / folder / "verdicts", record())


if __name__ == "__main__":
    main()
