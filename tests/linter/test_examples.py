"""The examples of rule pages: whole, or the lines that they change in a base."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile
from ptcompile._internal import schema_files
from ptcompile.linter import every_rule
from ptcompile.linter.examples import example_files
from tests.conftest import ROOT

BASES = sorted((ROOT / "ptcompile" / "linter" / "bases").glob("*.yaml"))
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  restartPolicy: Never
  containers:
    - name: pytorch
      image: train:1
      command:
        - python
        - train.py
      resources:
        limits: {cpu: 8}
"""


@pytest.fixture(autouse=True)
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Put the pod above where the bases are."""
    if "path" not in request.fixturenames:
        (tmp_path / "linter" / "bases").mkdir(parents=True)
        (tmp_path / "linter" / "bases" / "pod.yaml").write_text(POD)
        monkeypatch.setattr(schema_files, "_PACKAGE", str(tmp_path))


def changed(*lines: str) -> tuple[str, str]:
    """Return both files of an example that changes the pod."""
    return example_files("\n".join(["pod.yaml with", "", *(f"    {line}" for line in lines), ""]))


def test_an_example_is_split_into_bad_and_good() -> None:
    text = "\n\n      kind: Pod\n    - a: 1  # <--\n    + a: 2\n\n"
    assert example_files(text) == ("kind: Pod\na: 1  # <--\n", "kind: Pod\na: 2\n")


def test_a_key_is_changed_where_the_base_has_it() -> None:
    bad, good = changed("- image: train  # <--", "+ image: train:2")
    assert bad == POD.replace("image: train:1", "image: train  # <--")
    assert good == POD.replace("train:1", "train:2")


def test_the_mark_of_a_good_line_is_dropped() -> None:
    bad, good = changed("  restartPolicy: Never  # <--", "- hostIPC: true", "+ hostIPC: false")
    never = "  restartPolicy: Never"
    assert bad == POD.replace(never, f"{never}  # <--\n  hostIPC: true")
    assert good == POD.replace(never, f"{never}\n  hostIPC: false")


def test_a_marked_line_of_the_base_keeps_what_is_below_it() -> None:
    bad, good = changed("- - name: pytorch  # <--", "+ - name: pytorch", "+   tty: true")
    assert bad == POD.replace("name: pytorch", "name: pytorch  # <--")
    assert good == POD + "      tty: true\n"


def test_lines_below_a_key_change_those_below_it() -> None:
    bad, _ = changed("  spec:", "    containers:", "      - name: pytorch", "-       tty: true")
    assert bad == POD + "      tty: true\n"


def test_a_new_key_comes_after_the_line_above_or_before_the_one_below() -> None:
    after, _ = changed("  image: train:1", "- env: []", "- args: []")
    assert after == POD.replace("train:1\n", "train:1\n      env: []\n      args: []\n")
    before, _ = changed("  spec:", "-   hostIPC: true", "    containers:")
    assert before == POD.replace("  containers", "  hostIPC: true\n  containers")


def test_a_named_item_is_changed_or_added() -> None:
    bad, _ = changed(
        "- - {name: pytorch, image: other}",
        "- - name: sidecar",
        "-   image: side:1",
        "+ image: other",
    )
    head, _ = POD.split("    - name: pytorch")
    items = "    - {name: pytorch, image: other}\n    - name: sidecar\n      image: side:1\n"
    assert bad == head + items


def test_other_lists_and_flow_mappings_are_replaced() -> None:
    bad, good = changed("- command:", "-   - torchrun", "-   - a.py", "+ resources: {}")
    assert bad == POD.replace("- python\n        - train.py", "- torchrun\n        - a.py")
    assert good == POD.replace("\n        limits: {cpu: 8}", " {}")


def test_empty_lines_of_a_script_stay() -> None:
    bad, _ = changed(
        "- image: other", "+ image: c", "- args:", "-   - |", "-     a: 1", "", "-     b: 2"
    )
    args = "      image: other\n      args:\n        - |\n          a: 1\n\n          b: 2\n"
    assert bad == POD.replace("      image: train:1\n", args)


def test_whole_documents_are_added() -> None:
    bad, good = changed(
        "+ apiVersion: v1",
        "+ kind: Service",
        "+ ---",
        "  image: other",
        "  ---",
        "  apiVersion: v1",
        "  kind: ConfigMap",
    )
    pod = POD.replace("train:1", "other") + "---\napiVersion: v1\nkind: ConfigMap\n"
    assert bad == pod
    assert good == f"apiVersion: v1\nkind: Service\n---\n{pod}"


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("tolerations: []", "tolerations"),
        ("image", ""),
        ("- python", ""),
        ("- name: sidecar", "- name: sidecar"),
    ],
)
def test_the_first_line_has_a_key_of_the_base(line: str, key: str) -> None:
    with pytest.raises(ValueError, match=rf"no key '{key}'"):
        changed(f"- {line}")


@pytest.mark.parametrize("path", BASES, ids=lambda path: path.stem)
def test_a_base_is_a_manifest_that_runs(path: Path) -> None:
    assert [d.message for d in ptcompile.lint(path).diagnostics if d.severity == "error"] == []


@pytest.mark.parametrize("path", BASES, ids=lambda path: path.stem)
def test_a_base_is_worth_its_file(path: Path) -> None:
    pages = [str(Path(ROOT, *rule.check.__module__.split("."))) for rule in every_rule()]
    heads = [f"\nExample: {path.name} with\n" in Path(f"{page}.py").read_text() for page in pages]
    assert sum(heads) >= 4
