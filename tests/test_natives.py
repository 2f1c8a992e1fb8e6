"""What runs without a native module for which a platform may have no wheel."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

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


class Files(NamedTuple):
    """What the commands read."""

    widget: Path
    old: Path
    new: Path
    schema: Path
    other_widget: Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("files")
    texts = {
        "widget.yaml": WIDGET,
        "old.yaml": POLICIES,
        "new.yaml": POLICIES.replace("PodFailed", "TaskFailed"),
        "widget.json": SCHEMA,
        "other.yaml": "apiVersion: acme.io/v2\nkind: Widget\nmetadata: {name: a}\nspec: {}\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Files(*(folder / name for name in texts))


@cache
def run_with_all(*words: str | Path) -> Ran:
    """Run a command with all native modules, once for all that may be missing."""
    return run("none", *words)


def test_lint_finds_what_it_finds_with_all_of_them(missing: str, files: Files) -> None:
    words = ("lint", "--isolated", files.widget)
    assert run(missing, *words) == run_with_all(*words)


def test_diff_tells_the_same(missing: str, files: Files) -> None:
    words = ("diff", files.old, files.new)
    assert run(missing, *words) == run_with_all(*words)


def test_a_user_s_schema_is_applied_or_its_absence_told(missing: str, files: Files) -> None:
    words = ("lint", "--isolated", "--schemas", files.schema, files.other_widget)
    ran = run(missing, *words)
    if missing == "rpds":
        assert "warning[PTC591" in ran.out
        assert "was not applied: rpds cannot be imported" in ran.out
    else:
        assert ran == run_with_all(*words)
