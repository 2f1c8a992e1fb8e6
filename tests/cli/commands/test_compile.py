"""`ptcompile compile` over many files: the same output from one process and from several.

`ptcompile compile --check`: whether the committed manifests match their specs.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import ptcompile
from ptcompile.cli import processes
from tests.cli.running import ROOT, Ran, here, process, spec
from tests.making import smallest


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """Return a folder with the specs of golden/, one with a secret, and files that are not specs."""
    for path in sorted((ROOT / "golden").glob("*/spec.yaml"))[::16]:
        shutil.copy(path, tmp_path / f"{path.parent.name}.yaml")
    (tmp_path / "bad.yaml").write_text("a: [")
    (tmp_path / "other.yaml").write_text("kind: Pod\napiVersion: v1\n")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("--target", "all", "--format", "json", "--no-lint"),
        ("--set", "spec.nodes=3", "--set-string", "metadata.labels.a=b", "--target", "job"),
        ("--cluster", str(ROOT / "golden" / "spot-a100" / "cluster.yaml")),
    ],
)
def test_several_processes_print_the_same_bytes(golden: Path, words: tuple[str, ...]) -> None:
    alone = process(".", *words, "--jobs", "1", cwd=golden)
    assert process(".", *words, "--jobs", "3", cwd=golden) == alone
    assert alone.status == 1
    assert "bad.yaml" in alone.err


def test_the_same_files_are_written(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number:02}.yaml").write_text(
            smallest(f"nodes: {number + 1}", f"job-{number}")
        )
    ran = [
        process(".", "--target", "all", "-o", f".{jobs}/", "--jobs", jobs, cwd=tmp_path)
        for jobs in "13"
    ]
    assert ran[0] == ran[1]
    assert ran[0].status == 0
    written = [
        {
            path.relative_to(tmp_path / f".{jobs}"): path.read_bytes()
            for path in (tmp_path / f".{jobs}").rglob("*.yaml")
        }
        for jobs in "13"
    ]
    assert written[0] == written[1]
    assert len(written[0]) > 25


def test_a_spawned_process_compiles_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spawned process reads the configuration and the profile again."""
    monkeypatch.setattr(processes, "_can_fork", lambda: False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ptcompile.toml").write_text('ignore = ["PTC302"]\n')
    (tmp_path / ".cluster.yaml").write_text(
        "kind: ClusterProfile\napiVersion: ptcompile/v1\nspec: {defaults: {env: {A: b}}}\n"
    )
    for number in range(4):
        (tmp_path / f"{number}.yaml").write_text(smallest("resources: {gpu: 8}", f"job-{number}"))
    options = (
        "--cluster",
        ".cluster.yaml",
        "--set",
        "spec.nodes=2",
        "--target",
        "all",
        "--format",
        "json",
    )
    runs = [here(capsys, "compile", ".", *options, "--jobs", jobs) for jobs in "12"]
    assert runs[0] == runs[1]
    assert runs[0].status == 0
    assert '"A"' in runs[0].out


Capture = pytest.CaptureFixture[str]


@pytest.fixture
def repo(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two specs and their manifests."""
    monkeypatch.chdir(tmp_path)
    spec(tmp_path, "specs/a.yaml", "nodes: 2", job="a")
    spec(tmp_path, "specs/b.yaml", "nodes: 2", job="b")
    assert here(capsys, "specs/", "-o", "manifests/").status == 0
    return tmp_path


def _check(capsys: Capture, *words: str) -> Ran:
    return here(capsys, "compile", "--check", "-o", "manifests/", *(words or ("specs/",)))


def _state(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    "words", [(), ("-o", "out/"), ("-o", "out.yaml"), ("--check", "-o", "out/"), ("--no-lint",)]
)
def test_two_specs_with_the_same_name_in_a_run_are_an_error(
    words: tuple[str, ...], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that was not renamed: kubectl would apply one over the other."""
    monkeypatch.chdir(tmp_path)
    spec(tmp_path, "specs/a.yaml", "nodes: 2", job="a")
    spec(tmp_path, "specs/b.yaml", "nodes: 4", job="a")
    ran = here(capsys, "compile", "specs/", *words, "--jobs", "2", "--output-format", "concise")
    assert (ran.status, ran.out, list(tmp_path.glob("out*"))) == (1, "", [])
    assert ran.err.startswith(f"{Path('specs', 'b.yaml')}:3:")
    assert ran.err.count("PTC576 repeated-object: metadata.name: ") == 1
    spec(tmp_path, "specs/b.yaml", "nodes: 4", job="b")
    assert here(capsys, "compile", "specs/", "-o", "out/").status == 0


def test_two_specs_with_the_same_name_in_a_file_are_an_error() -> None:
    text = f"{smallest()}---\n{smallest()}"
    for report in (
        ptcompile.lint(text, ignore=["PTC576"]),
        ptcompile.compile(text, ignore=["PTC576"]),
    ):
        (diagnostic,) = report.diagnostics
        assert diagnostic.code == "PTC576"
        assert diagnostic.severity == "error"
        assert diagnostic.document == 1
        assert diagnostic.blocks_compile
    assert len(ptcompile.compile(text, target="job").manifests) == len(
        ptcompile.compile(smallest(), target="job").manifests
    )
    elsewhere = smallest().replace("{name: train}", "{name: train, namespace: other}")
    assert ptcompile.compile(f"{smallest()}---\n{elsewhere}").ok
    assert ptcompile.lint(f"{smallest()}---\n{elsewhere}").ok


def test_current_files_print_nothing(repo: Path, capsys: Capture) -> None:
    assert _check(capsys) == Ran(0, "", "")
    assert here(capsys, "specs/a.yaml", "--check", "-o", "manifests/a.yaml") == Ran(0, "", "")


def test_stale_missing_and_orphaned_files_are_named_and_nothing_is_written(
    repo: Path, capsys: Capture
) -> None:
    spec(repo, "specs/a.yaml", "nodes: 3", job="a")
    shutil.move(repo / "specs/b.yaml", repo / "specs/c.yaml")
    before = _state(repo)
    ran = _check(capsys)
    assert ran.status == 1
    assert ran.err.splitlines()[:3] == [
        "ptcompile: stale: manifests/a.yaml",
        "ptcompile: missing: manifests/c.yaml",
        "ptcompile: orphaned: manifests/b.yaml",
    ]
    assert "-  completions: 2\n-  parallelism: 2\n+  completions: 3\n+  parallelism: 3\n" in ran.out
    assert _state(repo) == before


def test_the_difference_of_stale_files_is_a_patch(repo: Path, capsys: Capture) -> None:
    spec(repo, "specs/a.yaml", "nodes: 3", job="a")
    (repo / "manifests/a.yaml").write_text((repo / "manifests/a.yaml").read_text().rstrip("\n"))
    out = _check(capsys).out
    subprocess.run(
        ["git", "apply", "-p0", "-"], input=out.encode(), check=True, capture_output=True, cwd=repo
    )
    assert _check(capsys).status == 0


def test_missing_and_orphaned_files_are_only_named(repo: Path, capsys: Capture) -> None:
    shutil.move(repo / "specs/b.yaml", repo / "specs/c.yaml")
    ran = _check(capsys)
    assert (ran.status, ran.out, ran.err.count("manifests/")) == (1, "", 2)


def test_orphans_are_named_when_a_folder_is_written(repo: Path, capsys: Capture) -> None:
    (repo / "specs/b.yaml").unlink()
    ran = here(capsys, "specs/", "-o", "manifests/")
    orphan = (
        "ptcompile: orphaned: manifests/b.yaml: no spec is compiled to it; --prune deletes it\n"
    )
    assert (ran.status, ran.err) == (0, orphan)
    assert (repo / "manifests/b.yaml").exists()
    assert here(capsys, "specs/a.yaml", "-o", "manifests/").err == ""
    assert (
        here(capsys, "specs/", "-o", "manifests/", "--prune").err
        == "ptcompile: deleted: manifests/b.yaml\n"
    )


def test_check_compares_one_file_of_all_manifests(repo: Path, capsys: Capture) -> None:
    assert here(capsys, "specs/", "-o", "all.yaml").status == 0
    assert here(capsys, "specs/", "--check", "-o", "all.yaml").status == 0
    assert here(capsys, "specs/a.yaml", "--check", "-o", "all.yaml").status == 1
    assert here(capsys, "specs/a.yaml", "--check", "-o", "none.yaml").err.startswith(
        "ptcompile: missing: none.yaml\n"
    )
    assert not (repo / "none.yaml").exists()


def test_check_compares_files_of_the_format(repo: Path, capsys: Capture) -> None:
    assert here(capsys, "specs/", "--format", "json", "-o", "manifests/").status == 0
    assert _check(capsys, "specs/", "--format", "json").status == 0
    (repo / "specs/b.yaml").unlink()
    assert "orphaned: manifests/b.json" in _check(capsys, "specs/", "--format", "json").err
    assert "orphaned: manifests/b.yaml" in _check(capsys).err


OTHERS = {
    "kustomization.yaml": "resources: [a.yaml]\n",
    "service.yaml": "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n",
    "hand.yaml": "# ours\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: hand\n",
    "flow.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n",
    "broken.yaml": "a: [\n",
    "odd.yaml": "apiVersion: v1\nkind: Pod\na: .inf\n",
    "empty.yaml": "",
    "notes.txt": "b",
    "deep/old.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_files_of_other_tools_are_not_orphans(name: str, repo: Path, capsys: Capture) -> None:
    path = repo / "manifests" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(OTHERS[name], encoding="utf-8")
    assert _check(capsys) == Ran(0, "", "")


HIDING = "env: {HF_TOKEN: %s, B: '1'}"


def test_secrets_are_masked(repo: Path, capsys: Capture) -> None:
    spec(repo, "specs/a.yaml", HIDING % "hf_old", job="a")
    assert here(capsys, "specs/", "-o", "manifests/").status == 0
    spec(repo, "specs/a.yaml", HIDING % "hf_new" + "\nnodes: 2", job="a")
    (repo / "specs/b.yaml").unlink()
    stale = _check(capsys)
    missing = here(capsys, "specs/a.yaml", "--check", "-o", "new.yaml")
    for ran in (stale, missing):
        assert ran.status == 1
        assert "hf_" not in ran.out + ran.err
    assert "+  completions: 2\n" in stale.out
    assert missing.out == "", "a missing file is only named"


def test_a_changed_secret_is_stale_and_hidden(repo: Path, capsys: Capture) -> None:
    spec(repo, "specs/a.yaml", HIDING % "hf_old", job="a")
    assert here(capsys, "specs/", "-o", "manifests/").status == 0
    spec(repo, "specs/a.yaml", HIDING % "hf_new", job="a")
    ran = _check(capsys)
    assert (ran.status, ran.out) == (
        1,
        "# secrets are hidden; layout and comments are omitted; nothing else differs\n",
    )
    assert "stale: manifests/a.yaml" in ran.err


def test_a_secret_in_a_comment_of_the_committed_file_is_hidden(repo: Path, capsys: Capture) -> None:
    spec(repo, "specs/a.yaml", job="a")
    assert here(capsys, "specs/", "-o", "manifests/").status == 0
    path = repo / "manifests/a.yaml"
    path.write_text(path.read_text() + "# HF_TOKEN=hf_old\n")
    ran = _check(capsys)
    assert ran.status == 1
    assert "hf_" not in ran.out + ran.err
    assert "secrets are hidden" in ran.out


def test_an_unreadable_file_is_stale_and_not_shown(repo: Path, capsys: Capture) -> None:
    (repo / "manifests/a.yaml").write_text("HF_TOKEN: [hf_secret\n", encoding="utf-8")
    ran = _check(capsys)
    assert ran.status == 1
    assert "hf_secret" not in ran.out
    assert "stale: manifests/a.yaml" in ran.err


def test_a_spec_that_does_not_compile_is_reported_first(repo: Path, capsys: Capture) -> None:
    spec(repo, "specs/a.yaml", "nods: 3", job="a")
    ran = _check(capsys)
    assert (ran.status, ran.out) == (1, "")
    assert "unknown field" in ran.err
    assert "orphaned" not in ran.err


def test_check_requires_an_output(repo: Path, capsys: Capture) -> None:
    ran = here(capsys, "specs/", "--check")
    assert (ran.status, ran.out) == (2, "")
    assert "-o" in ran.err


def test_named_files_do_not_make_others_orphans(repo: Path, capsys: Capture) -> None:
    """A hook gets only the changed files; orphans are searched for only if a directory or glob names all specs."""
    assert _check(capsys, "specs/a.yaml") == Ran(0, "", "")
    (repo / "specs/b.yaml").unlink()
    assert _check(capsys, "specs/a.yaml") == Ran(0, "", "")
    assert _check(capsys, "specs/*.yaml").err.startswith("ptcompile: orphaned: manifests/b.yaml\n")


def test_as_a_hook_would_run_it(repo: Path) -> None:
    words = ("compile", "--check", "-o", "manifests/", "specs/a.yaml", "specs/b.yaml")
    assert process(*words, cwd=repo).status == 0
    (repo / "manifests/a.yaml").unlink()
    assert process(*words, cwd=repo).status == 1


def test_a_folder_may_contain_foreign_templates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec(tmp_path)
    template = tmp_path / "job.yaml"
    template.write_text("{{- if .Values.on }}\nkind: Job\n{{- end }}\n")
    ran = here(capsys, "compile", tmp_path, "-o", tmp_path / "out.yaml")
    assert ran.status == 0
    assert "skipped, no TrainingJob in them: 1" in ran.err
    template.write_text("{{- if .Values.on }}\nkind: TrainingJob\n{{- end }}\n")
    ran = here(capsys, "compile", tmp_path, "-o", tmp_path / "out.yaml")
    assert ran.status == 1
    assert "the text is a template of Helm or Jinja" in ran.err


def test_a_written_file_says_where_it_comes_from(
    repo: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = (repo / "manifests/a.yaml").read_text(encoding="utf-8").partition("\n")[0]
    assert first == "# generated by ptcompile from ../specs/a.yaml; do not edit"
    monkeypatch.chdir(repo / "specs")
    assert here(capsys, str(repo / "specs"), "-o", "../manifests/", "--check").status == 0, (
        "wherever it runs"
    )
    monkeypatch.chdir(repo)
    assert here(capsys, "specs/", "-o", "all.yaml").status == 0
    head = "# generated by ptcompile from specs/a.yaml, specs/b.yaml; do not edit\n"
    assert (repo / "all.yaml").read_text(encoding="utf-8").startswith(head)
    assert not here(capsys, "specs/").out.startswith("#")
    assert here(capsys, "specs/", "--format", "json", "-o", "manifests/").status == 0
    assert (repo / "manifests/a.json").read_text(encoding="utf-8").startswith("{")


def test_a_header_stays_on_one_line(repo: Path, capsys: Capture) -> None:
    spec(repo, "specs/new\nline.yaml", "", job="c")
    assert here(capsys, "specs/new\nline.yaml", "-o", "c.yaml").status == 0
    assert (repo / "c.yaml").read_text(encoding="utf-8").splitlines()[:2] == [
        "# generated by ptcompile from 'specs/new\\nline.yaml'; do not edit",
        "apiVersion: v1",
    ]


def test_orphans_are_pruned(repo: Path, capsys: Capture) -> None:
    (repo / "specs/b.yaml").unlink()
    shutil.copy(repo / "manifests/b.yaml", repo / "manifests/edited.yaml")
    with (repo / "manifests/edited.yaml").open("a", encoding="utf-8") as file:
        file.write("# ours\n")
    (repo / "manifests/hand.yaml").write_text(OTHERS["hand.yaml"], encoding="utf-8")
    assert "orphaned: manifests/edited.yaml" in _check(capsys).err
    ran = here(capsys, "specs/", "-o", "manifests/", "--prune")
    assert (ran.status, ran.err.splitlines()) == (
        0,
        [
            "ptcompile: deleted: manifests/b.yaml",
            "ptcompile: orphaned, but edited by hand, so it stays: manifests/edited.yaml",
        ],
    )
    assert sorted(path.name for path in (repo / "manifests").iterdir()) == [
        "a.yaml",
        "edited.yaml",
        "hand.yaml",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["specs/", "--prune"], "say where with -o DIR/"),
        (["specs/", "-o", "manifests/", "--prune", "--check"], "without --check"),
        (["specs/", "-o", "all.yaml", "--prune"], "say where with -o DIR/"),
        (["specs/a.yaml", "-o", "manifests/", "--prune"], "a directory or a glob of specs"),
        (["specs/", "-o", "manifests/", "--target", "all", "--prune"], "and one target"),
    ],
)
def test_prune_needs_to_know_all_specs(
    words: list[str], message: str, repo: Path, capsys: Capture
) -> None:
    before = _state(repo)
    ran = here(capsys, *words)
    assert ran.status == 2
    assert message in ran.err
    assert _state(repo) == before
