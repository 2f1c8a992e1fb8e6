"""Logs of pods: the first error, and the bound on their size."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.rehearsal import RehearsalError, logs
from ptcompile.rehearsal.logs import PodLog, open_logs


def log(tmp_path: Path, text: str) -> PodLog:
    (made,) = open_logs(str(tmp_path), 1)
    Path(made.path).write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "[rank1]: Traceback (most recent call last):\n[rank1]: ValueError: nan\n",
            "ValueError: nan",
        ),
        (
            "[default0]:[rank1]: torch.cuda.OutOfMemoryError: CUDA\n",
            "torch.cuda.OutOfMemoryError: CUDA",
        ),
        ("  RuntimeError: a\nValueError: b\n", "RuntimeError: a"),
        (
            "torchrun: error: unrecognized arguments: --x\n",
            "torchrun: error: unrecognized arguments: --x",
        ),
        ("ValueError: without a line end", "ValueError: without a line end"),
        ("step 1 Error-free: yes\nINFO: no Error: here\n", None),
        ("x" * 3000 + " ValueError: far\n", None),
        ("", None),
    ],
)
def test_the_first_line_that_is_an_error_is_found(
    tmp_path: Path, text: str, error: str | None
) -> None:
    assert log(tmp_path, text).first_error() == error


def test_a_long_log_loses_its_middle_but_not_the_error_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "KEPT_BYTES", 100)
    monkeypatch.setattr(logs, "MAX_BYTES", 400)
    monkeypatch.setattr(logs, "_CHUNK_BYTES", 7)
    made = log(tmp_path, "first\n" + "x" * 200 + "\nValueError: in the middle\n" + "y" * 200)
    with Path(made.path).open("a") as pod:
        made.shorten()
        assert made.is_shortened
        pod.write("last")
    text = Path(made.path).read_text()
    assert (len(text), text[:5], text[-4:]) == (204, "first", "last")
    assert made.first_error() == "ValueError: in the middle"
    again = log(tmp_path, "short")
    again.shorten()
    assert not again.is_shortened


def test_errors_after_the_cut_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "KEPT_BYTES", 100)
    monkeypatch.setattr(logs, "MAX_BYTES", 400)
    made = log(tmp_path, "x\n" * 300)
    made.shorten()
    with Path(made.path).open("a") as pod:
        pod.write("\nKeyError: late\n")
    assert made.first_error() == "KeyError: late"


def test_logs_are_created_in_a_new_folder_and_never_through_links(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    open_logs(str(folder), 2)
    assert sorted(path.name for path in folder.iterdir()) == ["pod0.log", "pod1.log"]
    (folder / "pod0.log").unlink()
    (tmp_path / "mine").write_text("precious")
    (folder / "pod0.log").symlink_to(tmp_path / "mine")
    with pytest.raises(RehearsalError, match="no logs can be written to"):
        open_logs(str(folder), 1)
    assert (tmp_path / "mine").read_text() == "precious"


@pytest.mark.parametrize(("size", "left"), [(400, 400), (401, 200)])
def test_a_log_is_shortened_above_its_maximum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, left: int
) -> None:
    monkeypatch.setattr(logs, "KEPT_BYTES", 100)
    monkeypatch.setattr(logs, "MAX_BYTES", 400)
    made = log(tmp_path, "x" * size)
    made.shorten()
    assert Path(made.path).stat().st_size == left
    assert made.is_shortened is (left < size)


def test_a_line_that_is_being_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    made = log(tmp_path, "Value")
    made.search()
    with Path(made.path).open("a") as pod:
        pod.write("Error: nan\n")
    made.search()
    assert made.error == "ValueError: nan"


def test_the_output_of_a_pod_that_is_ended_is_no_error(tmp_path: Path) -> None:
    made = log(tmp_path, "step 1\n")
    made.end()
    with Path(made.path).open("a") as pod:
        pod.write("SignalException: Process 7 got signal: 15\n")
    assert made.first_error() is None
    made.begin()
    assert made.first_error() is None
    with Path(made.path).open("a") as pod:
        pod.write("KeyError: mine\n")
    assert (made.first_error(), made.error) == ("KeyError: mine", "KeyError: mine")
    made.begin()
    assert (made.first_error(), made.error) == ("KeyError: mine", None)
