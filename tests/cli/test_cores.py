"""How many processes are worth starting."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.cli import processes as cores
from ptcompile.cli.processes import FILES_PER_PROCESS, MAX_PROCESSES, process_count


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with four cores."""
    monkeypatch.setattr(cores, "core_count", lambda: 4)


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (0, 1),
        (1, 1),
        (2 * FILES_PER_PROCESS - 1, 1),
        (2 * FILES_PER_PROCESS, 2),
        (3 * FILES_PER_PROCESS, 3),
        (100 * FILES_PER_PROCESS, 4),
    ],
)
def test_processes_without_enough_work_are_not_started(files: int, expected: int) -> None:
    assert process_count(None, files) == expected


@pytest.mark.usefixtures("four")
def test_the_requested_number_is_used_up_to_the_useful_maximum() -> None:
    assert process_count(3, 5) == 3
    assert process_count(8, 5) == 5
    assert process_count(8, 0) == 1
    assert process_count(10**9, 10**9) == MAX_PROCESSES
    assert process_count(1, 10**9) == 1


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("max 100000", 0),
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("1000 100000", 1),
        ("", 0),
        ("1 0", 0),
    ],
)
def test_a_container_has_the_cores_it_may_use(
    quota: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cpu.max"
    path.write_text(quota)
    monkeypatch.setattr(cores, "_CPU_QUOTA_FILE", str(path))
    assert cores._quota_in_cores() == expected
    assert cores.core_count() >= 1
    assert not expected or cores.core_count() <= expected
