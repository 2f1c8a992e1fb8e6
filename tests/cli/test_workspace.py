"""The language server's view of the disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ptcompile.api.options import LintOptions
from ptcompile.cli.workspace import Workspace
from ptcompile.diagnostics import Diagnostic
from ptcompile.diagnostics.selection import selection
from ptcompile.server.workspace import FileSettings

PROFILE = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: prod}\nspec: {}\n"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"


def _every(diagnostics: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    return diagnostics


UNCONFIGURED = FileSettings(
    options=LintOptions(names_successors=True),
    in_folder=True,
    without_known=_every,
)
"""The settings without a configuration, apart from the function of the baseline."""


def written(folder: Path, files: dict[str, str], **given: Any) -> Workspace:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return Workspace([str(folder)], given)


def test_without_a_configuration_every_rule_runs(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ptcompile]\n", encoding="utf-8")
    settings = written(tmp_path, {}).settings(str(tmp_path / "a.yaml"))
    assert settings._replace(without_known=_every) == UNCONFIGURED


def test_the_configuration_of_the_folder_applies(tmp_path: Path) -> None:
    config = (
        'cluster = "prod.yaml"\nselect = ["PTC3"]\nextend-select = ["PTC021"]\nignore = ["PTC302"]\n'
        'kubernetes-version = "1.34"\nexclude = ["charts/"]\n[per-file-ignores]\n"old/*" = ["PTC4"]\n'
    )
    workspace = written(tmp_path, {"ptcompile.toml": config, "prod.yaml": PROFILE})
    settings = workspace.settings(str(tmp_path / "old" / "a.yaml"))
    assert settings.options.profile is not None
    assert settings.options.profile.metadata.name == "prod"
    assert settings.profile_path == str(tmp_path / "prod.yaml")
    assert settings.options.selection == selection(["PTC3", "PTC021"], ["PTC302", "PTC4"])
    assert settings.options.versions.kubernetes == (1, 34)
    assert not settings.excluded
    assert workspace.settings(str(tmp_path / "charts" / "a.yaml")).excluded


def test_the_configuration_of_the_workspace_folder_is_used(tmp_path: Path) -> None:
    """As lint finds it in that folder; a file outside every folder uses the configuration nearest to it."""
    files = {
        "ptcompile.toml": 'ignore = ["PTC302"]\n',
        "deep/ptcompile.toml": 'ignore = ["PTC303"]\n',
    }
    workspace = written(tmp_path, files)
    path = str(tmp_path / "deep" / "a.yaml")
    outer, inner = (selection(None, [code]) for code in ("PTC302", "PTC303"))
    assert workspace.settings(path).options.selection == outer
    assert Workspace([], {}).settings(path).options.selection == inner
    assert Workspace([str(tmp_path / "de")], {}).settings(path).options.selection == inner


def test_the_editor_s_settings_override_the_file(tmp_path: Path) -> None:
    files = {
        "ptcompile.toml": 'ignore = ["PTC302"]\nselect = ["PTC3"]\n',
        "other.yaml": PROFILE,
        "o.toml": "",
    }
    given = {
        "cluster": "other.yaml",
        "ignore": ["PTC303"],
        "select": ["PTC4"],
        "kubernetesVersion": "1.35",
    }
    settings = written(tmp_path, files, **given).settings(str(tmp_path / "a.yaml"))
    assert settings.options.profile is not None
    assert settings.options.selection == selection(["PTC4"], ["PTC302", "PTC303"])
    assert settings.options.versions.kubernetes == (1, 35)
    others = Workspace([str(tmp_path)], {"config": "o.toml"}).settings(str(tmp_path / "a.yaml"))
    assert others.options.selection == selection(None, [])


@pytest.mark.parametrize(
    "given", [{"cluster": 5}, {"ignore": "PTC302"}, {"config": []}, {"select": None}, {"x": 1}]
)
def test_settings_of_another_type_are_ignored(tmp_path: Path, given: dict[str, Any]) -> None:
    (tmp_path / "ptcompile.toml").touch()
    settings = written(tmp_path, {}, **given).settings(str(tmp_path / "a.yaml"))
    assert settings._replace(without_known=_every) == UNCONFIGURED


@pytest.mark.parametrize(
    ("files", "given", "why"),
    [
        ({"ptcompile.toml": "ignroe = []"}, {}, "did you mean ignore?"),
        ({"ptcompile.toml": "= 5"}, {}, "ptcompile.toml"),
        ({"ptcompile.toml": 'cluster = "none.yaml"'}, {}, "none.yaml: no such file"),
        (
            {"ptcompile.toml": 'cluster = "p.yaml"', "p.yaml": "a: 1\n"},
            {},
            "p.yaml: invalid profile",
        ),
        (
            {"ptcompile.toml": 'cluster = "p.yaml"', "p.yaml": "kind: [a\n"},
            {},
            "p.yaml: invalid profile: a list that begins with '[' is not closed",
        ),
        ({"ptcompile.toml": 'schemas = ["none"]'}, {}, "none"),
        ({"ptcompile.toml": ""}, {"ignore": ["PTC9999"]}, "PTC9999"),
        ({"ptcompile.toml": ""}, {"kubernetesVersion": "new"}, "new"),
    ],
)
def test_unusable_settings_are_reported(
    tmp_path: Path, files: dict[str, str], given: dict[str, Any], why: str
) -> None:
    assert why in written(tmp_path, files, **given).settings(str(tmp_path / "a.yaml")).error


def test_only_files_that_define_something_are_read(tmp_path: Path) -> None:
    files = {
        "ptcompile.toml": 'exclude = ["charts/"]\n',
        "a.yaml": CONFIG_MAP,
        "sub/b.yaml": CONFIG_MAP,
        "charts/c.yaml": CONFIG_MAP,
        ".hidden/d.yaml": CONFIG_MAP,
        "e.yaml": "kind: Pod\n",
        "f.txt": CONFIG_MAP,
        "large.yaml": CONFIG_MAP + "#" * (1 << 20),
    }
    workspace = written(tmp_path, files)
    assert [Path(file.path).name for file in workspace.files()] == ["a.yaml", "b.yaml"]
    (tmp_path / "new.yaml").write_text(CONFIG_MAP, encoding="utf-8")
    (tmp_path / "a.yaml").unlink()
    assert len(workspace.files()) == 2, "the folder is not read again for every question"
    workspace.changed()
    assert [Path(file.path).name for file in workspace.files()] == ["new.yaml", "b.yaml"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
def test_links_out_and_special_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text(CONFIG_MAP, encoding="utf-8")
    folder = tmp_path / "repo"
    folder.mkdir()
    workspace = written(folder, {".git/HEAD": "", "a.yaml": CONFIG_MAP})
    for name, target in {"link": "../outside.yaml", "own": "a.yaml", "zero": "/dev/zero"}.items():
        (folder / f"{name}.yaml").symlink_to(target)
    os.mkfifo(folder / "pipe.yaml")
    (folder / ".gitignore").symlink_to("/dev/zero")
    (folder / "kustomization.yaml").symlink_to("/dev/zero")
    assert [Path(file.path).name for file in workspace.files()] == ["a.yaml", "own.yaml"]


def test_a_missing_profile_leaves_the_rest_of_the_configuration(tmp_path: Path) -> None:
    files = {"ptcompile.toml": 'cluster = "none.yaml"\nignore = ["PTC302"]\n'}
    settings = written(tmp_path, files).settings(str(tmp_path / "a.yaml"))
    assert settings.error.startswith("ptcompile uses its default profile: ")
    assert settings.options.profile is None
    assert settings.options.selection == selection(None, ["PTC302"])


def test_the_earlier_files_of_a_folder_are_those_read_before(tmp_path: Path) -> None:
    files = dict.fromkeys(
        ("b.yaml", "a.yaml", "notes.txt", "c.json", "deep/a.yaml", "old.yaml"), CONFIG_MAP
    )
    workspace = written(tmp_path, {**files, "ptcompile.toml": 'exclude = ["old.yaml"]\n'})

    def names(name: str) -> list[str]:
        return [Path(file.path).name for file in workspace.earlier_files(str(tmp_path / name))]

    assert names("z.yaml") == ["a.yaml", "b.yaml", "c.json"]
    assert names("b.yaml") == ["a.yaml"]
    assert names("new/b.yaml") == [], "a folder that does not exist yet"
    (tmp_path / "kustomization.yaml").touch()
    assert names("b.yaml") == ["a.yaml"], "until the editor reports the change"
    workspace.changed()
    assert names("b.yaml") == []
    assert Workspace([str(tmp_path / "deep")], {}).earlier_files(str(tmp_path / "b.yaml")) == ()
