"""Bad input: one clear message, exit 1 or 2, no traceback, fast."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import ROOT, here, spec
from tests.making import smallest, text

Capture = pytest.CaptureFixture[str]
ALIASES = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60)
)

FILES: dict[str, tuple[bytes, str]] = {
    # content, and what must be said
    "unknown key": (smallest("nods: 4").encode(), "did you mean nodes?"),
    "wrong type": (smallest("nodes: four").encode(), "spec.nodes: 'four' is not a whole number"),
    "duplicate key": (smallest("image: other").encode(), "duplicate-key"),
    "tab": (b"apiVersion: ptcompile/v1\nkind: TrainingJob\nspec:\n\timage: x\n", "tab"),
    "bad UTF-8": (b"apiVersion: ptcompile/v1\nkind: \xff\xfe\n", "bad-encoding"),
    "NUL": (b"apiVersion: ptcompile/v1\x00\n", "error["),
    "no document of ours": (
        b"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n",
        "v1/Pod is not a TrainingJob",
    ),
    "no kind": (
        b"image: x\nscript: y\n",
        "start it with apiVersion: ptcompile/v1 and kind: TrainingJob",
    ),
    "a profile": (
        b"apiVersion: ptcompile/v1\nkind: ClusterProfile\n",
        "pass it with --cluster FILE",
    ),
    "a word": (b"hello\n", "not-a-mapping"),
    "unclosed bracket": (b"apiVersion: [ptcompile/v1\nkind: TrainingJob\n", "yaml-syntax"),
    "unclosed quote": (b'apiVersion: "ptcompile/v1\nkind: TrainingJob\n', "yaml-syntax"),
    "bad indentation": (b"kind: TrainingJob\n  apiVersion: x\n", "yaml-syntax"),
    "alias bomb": (ALIASES.encode(), "too-many-aliases"),
    "alias of nothing": (b"kind: *nowhere\n", "error["),
    "10 MB scalar": (smallest().replace("img:1", "x" * 10_000_000).encode(), "error["),
    "10 MB key": (smallest().encode() + b"  " + b"k" * 10_000_000 + b": 1\n", "error["),
    "1,000 levels, flow": (
        b"kind: TrainingJob\nspec: " + b"[" * 1000 + b"]" * 1000 + b"\n",
        "too-deep",
    ),
    "100,000 levels, flow": (b"spec: " + b"{a: " * 100_000 + b"}" * 100_000 + b"\n", "error["),
    "1,000 levels, block": (b"".join(b" " * i + b"a:\n" for i in range(1000)), "too-deep"),
    "python tag": (b"kind: !!python/object/apply:os.system [ls]\n", "error["),
    "Helm template": (b"kind: TrainingJob\nmetadata: {{ .Values.x }}\n", "error["),
    "NaN": (smallest("nodes: .nan").encode(), "error["),
    "terminal escapes": (smallest('target: "\\e[31mred"').encode(), "error["),
}


@pytest.mark.parametrize("command", ["compile", "lint"])
@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_is_a_finding(name: str, command: str, tmp_path: Path, capsys: Capture) -> None:
    content, wanted = FILES[name]
    (tmp_path / "bad.yaml").write_bytes(content)
    start = time.process_time()
    ran = here(capsys, command, tmp_path / "bad.yaml")
    assert time.process_time() - start < 5, "fast: what it takes on a slow machine, and no more"
    output = ran.err if command == "compile" else ran.out
    if command == "compile":
        assert ran.out == ""
    elif name in {"no document of ours", "no kind", "a profile", "python tag", "Helm template"}:
        return  # to lint they are fine, or not ours to judge
    assert ran.status == 1, ran
    assert wanted in output
    assert "\x1b" not in ran.err + ran.out, "a file cannot steer a terminal"
    assert len(output) < 5000, "one clear message"
    assert output.count("error[") == 1


def test_a_finding_points_at_its_line(tmp_path: Path, capsys: Capture) -> None:
    path = spec(tmp_path, body="nods: 4")
    err = here(capsys, path).err
    assert f"--> {path}:7:3\n" in err
    assert "7 |   nods: 4\n  |   ^^^^\n" in err


def test_several_mistakes_are_reported_together_and_counted(
    tmp_path: Path, capsys: Capture
) -> None:
    ran = here(capsys, spec(tmp_path, body="nods: 4\nrestartPolicy: always\nenv: {A: 1}"))
    assert ran.err.count("error[") == 3
    assert "3 errors" in ran.err


PLACES = ["missing.yaml", "folder/missing.yaml", "x" * 300 + ".yaml"]


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("command", ["compile", "lint"])
def test_a_missing_file_is_named(name: str, command: str, tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, command, tmp_path / name)
    assert (ran.status, ran.out) == (2, "") or (command == "lint" and ran.status == 2)
    assert str(tmp_path / name) in ran.err


def test_a_missing_file_does_not_hide_the_findings_of_others(
    tmp_path: Path, capsys: Capture
) -> None:
    ran = here(capsys, tmp_path / "missing.yaml", spec(tmp_path, body="nods: 4"))
    assert ran.status == 2
    assert "missing.yaml" in ran.err
    assert "spec.nods" in ran.err


def test_an_unreadable_file_is_a_usage_error(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spec(tmp_path)
    path.chmod(0)
    if os.access(path, os.R_OK):  # as root
        monkeypatch.setattr(os, "open", _refuse)
    ran = here(capsys, path)
    assert (ran.status, ran.out) == (2, "")
    assert "permission denied" in ran.err


def _refuse(path: str, *_: object) -> int:
    raise PermissionError(errno.EACCES, "Permission denied", path)


@pytest.mark.parametrize(
    "make", [lambda path: os.mkfifo(path), lambda path: path.symlink_to("/dev/zero")]
)
def test_pipes_and_devices_are_not_waited_for(
    make: object, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "odd.yaml"
    make(path)  # type: ignore[operator]
    for words in ((path,), ("lint", path), ("--cluster", path, spec(tmp_path))):
        ran = here(capsys, *words)
        assert ran.status == 2
        assert "not a regular file" in ran.err


def test_a_directory_without_a_spec_is_not_a_success(tmp_path: Path, capsys: Capture) -> None:
    """CONTRIBUTING.md#house-rules: nothing is skipped silently."""
    ran = here(capsys, tmp_path)
    assert ran.status in {1, 2}
    assert str(tmp_path) in ran.err


