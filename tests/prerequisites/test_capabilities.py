"""The table of what targets can express: made by asking, and shown as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.operators.common.changes import changes
from ptcompile.operators.targets import TARGETS
from ptcompile.prerequisites import capabilities
from ptcompile.prerequisites.capabilities import PROBES
from ptcompile.verbs.targets import targets

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
ROWS = {row.name: dict(row.cells) for row in capabilities.capabilities()}


def test_the_readme_shows_the_table() -> None:
    """Refresh what stands between the two marks with the output of `python -m ptcompile targets`."""
    _, _, rest = README.partition("<!-- ptcompile targets: begin -->\n")
    shown, _, _ = rest.partition("<!-- ptcompile targets: end -->")
    assert shown == f"```text\n{targets().text()}```\n"


def test_every_probe_is_a_row_with_an_answer_for_every_target() -> None:
    assert [name for name in ROWS if not name.startswith("longest")] == [probe.name for probe in PROBES]
    assert len({probe.name for probe in PROBES}) == len(PROBES)
    for probe in PROBES:
        assert list(ROWS[probe.name]) == list(TARGETS)
        assert set(ROWS[probe.name].values()) <= {"yes", "roughly", "no"}


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_somebody_can_do_it(probe: capabilities.Probe) -> None:
    """A probe that nobody understands is misspelt."""
    assert "yes" in ROWS[probe.name].values()


@pytest.mark.parametrize(
    ("row", "target", "answer"),
    [
        ("several nodes", "pod", "no"),
        ("auxiliary roles", "volcano", "yes"),
        ("auxiliary roles", "pytorchjob", "no"),
        ("restartPolicy ExitCode", "pytorchjob", "yes"),
        ("queue of Kueue", "volcano", "roughly"),
        ("queue of Volcano, topology", "pytorchjob", "no"),
        ("gang of Volcano, range of nodes", "trainjob", "roughly"),
        ("longest name, 8 nodes", "trainjob", "48"),
        ("longest name, 8 nodes", "pod", ""),
    ],
)
def test_answers_that_are_known(row: str, target: str, answer: str) -> None:
    assert ROWS[row][target] == answer


def test_the_versions_are_the_table_of_changes() -> None:
    lines = capabilities.versions().splitlines()
    assert len(lines) == len(changes())
    assert all(any(change.what in line and change.source in line for line in lines) for change in changes().values())
