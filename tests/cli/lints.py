"""A folder to lint, and a record of the files that are linted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ptcompile.api import lint
from ptcompile.api.inputs import Inputs
from ptcompile.cli.commands import lint as judge
from tests.making import smallest

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: strict}
spec: {restartPolicy: Never, containers: [{name: main, image: "img:1", command: [python, train.py]}]}
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.acme.io}
spec:
  group: acme.io
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
"""


COUNT = 4
"""Number of files in a folder; in the tests' process, the cache is used from this number."""


def folder_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int = COUNT) -> Path:
    """Create enough files for the cache, some with findings, and a profile and a CRD, which are not linted."""
    monkeypatch.setattr(judge, "MIN_FILES_TO_CACHE", count)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "ptcompile.toml").touch()
    (tmp_path / ".gitignore").write_text("profile/\ncrds/\ncache/\npackage/\n")
    (tmp_path / "pod.yaml").write_text(POD)
    for number in range(count - 1):
        body = "resources: {gpu: 8}\n" if number % 2 else "resources: {gpu: 1}\ncomand: x\n"
        (tmp_path / f"{number:02}.yaml").write_text(smallest(body, f"train-{number}"))
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile" / "cluster.yaml").write_text(
        "kind: ClusterProfile\napiVersion: ptcompile/v1\nspec: {}\n"
    )
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "crd.yaml").write_text(CRD)
    return tmp_path


class Counted(list[str]):
    """Names of the files that are linted in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        judge = lint.lint_inputs

        def counted(inputs: Inputs, *rest: Any, **named: Any) -> lint.Report:
            self.append(str(inputs.filename))
            return judge(inputs, *rest, **named)

        monkeypatch.setattr(lint, "lint_inputs", counted)
