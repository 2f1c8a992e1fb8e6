"""Schema files: regular files of limited size, and only those within a given folder."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from ptcompile._internal import limits
from ptcompile.apiserver.crds.loader import files_of, read_definitions

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
"""

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and links")


@posix
@pytest.mark.parametrize("target", ["/dev/zero", "/etc/passwd", "../../outside.yaml", "pipe"])
def test_a_folder_with_a_file_that_is_not_read(target: str, tmp_path: Path) -> None:
    folder = tmp_path / "repo" / "crds"
    folder.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "outside.yaml").write_text(CRD)
    (folder / "a.yaml").write_text(CRD)
    os.mkfifo(folder / "pipe")
    (folder / "b.yaml").symlink_to(target)
    with pytest.raises(ValueError, match=r"b\.yaml: (a link that leads out of|not a regular file)"):
        read_definitions([folder])
    (folder / "b.yaml").unlink()
    (folder / "b.yaml").symlink_to("a.yaml")
    assert len(read_definitions([folder]).kinds) == 1


@posix
def test_a_link_that_is_named_is_followed(tmp_path: Path) -> None:
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "a.yaml").write_text(CRD)
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "a.yaml").symlink_to("../crds/a.yaml")
    assert read_definitions([tmp_path / "repo" / "a.yaml"]).kinds


@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_a_file_that_is_too_large(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(characters=100)])
    (tmp_path / name).write_text(json.dumps({"description": "x" * 100}))
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        read_definitions([tmp_path])


def test_endlessly_nested_json(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a":' * 100_000)
    with pytest.raises(ValueError, match=r"a\.json: nested too deeply"):
        read_definitions([tmp_path])


def test_the_files_of_a_folder(tmp_path: Path) -> None:
    for name in ("b/x.json", "b/y.txt", "a.yml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    files = [Path(file).relative_to(tmp_path).as_posix() for file in files_of(str(tmp_path))]
    assert files == ["a.yml", "b/x.json"]
