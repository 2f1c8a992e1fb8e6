"""What runs without a native module for which a platform may have no wheel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import ROOT, Ran

WITHOUT = """\
import sys
names = sys.argv.pop(1).split(",")
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in names or name in names:
            raise ImportError(f"no module {name}", name=name)
sys.meta_path.insert(0, Missing())
from ptcompile.cli import run
run()
"""
NATIVE = ("ryaml,ryaml._ryaml", "re2,_re2", "rpds", "cachebox", "yaml._yaml")
"""Native modules of the dependencies, but for pydantic's, without which nothing runs."""
POLICIES = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  minAvailable: 1
  policies: [{event: PodFailed, action: RestartJob}, {event: PodEvicted, action: RestartJob}]
  tasks:
  - {name: node, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "ghcr.io/a/b:1"}]}}}
"""
WIDGET = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.acme.io}
spec:
  group: acme.io
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: string, pattern: "^x+$"}}}}
---
apiVersion: acme.io/v1
kind: Widget
metadata: {name: a}
spec: {size: zz}
"""
SCHEMA = """{"x-kubernetes-group-version-kind": [{"group": "acme.io", "version": "v2", "kind": "Widget"}],
"type": "object", "properties": {"spec": {"required": ["size"]}}}"""


@pytest.fixture(params=NATIVE)
def missing(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(missing: str, *words: str | Path) -> Ran:
    command = [sys.executable, "-c", WITHOUT, missing, *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_lint_finds_what_it_finds_with_all_of_them(missing: str, tmp_path: Path) -> None:
    path = tmp_path / "widget.yaml"
    path.write_text(WIDGET, encoding="utf-8")
    assert run(missing, "lint", "--isolated", path) == run("none", "lint", "--isolated", path)


def test_diff_tells_the_same(missing: str, tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(POLICIES, encoding="utf-8")
    new.write_text(POLICIES.replace("PodFailed", "TaskFailed"), encoding="utf-8")
    assert run(missing, "diff", old, new) == run("none", "diff", old, new)


def test_a_user_s_schema_is_applied_or_its_absence_told(missing: str, tmp_path: Path) -> None:
    (tmp_path / "widget.json").write_text(SCHEMA, encoding="utf-8")
    path = tmp_path / "widget.yaml"
    path.write_text(
        "apiVersion: acme.io/v2\nkind: Widget\nmetadata: {name: a}\nspec: {}\n", encoding="utf-8"
    )
    ran = run(missing, "lint", "--isolated", "--schemas", tmp_path / "widget.json", path)
    if missing == "rpds":
        assert "warning[PTC591" in ran.out
        assert "was not applied: rpds cannot be imported" in ran.out
    else:
        assert ran == run("none", "lint", "--isolated", "--schemas", tmp_path / "widget.json", path)
