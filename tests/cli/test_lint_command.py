"""`ptcompile lint` as people and CI call it: selection, configuration, reports, exit status, comments written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptcompile.about import SITE
from tests.cli.running import here, process

Capture = pytest.CaptureFixture[str]

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  restartPolicy: Never
  containers:
    - name: pytorch
      image: ghcr.io/acme/train:1.0
      command: [torchrun, --nproc-per-node, "8", train.py]
      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}
"""
REFUSED = POD.replace("  containers:", "  hostNetwrk: false\n  containers:")


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, without configuration above it, with one manifest that has one warning."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    (tmp_path / "ptcompile.toml").touch()
    (tmp_path / "pod.yaml").write_text(POD)
    return tmp_path / "pod.yaml"


def codes(capsys: Capture, *words: str | Path) -> list[str]:
    ran = here(capsys, "lint", *words, "--output-format", "concise")
    return [line.split()[2] for line in ran.out.splitlines()]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), ["PTC302"]),
        (("--select", "PTC3"), ["PTC302"]),
        (("--select", "PTC4"), []),
        (("--select", "PTC4", "--extend-select", "missing-shm"), ["PTC302"]),
        (("--select", "PTC4,PTC302"), ["PTC302"]),
        (("--ignore", "PTC302"), []),
        (("--ignore", "PTC501", "--ignore", "missing-shm"), []),
    ],
)
def test_selection(words: tuple[str, ...], found: list[str], pod: Path, capsys: Capture) -> None:
    assert codes(capsys, pod, *words) == found


def test_what_is_refused_is_told_whatever_is_selected(pod: Path, capsys: Capture) -> None:
    pod.write_text(REFUSED)
    assert codes(capsys, pod, "--select", "PTC4") == ["PTC501"]
    assert codes(capsys, pod, "--select", "PTC4", "--ignore", "PTC501") == []


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ('ignore = ["PTC3"]', (), []),
        ('ignore = ["PTC3"]', ("--isolated",), ["PTC302"]),
        ('ignore = ["PTC3"]', ("--config", "other.toml"), ["PTC302"]),
        ('select = ["PTC4"]', (), []),
        ('select = ["PTC4"]\nextend-select = ["PTC302"]', (), ["PTC302"]),
        ('select = ["PTC4"]', ("--extend-select", "PTC302"), ["PTC302"]),
        ('select = ["PTC4"]', ("--select", "PTC302"), ["PTC302"]),
        ('per-file-ignores = {"*.yaml" = ["PTC302"]}', (), []),
        ('per-file-ignores = {"pod.yaml" = ["missing-shm"]}', (), []),
        ('per-file-ignores = {"charts/*" = ["PTC302"]}', (), ["PTC302"]),
    ],
)
def test_configuration(text: str, words: tuple[str, ...], found: list[str], pod: Path, capsys: Capture) -> None:
    (pod.parent / "ptcompile.toml").write_text(text)
    (pod.parent / "other.toml").touch()
    assert codes(capsys, pod, *words) == found


def test_the_nearest_file_counts(pod: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (pod.parent / ".git").mkdir()
    inner = pod.parent / "inner"
    inner.mkdir()
    (pod.parent / "ptcompile.toml").write_text('ignore = ["PTC302"]')
    monkeypatch.chdir(inner)
    assert codes(capsys, pod) == []
    (inner / "pyproject.toml").write_text('[project]\nname = "x"\n')
    assert codes(capsys, pod) == [], "a pyproject.toml without our table is not ours"
    (inner / "pyproject.toml").write_text("[tool.ptcompile]\n")
    assert codes(capsys, pod) == ["PTC302"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('selct = ["PTC3"]', "did you mean select"),
        ('ignore = ["PTC999"]', "no rule 'PTC999'"),
        ('ignore = "PTC3"', "a list"),
        ("ignore = [", "ptcompile.toml"),
        ('fail-on = "never"', '"error" or "warning"'),
        ("per-file-ignores = []", "a table"),
        ('kubernetes-version = "latest"', "latest"),
    ],
)
def test_a_wrong_configuration_is_told(text: str, told: str, pod: Path, capsys: Capture) -> None:
    (pod.parent / "ptcompile.toml").write_text(text)
    ran = here(capsys, "lint", pod)
    assert (ran.status, ran.out) == (2, "")
    assert told in ran.err


def test_all_mistakes_of_a_configuration_at_once(pod: Path, capsys: Capture) -> None:
    (pod.parent / "ptcompile.toml").write_text('selct = []\nignore = "x"\n')
    ran = here(capsys, "lint", pod)
    assert "selct" in ran.err
    assert "ignore" in ran.err