def test_a_directory_without_specs_is_reported(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", encoding="utf-8"
    )
    ran = here(capsys, tmp_path)
    assert ran.status in {1, 2}
    assert "pod.yaml" in ran.err


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("", 2),
        ("[]", 1),
        ("kind: ClusterProfile\nspec: {gpus: {}}\n", 1),
        ("kind: A\n---\nkind: B\n", 2),
        ("a: [", 1),
        ("kind: Pod\n", 1),
    ],
)
def test_a_bad_profile_is_named(content: str, status: int, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "cluster.yaml").write_text(content, encoding="utf-8")
    ran = here(capsys, "--cluster", tmp_path / "cluster.yaml", spec(tmp_path))
    assert ran.status == status
    assert ran.out == ""
    assert "cluster.yaml" in ran.err


def test_a_missing_profile_is_named(tmp_path: Path, capsys: Capture) -> None:
    ran = here(capsys, "--cluster", tmp_path / "none.yaml", spec(tmp_path))
    assert (ran.status, ran.out) == (2, "")
    assert "none.yaml" in ran.err


@pytest.mark.parametrize("command", ["compile", "lint", "simulate"])
def test_a_file_s_name_cannot_steer_a_terminal(
    command: str, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "\x1b[31mred\r.yaml").symlink_to("nowhere")
    spec(tmp_path)
    ran = here(capsys, command, tmp_path)
    assert ran.status == 2
    assert "\\x1b[31mred\\r.yaml: no such file or directory" in ran.err
    assert not {"\x1b", "\r"} & set(ran.err + ran.out)


@pytest.mark.parametrize("kind", ["fifo", "itself"])
def test_special_files_of_a_directory_are_reported_without_waiting(
    kind: str, tmp_path: Path, capsys: Capture
) -> None:
    odd = tmp_path / "odd.yaml"
    os.mkfifo(odd) if kind == "fifo" else odd.symlink_to(odd)
    spec(tmp_path)
    ran = here(capsys, "lint", tmp_path)
    assert ran.status == 2
    assert f"{odd}: " in ran.err
    assert "1 file, 1 document" in ran.err, "the others are looked at"


def test_a_file_that_shrinks_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The part that could be read is linted, without a crash and without waiting for the rest."""
    path = spec(tmp_path)
    true_fstat = os.fstat

    def shrinking(number: int) -> os.stat_result:
        seen = true_fstat(number)
        if seen.st_ino == path.stat().st_ino:
            path.write_text("", encoding="utf-8")
        return seen

    monkeypatch.setattr(os, "fstat", shrinking)
    ran = here(capsys, "lint", path)
    assert ran.status == 2
    assert "no-documents" in ran.out, "what is left of the file is nothing to look at"


def test_a_closed_standard_output_is_reported_without_a_traceback(tmp_path: Path) -> None:
    status, err = shell(f"exec {{python}} -m ptcompile {spec(tmp_path)} >&-")
    assert status == 2
    assert "Traceback" not in err
    assert "standard output" in err


def test_standard_output_is_closed_early(tmp_path: Path) -> None:
    status, err = shell(f"{{python}} -m ptcompile {spec(tmp_path)} | true; exit ${{PIPESTATUS[0]}}")
    assert status == 2
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    status, err = shell(f"{{python}} -m ptcompile {spec(tmp_path)} >/dev/full")
    assert status == 2
    assert "no space left" in err


def test_a_closed_standard_input_causes_no_traceback(tmp_path: Path) -> None:
    status, err = shell("{python} -m ptcompile - <&-")
    assert status in {1, 2}
    assert "Traceback" not in err


def test_a_closed_standard_error_keeps_the_exit_status(tmp_path: Path) -> None:
    status, _ = shell(f"{{python}} -m ptcompile {spec(tmp_path, body='nods: 1')} 2>&-")
    assert status == 1


def test_standard_input_that_comes_late_is_read(tmp_path: Path) -> None:
    path = spec(tmp_path)
    for name in ("-", "/dev/stdin"):
        status, err = shell(f"(sleep 0.3; cat {path}) | {{python}} -m ptcompile {name} >/dev/null")
        assert (status, err) == (0, "")


def shell(line: str) -> tuple[int, str]:
    """Run a line of bash, in which `{python}` is this interpreter. Return its status and standard error."""
    words = ["bash", "-c", line.replace("{python}", sys.executable)]
    done = subprocess.run(words, capture_output=True, cwd=ROOT, timeout=60, check=False, text=True)
    return done.returncode, done.stderr


def test_a_bad_document_of_a_stream_is_reported_with_its_line(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "many.yaml"
    path.write_text(
        "---\n".join([smallest(name="a"), smallest("nods: 1", name="b"), text("image: i", "c")]),
        "utf-8",
    )
    ran = here(capsys, path)
    assert (ran.status, ran.out) == (1, "")
    assert f"{path}:14:3" in ran.err
