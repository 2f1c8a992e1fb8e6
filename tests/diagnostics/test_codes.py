"""The permanence of codes: `codes.lock` pins each code to its name."""

from __future__ import annotations

import re
from pathlib import Path

from ptcompile.diagnostics.codes import CODES, EFFECTS

LOCK = Path(__file__).parent / "codes.lock"
ROWS = [
    line.split()
    for line in LOCK.read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
"""Code and name of each row, followed by "retired" for codes no longer in use."""


def test_the_lock_gives_each_code_and_each_name_once() -> None:
    for column in (0, 1):
        given = [row[column] for row in ROWS]
        assert len(given) == len(set(given))


def test_a_row_of_the_lock_may_only_be_retired() -> None:
    assert all(row[2:] in ([], ["retired"]) for row in ROWS)


def test_assigned_codes_never_change() -> None:
    """Users write codes into `# ptcompile: ignore[...]` and into their configuration."""
    for code, name, *retired in ROWS:
        if retired:
            assert name not in CODES, f"{name} is retired"
            assert code not in CODES.values(), f"{code} is retired"
        else:
            assert CODES.get(name) == code, f"{name} was given out as {code}"


def test_every_code_is_in_the_lock() -> None:
    locked = {name for _, name, *_ in ROWS}
    missing = [f"{code} {name}" for name, code in CODES.items() if name not in locked]
    assert not missing, "add to tests/diagnostics/codes.lock:\n" + "\n".join(missing)


def test_codes_and_names_have_a_fixed_form() -> None:
    for name, code in CODES.items():
        assert re.fullmatch(r"PTC[0-9]{3}", code), code
        assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name), name


def test_only_findings_with_an_effect_have_one() -> None:
    assert EFFECTS["larger-than-pools"] == "waits"
    assert "spec-unknown-field" not in EFFECTS
    assert None not in EFFECTS.values()
