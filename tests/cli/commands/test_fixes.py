"""`ptcompile lint --fix`, `--unsafe-fixes` and `--diff`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import here, process

Capture = pytest.CaptureFixture[str]

BAD = """\
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  restrtPolicy: Never   # not safe
  containers:
    - name: main
      image: img:1.0
      ImagePullPolicy: Always   # safe
      resources: {limits: {cpu: 8, memory: 64 Gi}}
"""
SAFE = BAD.replace("ImagePullPolicy", "imagePullPolicy").replace("64 Gi", "64Gi")
ALL = SAFE.replace("restrtPolicy", "restartPolicy")


@pytest.fixture
def bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ptcompile.toml").touch()
    (tmp_path / "bad.yaml").write_bytes(BAD.encode())
    return Path("bad.yaml")


def test_fix_applies_safe_fixes_and_reports_the_rest(bad: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", bad, "--fix", "--output-format", "json")
    assert ran.status == 1
    assert bad.read_text() == SAFE
    assert [(d["code"], d["fix"]["safe"]) for d in json.loads(ran.out)["diagnostics"]] == [
        ("PTC501", False)
    ]
    assert ran.err.endswith("1 error, 0 warnings, 2 fixed, 1 fixable with --unsafe-fixes\n")


def test_unsafe_fixes_are_applied_on_request(bad: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", bad, "--fix", "--unsafe-fixes")
    assert (ran.status, ran.out) == (0, "")
    assert bad.read_text() == ALL
    assert ran.err == "ptcompile: 1 file, 1 document, 0 errors, 0 warnings, 3 fixed\n"
    again = here(capsys, "lint", bad, "--fix", "--unsafe-fixes")
    assert (again.status, again.err) == (0, ran.err.replace("3 fixed", "0 fixed"))


def test_clean_files_are_not_written(bad: Path, capsys: Capture) -> None:
    bad.write_text(ALL)
    bad.chmod(0o444)
    before = bad.stat()
    assert here(capsys, "lint", bad, "--fix").status == 0
    assert bad.stat().st_mtime_ns == before.st_mtime_ns
    assert bad.stat().st_ino == before.st_ino


def test_without_fix_the_report_offers_it_and_nothing_is_written(
    bad: Path, capsys: Capture
) -> None:
    ran = here(capsys, "lint", bad)
    assert bad.read_text() == BAD
    assert "  = fix: write imagePullPolicy (--fix)\n" in ran.out
    assert "  = fix: write restartPolicy (--fix --unsafe-fixes)\n" in ran.out
    assert "2 fixable, 1 fixable with --unsafe-fixes" in ran.err


def test_diff_is_a_patch_and_writes_nothing(bad: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", bad, "--diff")
    assert ran.status == 1
    assert bad.read_text() == BAD
    assert ran.err == "ptcompile: 2 fixable in 1 of 1 files, 1 more with --unsafe-fixes\n"
    changed = [line for line in ran.out.splitlines() if line[:1] in "+-"]
    assert changed == [
        "--- bad.yaml",
        "+++ bad.yaml",
        "-      ImagePullPolicy: Always   # safe",
        "-      resources: {limits: {cpu: 8, memory: 64 Gi}}",
        "+      imagePullPolicy: Always   # safe",
        "+      resources: {limits: {cpu: 8, memory: 64Gi}}",
    ]
    bad.write_text(ALL)
    assert here(capsys, "lint", bad, "--diff")[:2] == (0, "")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_patch_takes_the_diff(bad: Path, capsys: Capture, end: str) -> None:
    text = BAD.replace("\n", end or "\n").removesuffix(end or "\n") + end
    bad.write_bytes(text.encode())
    diff = here(capsys, "lint", bad, "--diff", "--unsafe-fixes").out
    subprocess.run(
        ["git", "apply", "-p0", "-"], input=diff.encode(), check=True, capture_output=True
    )
    assert (
        bad.read_bytes()
        == ALL.replace("\n", end or "\n").removesuffix(end or "\n").encode() + end.encode()
    )


def test_standard_input_is_fixed_on_standard_output(bad: Path) -> None:
    content = b"\xef\xbb\xbf" + BAD.replace("\n", "\r\n").encode()
    ran = process("lint", "-", "--fix", stdin=content, cwd=bad.parent.absolute())
    assert ran.out.encode() == content.replace(b"ImagePull", b"imagePull").replace(
        b"64 Gi", b"64Gi"
    )
    assert ran.status == 1
    assert "error[PTC501 unknown-field]" in ran.err
    clean = process("lint", "-", "--fix", stdin=ALL.encode(), cwd=bad.parent.absolute())
    assert (clean.status, clean.out) == (0, ALL)


def test_an_unreadable_file_does_not_prevent_fixes_of_others(bad: Path, capsys: Capture) -> None:
    assert here(capsys, "lint", bad, "none.yaml", "--fix").status == 2
    assert bad.read_text() == SAFE
    bad.write_text(BAD)
    assert here(capsys, "lint", bad, "none.yaml", "--diff").status == 2
    Path("broken.yaml").write_text("a: [\n")
    assert here(capsys, "lint", bad, "broken.yaml", "--fix").status == 1
    assert bad.read_text() == SAFE
    assert Path("broken.yaml").read_text() == "a: [\n"


def test_a_suppressed_finding_is_not_fixed(bad: Path, capsys: Capture) -> None:
    text = BAD.replace("   # safe", "   # ptcompile: ignore[PTC501] ours")
    bad.write_text(text)
    here(capsys, "lint", bad, "--fix")
    assert bad.read_text() == text.replace("64 Gi", "64Gi")


def test_unselected_findings_are_not_fixed(bad: Path, capsys: Capture) -> None:
    here(capsys, "lint", bad, "--fix", "--ignore", "PTC501")
    assert bad.read_text() == BAD.replace("64 Gi", "64Gi")


def test_a_finding_that_cannot_be_fixed_is_reported(bad: Path, capsys: Capture) -> None:
    bad.write_text(BAD.replace("memory: 64 Gi", "memory: &m 64 Gi, cpu2: *m"))
    ran = here(capsys, "lint", bad, "--fix")
    assert "ptcompile: bad.yaml:10:" in ran.err
    assert "PTC503 is not fixed (write 64Gi): an alias shares the value\n" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("--unsafe-fixes",),
        ("--fix", "--diff"),
        ("--fix", "--add-ignore"),
        ("--diff", "--add-ignore"),
    ],
)
def test_options_that_cannot_be_combined_change_nothing(
    bad: Path, capsys: Capture, words: tuple[str, ...]
) -> None:
    ran = here(capsys, "lint", bad, *words)
    assert (ran.status, ran.out) == (2, "")
    assert bad.read_text() == BAD


def test_a_chart_is_counted_but_not_linted(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ptcompile.toml").touch()
    (tmp_path / "templates").mkdir()
    chart = {
        "Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n",
        "values.yaml": "kind: Job\nimage: a\n",
        "templates/plain.yaml": BAD,
        "templates/quoted.yaml": BAD.replace("name: train", 'name: "{{ .Release.Name }}-x"'),
        "templates/if.yaml": f"{{{{- if .Values.on }}}}\n{BAD}{{{{- end }}}}\n",
    }
    for name, text in chart.items():
        (tmp_path / name).write_text(text)
    for words in ([], ["--fix", "--unsafe-fixes"], ["--diff", "--unsafe-fixes"], ["--add-ignore"]):
        ran = here(capsys, "lint", ".", *words)
        assert ran.status == 0, (words, ran)
        assert {name: (tmp_path / name).read_text() for name in chart} == chart
    ran = here(capsys, "lint", ".", "--no-cache")
    assert ran.err.startswith("ptcompile: nothing was checked: 5 files, ")
    counts = "4 notes, 3 templates, not checked: 2 (a Helm chart, the values of a Helm chart)"
    assert counts in ran.err
