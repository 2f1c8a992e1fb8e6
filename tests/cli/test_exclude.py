"""Excluded files of a folder: by the configuration, by git, by kustomize."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ptcompile.cli.config import Config
from ptcompile.cli.exclude import exclusions
from ptcompile.cli.files import read_all
from tests.cli.running import here

Capture = pytest.CaptureFixture[str]

BAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n"


def tree(top: Path, *names: str) -> None:
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BAD)


def read_names(top: Path, config: Config) -> list[str]:
    files, _ = read_all([str(top)], exclusions(config, [str(top)]))
    return [str(Path(file.name).relative_to(top)) for file in files]


@pytest.mark.parametrize(
    ("exclude", "extend", "left"),
    [
        (None, (), ["a.yaml", "charts/b.yaml", "deep/charts/c.yaml"]),
        (("charts/",), (), ["a.yaml", "node_modules/d.yaml"]),
        (None, ("/charts/",), ["a.yaml", "deep/charts/c.yaml"]),
        (None, ("*.yaml", "!a.yaml"), ["a.yaml"]),
    ],
)
def test_the_configuration_excludes_files(
    tmp_path: Path, exclude: tuple[str, ...] | None, extend: tuple[str, ...], left: list[str]
) -> None:
    tree(tmp_path, "a.yaml", "charts/b.yaml", "deep/charts/c.yaml", "node_modules/d.yaml")
    assert (
        read_names(tmp_path, Config(folder=str(tmp_path), exclude=exclude, extend_exclude=extend))
        == left
    )


def test_files_that_git_ignores_are_excluded(tmp_path: Path) -> None:
    tree(tmp_path, "a.yaml", "out/b.yaml", "deep/out/c.yaml", "deep/d.yaml", "deep/e.yaml")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/out/\n")
    (tmp_path / "deep" / ".gitignore").write_text("# ours\nd.yaml\n")
    assert read_names(tmp_path, Config(folder=str(tmp_path))) == [
        "a.yaml",
        "deep/e.yaml",
        "deep/out/c.yaml",
    ]


def test_patches_of_kustomize_are_excluded(tmp_path: Path) -> None:
    tree(tmp_path, "job.yaml", "patch.yaml", "patches/gpu.yaml", "old.yaml")
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [job.yaml]\npatches: [{path: patch.yaml}, {path: ./patches/gpu.yaml}]\n"
        "patchesStrategicMerge: [old.yaml]\n"
    )
    assert read_names(tmp_path, Config(folder=str(tmp_path))) == ["job.yaml", "kustomization.yaml"]


def test_a_named_file_is_read_even_if_excluded(tmp_path: Path, capsys: Capture) -> None:
    tree(tmp_path, "a.yaml")
    (tmp_path / "ptcompile.toml").write_text('exclude = ["*.yaml"]\n')
    config = tmp_path / "ptcompile.toml"
    assert here(capsys, "lint", tmp_path / "a.yaml", "--config", config).status == 1
    ran = here(capsys, "lint", tmp_path, "--config", config)
    assert (ran.status, ran.out) == (2, "")


posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and links")


def test_the_nearest_gitignore_decides(tmp_path: Path) -> None:
    tree(tmp_path, "a.yaml", "deep/a.yaml", "deep/b.yaml", "out/c.yaml")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.yaml\nout/\n")
    (tmp_path / "deep" / ".gitignore").write_text("!a.yaml\n")
    (tmp_path / "out" / ".gitignore").write_text("!c.yaml\n")
    config = Config(folder=str(tmp_path))
    assert read_names(tmp_path, config) == ["deep/a.yaml"]
    excluded = exclusions(config, [str(tmp_path)])
    assert excluded(str(tmp_path / "out" / "c.yaml")), (
        "what is in an ignored folder stays ignored, as in git"
    )
    assert not excluded(str(tmp_path / "deep" / "a.yaml"))


def test_a_gitignore_above_the_repository_is_ignored(tmp_path: Path) -> None:
    tree(tmp_path, "repo/a.yaml")
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.yaml\nrepo/\n")
    assert read_names(tmp_path / "repo", Config(folder=str(tmp_path))) == ["a.yaml"]
    assert read_names(tmp_path / "repo", Config(folder=str(tmp_path), exclude=("repo/",))) == []


def test_a_gitignore_above_a_folder_outside_a_repository_is_ignored(tmp_path: Path) -> None:
    tree(tmp_path, "mine/a.yaml", "mine/out/b.yaml", "mine/.hidden/c.yaml")
    (tmp_path / ".gitignore").write_text("*.yaml\n")
    (tmp_path / "mine" / ".gitignore").write_text("out/\n")
    assert read_names(tmp_path / "mine", Config(folder=str(tmp_path))) == ["a.yaml"]
    for path in ("mine/*.yaml", "mine/**/*.yaml"):
        searched = str(tmp_path / path)
        files, _ = read_all([searched], exclusions(Config(folder=str(tmp_path)), [searched]))
        assert [Path(file.name).name for file in files] == ["a.yaml"]
    assert read_names(tmp_path, Config(folder=str(tmp_path))) == []


def test_the_largest_gitignore_is_used(tmp_path: Path, capsys: Capture) -> None:
    tree(tmp_path, "a.yaml", "b.yaml")
    line = "a.yaml\n"
    (tmp_path / ".gitignore").write_text(line + "#" * ((1 << 17) - len(line)))
    assert read_names(tmp_path, Config(folder=str(tmp_path))) == ["b.yaml"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
@pytest.mark.parametrize(
    "key", ["patches", "patchesStrategicMerge", "patchesJson6902", "components"]
)
def test_files_that_a_kustomization_lists_besides_resources_are_excluded(
    key: str, name: str, tmp_path: Path
) -> None:
    tree(tmp_path, "a.yaml", "b.yaml", "deep/c.yaml")
    (tmp_path / name).write_text(
        f"resources: [a.yaml]\n{key}: [b.yaml, {{path: deep/c.yaml}}, {{target: a.yaml}}, 3]\n"
    )
    assert [
        path for path in read_names(tmp_path, Config(folder=str(tmp_path))) if path != name
    ] == ["a.yaml"]


def test_a_changed_gitignore_applies_to_the_next_run(tmp_path: Path) -> None:
    tree(tmp_path, "a.yaml")
    assert read_names(tmp_path, Config(folder=str(tmp_path))) == ["a.yaml"]
    (tmp_path / ".gitignore").write_text("a.yaml\n")
    assert read_names(tmp_path, Config(folder=str(tmp_path))) == []


@pytest.mark.parametrize(
    "line",
    ["!", "\\", "a\\", "[z-a]", "[a-\\]", "[[:alpha:]]x", "[", "**/a/" * 20 + "c", "*a" * 30 + "b"],
)
def test_no_pattern_stops_a_run(line: str, tmp_path: Path, capsys: Capture) -> None:
    """Most of them mean nothing to git; on the last two, a backtracking matcher would never finish."""
    tree(tmp_path, "a.yaml", "a" * 200 + ".yaml", "a/" * 60 + "b.yaml", "ignored.yaml")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(f"ignored.yaml\n{line}\n")
    ran = here(capsys, "lint", tmp_path, "--isolated", "--untrusted")
    assert ran.status == 1, ran.err
    assert "3 files" in ran.err, ran.err
    (tmp_path / ".gitignore").unlink()
    left = read_names(tmp_path, Config(folder=str(tmp_path), exclude=("ignored.yaml", line)))
    assert len(left) == 3


@posix
def test_a_gitignore_that_is_a_link_a_device_or_large_is_not_used(
    tmp_path: Path, capsys: Capture
) -> None:
    top = tmp_path / "repo"
    tree(top, "a.yaml", "inside.txt")
    (top / ".git").mkdir()
    path = top / ".gitignore"

    def warning() -> str:
        assert read_names(top, Config(folder=str(top))) == ["a.yaml"]
        path.unlink()
        return str(capsys.readouterr().err)

    for target in ("/dev/zero", "../outside", "inside.txt"):
        path.symlink_to(target)
        assert warning() == f"ptcompile: {path} is not used: git does not follow links\n"
    os.mkfifo(path)
    assert warning() == f"ptcompile: {path} is not used: not a regular file\n"
    path.write_text("a.yaml\n" * (1 << 15))
    assert warning() == f"ptcompile: {path} is not used: larger than 131072 bytes\n"


@posix
@pytest.mark.parametrize("target", ["/dev/zero", "../outside.yaml"])
def test_a_kustomization_that_leads_out_is_not_used(
    target: str, tmp_path: Path, capsys: Capture
) -> None:
    top = tmp_path / "repo"
    tree(top, "patch.yaml")
    (top / ".git").mkdir()
    (tmp_path / "outside.yaml").write_text("patches: [{path: patch.yaml}]\n")
    (top / "kustomization.yaml").symlink_to(target)
    ran = here(capsys, "lint", top, "--isolated", "--untrusted")
    assert ran.status == 2
    assert f"{top}/kustomization.yaml is not used: a link that leads out of {top}" in ran.err
    assert "1 file," in ran.err


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("manifests/team-b/", ["a", "o"]),
        ("manifests/team-b", ["a", "o"]),
        ("team-b/", ["a", "o"]),
        ("/manifests/", ["o"]),
        ("manifests/**", ["o"]),
        ("manifests/*/b.yaml", ["a", "o"]),
        ("b.yaml", ["a", "o"]),
        ("*.yaml", []),
        ("manifests/*.yaml", ["a", "b", "o"]),
        ("team-?/", ["o"]),
    ],
)
def test_all_patterns_have_the_same_syntax(
    pattern: str, left: list[str], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same pattern excludes a file and ignores its findings."""
    monkeypatch.chdir(tmp_path)
    for path in ("manifests/team-a/a.yaml", "manifests/team-b/b.yaml", "other/o.yaml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a, nme: x}\n")
    for setting in (
        f'exclude = ["{pattern}"]',
        f'per-file-ignores = {{"{pattern}" = ["PTC501", "PTC502"]}}',
    ):
        (tmp_path / "ptcompile.toml").write_text(setting)
        for words in (["."], ["manifests/", "other/"]):
            ran = here(
                capsys, "lint", "--allow-empty", "--output-format", "concise", "--no-cache", *words
            )
            assert [name for name in "abo" if f"{name}.yaml:3" in ran.out] == left, setting


