"""Files of a folder that are left out: by the configuration, by git, by kustomize."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.cli.config import Config
from ptcompile.cli.excluding import excluding
from ptcompile.cli.files import read_all
from tests.cli.running import here

Capture = pytest.CaptureFixture[str]

BAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n"


def tree(top: Path, *names: str) -> None:
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BAD)


def found(top: Path, config: Config) -> list[str]:
    files, _ = read_all([str(top)], excluding(config))
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
def test_the_configuration(
    tmp_path: Path, exclude: tuple[str, ...] | None, extend: tuple[str, ...], left: list[str]
) -> None:
    tree(tmp_path, "a.yaml", "charts/b.yaml", "deep/charts/c.yaml", "node_modules/d.yaml")
    assert found(tmp_path, Config(folder=str(tmp_path), exclude=exclude, extend_exclude=extend)) == left


def test_what_git_ignores(tmp_path: Path) -> None:
    tree(tmp_path, "a.yaml", "out/b.yaml", "deep/out/c.yaml", "deep/d.yaml", "deep/e.yaml")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/out/\n")
    (tmp_path / "deep" / ".gitignore").write_text("# ours\nd.yaml\n")
    assert found(tmp_path, Config(folder=str(tmp_path))) == ["a.yaml", "deep/e.yaml", "deep/out/c.yaml"]


def test_patches_of_kustomize(tmp_path: Path) -> None:
    tree(tmp_path, "job.yaml", "patch.yaml", "patches/gpu.yaml", "old.yaml")
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [job.yaml]\npatches: [{path: patch.yaml}, {path: ./patches/gpu.yaml}]\n"
        "patchesStrategicMerge: [old.yaml]\n"
    )
    assert found(tmp_path, Config(folder=str(tmp_path))) == ["job.yaml", "kustomization.yaml"]


def test_a_named_file_is_read_whatever_is_excluded(tmp_path: Path, capsys: Capture) -> None:
    tree(tmp_path, "a.yaml")
    (tmp_path / "ptcompile.toml").write_text('exclude = ["*.yaml"]\n')
    config = tmp_path / "ptcompile.toml"
    assert here(capsys, "lint", tmp_path / "a.yaml", "--config", config).status == 1
    ran = here(capsys, "lint", tmp_path, "--config", config)
    assert (ran.status, ran.out) == (0, "")


def test_an_empty_folder_is_fine(tmp_path: Path, capsys: Capture) -> None:
    assert here(capsys, "lint", tmp_path, "--isolated").status == 0
