"""How many processes are worth their start."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.cli import processes as cores
from ptcompile.cli.processes import EACH, MOST, processes


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with four cores."""
    monkeypatch.setattr(cores, "cores", lambda: 4)


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize(
    ("files", "expected"), [(0, 1), (1, 1), (2 * EACH - 1, 1), (2 * EACH, 2), (3 * EACH, 3), (100 * EACH, 4)]
)
def test_as_many_as_have_enough_to_do(files: int, expected: int) -> None:
    assert processes(None, files) == expected


@pytest.mark.usefixtures("four")
def test_what_is_asked_for_is_done_as_far_as_it_makes_sense() -> None:
    assert processes(3, 5) == 3
    assert processes(8, 5) == 5
    assert processes(8, 0) == 1
    assert processes(10**9, 10**9) == MOST
    assert processes(1, 10**9) == 1


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 0), ("200000 100000", 2), ("150000 100000", 2), ("1000 100000", 1), ("", 0), ("1 0", 0)],
)
def test_a_container_has_the_cores_it_may_use(
    quota: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cpu.max"
    path.write_text(quota)
    monkeypatch.setattr(cores, "_QUOTA", str(path))
    assert cores._quota() == expected
    assert cores.cores() >= 1
    assert not expected or cores.cores() <= expected
