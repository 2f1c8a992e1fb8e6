"""`ptcompile explain --log`, and the pages of messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import here, process, spec
from tests.diagnosis.test_cases import CASES

Capture = pytest.CaptureFixture[str]
CASE = next(case for case in CASES if case["id"] == "real-nnodes-above-pods-static")


def written(folder: Path) -> tuple[list[Path], Path]:
    """Write the logs and the manifest of the case."""
    for name, text in {**CASE["files"], "job.yaml": CASE["manifest"]}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in CASE["files"]], folder / "job.yaml"


def test_the_manifest_may_come_before_or_after_the_logs(tmp_path: Path, capsys: Capture) -> None:
    logs, manifest = written(tmp_path)
    ran = here(capsys, "explain", manifest, "--log", *logs)
    assert (ran.status, ran.err) == (0, "")
    assert "store-clients-joined" in ran.out
    assert f"PTC406 at {manifest}:22" in ran.out
    assert here(capsys, "explain", "--log", *logs, manifest).out == ran.out
    assert here(capsys, "explain", manifest, "--log", logs[0], "--log", logs[1]).out == ran.out


def test_a_log_is_read_from_standard_input(tmp_path: Path) -> None:
    logs, manifest = written(tmp_path)
    ran = process("explain", "--log", "-", manifest, stdin=logs[0].read_bytes())
    assert ran.status == 0
    assert "<stdin>:40" in ran.out
    assert "PTC406" in ran.out


def test_without_a_manifest_no_cause_is_proven(tmp_path: Path, capsys: Capture) -> None:
    logs, _ = written(tmp_path)
    shown = json.loads(here(capsys, "explain", "--log", *logs, "--format", "json").out)
    assert shown["first"]["message"] == "store-clients-joined"
    assert {cause["proven"] for cause in shown["causes"]} == {False}


def test_a_spec_explains_a_log(tmp_path: Path, capsys: Capture) -> None:
    log = tmp_path / "a.log"
    log.write_text("status: OOMKilled\n", encoding="utf-8")
    path = spec(tmp_path, body="resources: {memory: 32Gi}")
    ran = here(capsys, "explain", path, "--log", log)
    assert ran.status == 0
    assert ran.out.startswith("oomkilled (")


def test_a_log_without_a_known_message_shows_the_nearest(tmp_path: Path, capsys: Capture) -> None:
    log = tmp_path / "a.log"
    log.write_text("step 1\nstep 2, all GPUs are busy\n", encoding="utf-8")
    ran = here(capsys, "explain", "--log", log)
    assert ran.status == 1
    assert ran.out.startswith("no known message of a failure\n  looked at    2 lines of ")
    assert "  nearest  " in ran.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--log", "/nowhere.log"), "/nowhere.log: no such file or directory"),
        (("/nowhere.yaml", "--log", "LOG"), "/nowhere.yaml: no such file or directory"),
        (("LOG", "spec.nodes", "--log", "LOG"), "remove PATH and --html"),
        (("--log",), "expected at least one argument"),
    ],
)
def test_wrong_words_are_usage_errors(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: Capture
) -> None:
    log = tmp_path / "a.log"
    log.write_text("x\n", encoding="utf-8")
    ran = here(capsys, "explain", *(str(log) if word == "LOG" else word for word in words))
    assert ran.status == 2
    assert message in ran.err


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("client-timeout", "client-timeout"),
        ("RendezvousConnectionError", "rdzv-connection"),
        (
            "[rank1]: FileNotFoundError: [Errno 2] No such file or directory: '/data/x'",
            "py-file-missing",
        ),
        ("0/4 nodes are available: 4 Insufficient nvidia.com/gpu.", "sched-insufficient"),
    ],
)
def test_a_word_or_a_line_prints_the_page_of_its_message(
    word: str, page: str, capsys: Capture
) -> None:
    ran = here(capsys, "explain", word)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(f"{page}  (")


def test_a_text_without_a_known_message_prints_the_nearest(capsys: Capture) -> None:
    ran = here(capsys, "explain", "the GPUs are on strike")
    assert ran.status == 1
    assert "nearest" in ran.out
    assert (
        json.loads(here(capsys, "explain", "the GPUs are on strike", "--format", "json").out)[
            "first"
        ]
        is None
    )


def test_a_file_goes_before_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "client-timeout").write_text("kind: TrainingJob\n", encoding="utf-8")
    assert not here(capsys, "explain", "client-timeout").out.startswith("client-timeout  (")
