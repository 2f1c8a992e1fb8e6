"""`ptcompile diff`: sides, formats and exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import here, process, spec

Capture = pytest.CaptureFixture[str]
PROFILE = "kind: ClusterProfile\nspec: {gpu: {resourceName: amd.com/gpu}}\n"


def _two(folder: Path) -> tuple[Path, Path]:
    return spec(folder, "a.yaml", "nodes: 2"), spec(folder, "b.yaml", "nodes: 3")


def test_equal_files_exit_with_0(tmp_path: Path, capsys: Capture) -> None:
    a, _ = _two(tmp_path)
    ran = here(capsys, "diff", a, a)
    assert (ran.status, ran.out, ran.err) == (0, "no difference\n", "")


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_a_difference_is_status_1_in_every_form(form: str, tmp_path: Path, capsys: Capture) -> None:
    a, b = _two(tmp_path)
    ran = here(capsys, "diff", a, b, "--format", form)
    assert ran.status == 1
    assert "spec.template: Invalid value: field is immutable" in ran.err
    assert str(a) in (ran.out if form != "markdown" else ran.out.replace("&#95;", "_"))
    if form == "json":
        assert json.loads(ran.out)["differs"] is True


def test_a_spec_equals_its_manifest(tmp_path: Path, capsys: Capture) -> None:
    a, b = _two(tmp_path)
    manifests = tmp_path / "m.yaml"
    assert here(capsys, a, "--target", "volcano", "-o", manifests).status == 0
    assert here(capsys, "diff", manifests, a).status == 0
    assert here(capsys, "diff", manifests, b).status == 1
    assert "PyTorchJob/train" in here(capsys, "diff", manifests, a, "--target", "pytorchjob").out


def test_one_spec_differs_under_two_profiles(tmp_path: Path, capsys: Capture) -> None:
    old = spec(tmp_path, body="resources: {gpu: 1}")
    profile = tmp_path / "amd.yaml"
    profile.write_text(PROFILE, encoding="utf-8")
    ran = here(capsys, "diff", old, "--to-cluster", profile)
    assert ran.status == 1
    assert ran.out.startswith(f"{old} (no profile) -> {old} ({profile})\n")
    assert "amd.com/gpu in all" in ran.out
    assert here(capsys, "diff", old, old, "--cluster", profile).status == 0
    assert here(capsys, "diff", old, "--cluster", profile, "--from-cluster", profile).status == 0


def test_a_side_is_read_from_standard_input(tmp_path: Path) -> None:
    a, b = _two(tmp_path)
    assert process("diff", "-", a, stdin=a.read_bytes()).status == 0
    ran = process("diff", "-", a, stdin=b.read_bytes())
    assert (ran.status, ran.out.splitlines()[0]) == (1, f"<stdin> -> {a}")


def test_a_spec_that_does_not_compile_is_reported_once(tmp_path: Path, capsys: Capture) -> None:
    bad = spec(tmp_path, "bad.yaml", "nods: 2")
    for words in ((bad, bad), (bad, spec(tmp_path)), (spec(tmp_path), bad)):
        ran = here(capsys, "diff", *words)
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.count("spec.nods: unknown field") == 1
        assert "bad.yaml:7:3" in ran.err


def test_a_wrong_profile_is_reported_once(tmp_path: Path, capsys: Capture) -> None:
    profile = tmp_path / "p.yaml"
    profile.write_text("kind: ClusterProfile\nspec: {gpus: 1}\n", encoding="utf-8")
    old = spec(tmp_path)
    ran = here(capsys, "diff", old, old, "--cluster", profile)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.count("unknown field") == 1


def test_a_warning_does_not_fail_it(tmp_path: Path, capsys: Capture) -> None:
    idle = "resources: {gpu: 8}\nelastic: {nprocPerNode: 1}"
    ran = here(capsys, "diff", spec(tmp_path, body=idle), spec(tmp_path, "b.yaml", idle))
    assert (ran.status, ran.out) == (0, "no difference\n")
    assert "warning" in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("SPEC",), "--from-cluster"),
        ((), "A"),
        (("SPEC", "none.yaml"), "none.yaml"),
        (("SPEC", "SPEC", "--target", "x"), "no target 'x'"),
    ],
    ids=str,
)
def test_wrong_usage_exits_with_2(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: Capture
) -> None:
    ran = here(capsys, "diff", *[str(spec(tmp_path)) if word == "SPEC" else word for word in words])
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err


def test_two_specs_are_compared_without_deepdiff(tmp_path: Path) -> None:
    code = (
        "import sys, ptcompile as p; found = p.diff(sys.argv[1], sys.argv[1].replace('train.py', 'other.py'));"
        "sys.exit('deepdiff' in sys.modules or not found.objects)"
    )
    text = spec(tmp_path).read_text(encoding="utf-8")
    assert "train.py" in text
    assert subprocess.run([sys.executable, "-c", code, text], check=False).returncode == 0


def test_only_diff_imports_deepdiff(tmp_path: Path) -> None:
    code = "import sys, ptcompile as p; p.compile(sys.argv[1]); p.lint('{}'); sys.exit('deepdiff' in sys.modules)"
    text = spec(tmp_path).read_text(encoding="utf-8")
    assert subprocess.run([sys.executable, "-c", code, text], check=False).returncode == 0


def test_a_live_object_replaces_the_first_side(tmp_path: Path, capsys: Capture) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    }
    live, new = tmp_path / "live.yaml", tmp_path / "new.yaml"
    server = {"uid": "u", "resourceVersion": "7", "managedFields": [{"manager": "kubectl"}]}
    live.write_text(
        json.dumps({**pod, "metadata": {"name": "a", **server}, "status": {"phase": "Running"}}),
        encoding="utf-8",
    )
    new.write_text(json.dumps(pod), encoding="utf-8")
    assert here(capsys, "diff", "--live", live, new).out == "no difference\n"
    new.write_text(json.dumps(pod).replace("i:1", "i:2"), encoding="utf-8")
    ran = here(capsys, "diff", "--live", live, new)
    assert (ran.status, ran.err) == (1, "")
    assert "  apply: restarts pods: a container whose image changes is restarted\n" in ran.out
    assert here(capsys, "diff", "--live", live, new, new).status == 2