SETTINGS = """\
exclude = ["charts/", "manifets/old.yaml", ".venv/", "node_modules/react.yaml"]
extend-exclude = ["*-patch.yaml", "manifests/"]
per-file-ignores = {"team-a/" = ["PTC3"], "team-b/" = ["PTC3"]}
"""


def test_patterns_that_match_no_file_are_reported(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(
        tmp_path,
        "repo/charts/a.yaml",
        "repo/team-a/a.yaml",
        "repo/node_modules/react.yaml",
        "team-b/outside.yaml",
    )
    (tmp_path / "repo" / "ptcompile.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path / "repo")
    unmatched = [
        "ptcompile: per-file-ignores: 'team-b/' matches no file; correct or remove it",
        "ptcompile: exclude: 'manifets/old.yaml' matches no file; correct or remove it",
        "ptcompile: extend-exclude: '*-patch.yaml' matches no file; correct or remove it",
        "ptcompile: extend-exclude: 'manifests/' matches no file; correct or remove it",
    ]
    for path in (".", tmp_path / "repo", "../", "team-a/.."):
        ran = here(capsys, "lint", path)
        assert [line for line in ran.err.splitlines() if "matches no file" in line] == unmatched, (
            path
        )
    for words in (["team-a/"], ["team-a/a.yaml"], ["team-*/*.yaml"], [".", "--isolated"]):
        assert "matches no file" not in here(capsys, "lint", *words).err, words
