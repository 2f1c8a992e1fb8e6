"""The commands as functions: they return the same text, and read and write nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import ptcompile
from ptcompile.cli.commands import COMMANDS
from ptcompile.linter import every_rule
from ptcompile.operators.targets import TARGETS
from tests.cli.running import here
from tests.conftest import ROOT
from tests.making import smallest

Capture = pytest.CaptureFixture[str]
LLM = ROOT / "examples" / "llm"
SPEC, CLUSTER = ((LLM / f"{name}.yaml").read_text(encoding="utf-8") for name in ("spec", "cluster"))
BAD = "kind: TrainingJob\napiVersion: ptcompile/v1\n"
SHARED = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, imge: x}]}\n"
)


def printed(capsys: Capture, *words: str | Path) -> str:
    ran = here(capsys, *words)
    assert ran.status == 0, ran.err
    return ran.out


def test_every_command_is_a_function() -> None:
    called = {"import": "import_manifests"}  # `import` is a Python keyword
    modules = {
        "flyte",
        "krm",
        "mcp",
        "server",
        "watch",
        "completion",
    }  # commands that are not functions
    assert [
        name for name in COMMANDS if called.get(name, name) not in {*ptcompile.__all__, *modules}
    ] == []


def test_no_function_has_the_name_of_a_module() -> None:
    """Importing a module would replace the function of the same name."""
    modules = {path.stem for path in (ROOT / "ptcompile").iterdir()}
    assert modules & {*ptcompile.__all__} == {"flyte"} & {*ptcompile.__all__}


def test_requires(capsys: Capture) -> None:
    for target in (None, "jobset"):
        words = ["--target", target] if target else []
        shown = printed(
            capsys, "requires", LLM / "spec.yaml", "--cluster", LLM / "cluster.yaml", *words
        )
        needed = ptcompile.requires(SPEC, cluster=CLUSTER, target=target)
        assert needed.text() == shown
        assert needed.ok
    assert "jobsets.jobset.x-k8s.io/v1alpha2" in {
        requirement.name for requirement in needed.requirements if requirement.kind == "crd"
    }


def test_requires_for_an_invalid_spec() -> None:
    needed = ptcompile.requires(BAD, filename="x.yaml")
    assert needed.requirements == ()
    assert not needed.ok
    assert {diagnostic.filename for diagnostic in needed.diagnostics} == {"x.yaml"}
    needed = ptcompile.requires(SPEC, cluster={"kind": "ClusterProfile", "x": 1})
    assert needed.requirements == ()
    assert not needed.ok


def test_platform_returns_what_the_command_prints(capsys: Capture) -> None:
    setup = ptcompile.platform(CLUSTER, [SPEC])
    assert setup.text() == printed(capsys, "platform", LLM / "cluster.yaml", LLM / "spec.yaml")
    assert setup.ok
    assert ptcompile.platform(CLUSTER).text() == printed(capsys, "platform", LLM / "cluster.yaml")
    assert ptcompile.platform().requirements


def test_platform_requires_nothing_for_an_invalid_spec() -> None:
    for setup in (ptcompile.platform(CLUSTER, [SPEC, BAD]), ptcompile.platform({"x": 1}, [SPEC])):
        assert setup.manifests == ()
        assert setup.values == {}
        assert setup.requirements == ()
        assert not setup.ok
    with pytest.raises(TypeError, match="specs"):
        ptcompile.platform(CLUSTER, SPEC)


def test_targets_returns_what_the_command_prints(capsys: Capture) -> None:
    targets = ptcompile.targets()
    assert targets.text() == printed(capsys, "targets")
    assert targets.to_dict() == json.loads(printed(capsys, "targets", "--format", "json"))
    assert list(targets.titles) == list(TARGETS)
    # the last line is about the facts
    assert len(targets.changes) + 1 == len(printed(capsys, "targets", "--versions").splitlines())


def test_rules_returns_what_the_command_prints(capsys: Capture) -> None:
    rules = ptcompile.rules()
    assert rules == json.loads(printed(capsys, "rules", "--output-format", "json"))
    assert {rule["name"] for rule in rules} == {rule.name for rule in every_rule()}
    assert all(rule["title"] and rule["bad"] and yaml.safe_load_all(rule["good"]) for rule in rules)


def test_schema_is_a_copy_of_one_s_own() -> None:
    for name in ("spec", "cluster", "report", "world", "diff", "explanation", "handle"):
        schema = ptcompile.schema(name)
        schema["title"] = "changed"
        assert ptcompile.schema(name) == json.loads(
            (ROOT / "schemas" / f"{name}.schema.json").read_text("utf-8")
        )
    with pytest.raises(KeyError):
        ptcompile.schema("nothing")


def test_init_returns_what_the_command_prints(capsys: Capture) -> None:
    for target in (None, *TARGETS):
        text = ptcompile.init(target)
        assert text == printed(capsys, "init", *(["--target", target] if target else []))
        assert ptcompile.compile(text).ok
    with pytest.raises(KeyError):
        ptcompile.init("slurm")


def test_check_writes_no_file(tmp_path: Path, capsys: Capture) -> None:
    now = ptcompile.compile(smallest("nodes: 2", name="a"), target="job").yaml()
    old = ptcompile.compile(smallest("nodes: 3", name="a"), target="job").yaml()
    gone = ptcompile.compile(smallest(name="gone"), target="pod").yaml()
    assert ptcompile.check({"a.yaml": now}, {"a.yaml": now.encode()}).ok
    beside = {
        "gone.yaml": gone.encode(),
        "notes.yaml": b"a: 1\n",
        "hand.yaml": gone.encode() + b"# by hand\n",
    }
    checked = ptcompile.check(
        {"a.yaml": now, "b.yaml": now}, {"a.yaml": old.encode(), "b.yaml": None}, beside
    )
    assert checked.found == (("stale", "a.yaml"), ("missing", "b.yaml"), ("orphaned", "gone.yaml"))
    for name, content in {"a.yaml": old.encode(), **beside}.items():
        (tmp_path / name).write_bytes(content)
    subprocess.run(
        ["git", "apply", "-p0", "-"], input=checked.patch.encode(), check=True, cwd=tmp_path
    )
    assert {
        path.name: path.read_text()
        for path in tmp_path.iterdir()
        if path.name in ("a.yaml", "b.yaml")
    } == {
        "a.yaml": now,
        "b.yaml": now,
    }
    assert not (tmp_path / "gone.yaml").exists()


def test_check_hides_secrets() -> None:
    now = ptcompile.compile(smallest("env: {HF_TOKEN: hunter2}"), target="pod").yaml()
    checked = ptcompile.check(
        {"a.yaml": now}, {"a.yaml": now.replace("hunter2", "hunter3").encode()}
    )
    assert not checked.ok
    assert "hunter" not in checked.patch


def test_fix_returns_what_the_command_writes(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(SHARED, encoding="utf-8")
    fixed = ptcompile.fix(SHARED, filename=str(path), unsafe=True)
    assert here(capsys, "lint", "--isolated", "--fix", "--unsafe-fixes", path).status in (0, 1)
    assert fixed.text == path.read_text(encoding="utf-8") == SHARED.replace("imge", "image")
    assert [diagnostic.name for diagnostic in fixed.applied] == ["unknown-field"]
    assert fixed.report == ptcompile.lint(fixed.content, filename=str(path))
    assert ptcompile.fix(SHARED.encode(), ignore=["unknown-field"], unsafe=True).text == SHARED


def test_unsafe_fixes_must_be_requested() -> None:
    rule = next(one for one in ptcompile.rules() if one["name"] == "too-little-parallelism")
    safe, unsafe = ptcompile.fix(rule["bad"]), ptcompile.fix(rule["bad"], unsafe=True)
    assert "too-little-parallelism" not in {diagnostic.name for diagnostic in safe.applied}
    assert "too-little-parallelism" in {diagnostic.name for diagnostic in unsafe.applied}


def test_unreadable_text_is_returned_unchanged() -> None:
    fixed = ptcompile.fix("a: [")
    assert (fixed.text, fixed.applied) == ("a: [", ())
    assert not fixed.report.ok


def test_importing_the_package_loads_no_verb() -> None:
    code = "import sys, ptcompile; print([m for m in sys.modules if m.startswith('ptcompile.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['ptcompile._internal', 'ptcompile._internal.about']\n"