@pytest.mark.parametrize(
    ("text", "words", "status"),
    [
        (POD, (), 0),
        (POD, ("--fail-on", "warning"), 1),
        (POD, ("--fail-on", "warning", "--ignore", "PTC302"), 0),
        (REFUSED, (), 1),
        (REFUSED, ("--exit-zero",), 0),
        (REFUSED, ("--output-format", "sarif"), 1),
    ],
)
def test_exit_status(text: str, words: tuple[str, ...], status: int, pod: Path, capsys: Capture) -> None:
    pod.write_text(text)
    assert here(capsys, "lint", pod, *words).status == status


def test_output_file_and_statistics(pod: Path, capsys: Capture) -> None:
    ran = here(capsys, "lint", pod, "--output-file", "out.json", "--output-format", "json")
    assert ran.out == ""
    assert [d["code"] for d in json.loads(Path("out.json").read_text())["diagnostics"]] == ["PTC302"]
    assert here(capsys, "lint", pod, "--statistics").out == "1  PTC302 missing-shm [fixable]\n"


def test_colour_is_for_terminals_and_for_those_who_ask(pod: Path) -> None:
    plain = process("lint", pod, cwd=pod.parent, env={"FORCE_COLOR": "", "NO_COLOR": ""})
    painted = process("lint", pod, cwd=pod.parent, env={"FORCE_COLOR": "1", "NO_COLOR": ""})
    neither = process("lint", pod, cwd=pod.parent, env={"FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert "\x1b" not in plain.out
    assert neither.out == plain.out
    assert painted.out.replace("\x1b[0m", "").count("\x1b[") == 5
    assert painted.out != plain.out


def test_add_ignore(pod: Path, capsys: Capture) -> None:
    pod.write_text(REFUSED.replace("\n", "\r\n"))
    before = pod.read_bytes()
    ran = here(capsys, "lint", pod, "--add-ignore")
    assert (ran.status, ran.out) == (0, "")
    after = pod.read_bytes()
    assert codes(capsys, pod) == []
    assert after.replace(b"  # ptcompile: ignore[PTC501]", b"").replace(b"  # ptcompile: ignore[PTC302]", b"") == before


def test_add_ignore_goes_above_a_value_of_several_lines(pod: Path, capsys: Capture) -> None:
    pod.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a b: |\n    # text\n    more\n")
    assert here(capsys, "lint", pod, "--add-ignore").status == 0
    assert codes(capsys, pod) == []


def test_add_ignore_says_what_it_cannot_say(pod: Path, capsys: Capture) -> None:
    (pod.parent / "x.json").write_text('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spce": {}}')
    before = (pod.parent / "x.json").read_text()
    ran = here(capsys, "lint", "x.json", "--add-ignore")
    assert ran.status == 1
    assert "no comment can ignore" in ran.err
    assert (pod.parent / "x.json").read_text() == before


def test_the_template_of_a_rendered_document_is_named() -> None:
    rendered = f"---\n# Source: chart/templates/a.yaml\n{POD}---\n# Source: chart/templates/pod.yaml\n{REFUSED}"
    ran = process("lint", "-", "--isolated", stdin=rendered.encode())
    assert "<stdin>:7:7 (chart/templates/a.yaml)" in ran.out.replace("<stdin>:9:7", "<stdin>:7:7")
    assert "(chart/templates/pod.yaml)" in ran.out


def test_the_summary_counts_what_a_configuration_ignores(
    pod: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in a folder above could make errors disappear without a word."""
    monkeypatch.chdir(pod.parent)
    pod.write_text(f"{POD}---\n{REFUSED}")
    before = here(capsys, "lint", pod).err
    (pod.parent / "ptcompile.toml").write_text('ignore = ["PTC302", "unknown-field", "PTC5"]\n')
    ran = here(capsys, "lint", pod)
    assert (ran.status, "2 errors, 2 warnings" in before) == (0, True), before
    assert "0 errors, 0 warnings, 4 ignored\n" in ran.err
    assert "ignored" not in here(capsys, "lint", pod, "--isolated", "--select", "PTC9").err, "it was not looked for"


def test_the_summary_counts(pod: Path, capsys: Capture) -> None:
    pod.write_text(POD.replace("name: pytorch", "name: pytorch  # ptcompile: ignore[PTC302]") + "---\n" + REFUSED)
    ran = here(capsys, "lint", pod)
    assert ran.err == (
        "ptcompile: 1 file, 2 documents, 2 errors, 1 warning, 2 fixable with --unsafe-fixes, 1 ignored\n"
        f"ptcompile: for more, run 'ptcompile explain CODE' or see {SITE}codes/\n"
    )
