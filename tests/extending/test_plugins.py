"""Plugins, each in a separate process: the example plugin, laid out as pip would, and broken ones.

Two tests are skipped unless pip has installed the example plugin, as in `.ci/adapters`.
"""

from __future__ import annotations

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

import ptcompile
from ptcompile.extending.plugins import GROUPS
from tests.extending.installing import install, install_example, ran

RULES, PASSES, TARGETS = GROUPS
_with_example = pytest.mark.skipif(
    find_spec("acme_ptcompile") is None, reason="the example plugin is not installed"
)
SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata:
  name: train
  namespace: team-a
spec:
  image: registry.acme.example/train:1
  script: train.py
  nodes: 2
"""
LABELLED = SPEC.replace("team-a\n", "team-a\n  labels:\n    acme.example/team: b\n")
RULE = "Rule('{code}', '{name}', check, severity='error')"
MODULE = "from ptcompile.extending import Found, Rule\ndef check(one, others):\n    {body}\nRULES = ({rules},)\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "spec.yaml").write_text(SPEC, encoding="utf-8")
    return tmp_path


def _named(place: Path, *names: str) -> None:
    (place / "repo" / "ptcompile.toml").write_text(
        f"plugins = {json.dumps(names)}\n", encoding="utf-8"
    )


@pytest.fixture
def example(place: Path) -> Path:
    install_example(place / "packages")
    _named(place, "acme-ptcompile")
    return place


def _install_plugin(
    place: Path, body: str, rules: str = RULE.format(code="ACME001", name="acme-one")
) -> Path:
    module = MODULE.format(body=body, rules=rules)
    install(
        place / "packages",
        "acme",
        {RULES: {"ACME": "acme_rules:RULES"}},
        {"acme_rules.py": module},
        "2.0",
    )
    _named(place, "acme")
    return place


def test_the_command_lists_installed_plugins(example: Path) -> None:
    done = ran(example / "packages", example / "repo", "plugins")
    assert (
        done.stdout
        == "acme-ptcompile 1.0.0\n  rules    ACME\n  passes   cost_center\n  targets  appwrapper\n"
    )
    (example / "repo" / "ptcompile.toml").unlink()
    done = ran(example / "packages", example / "repo", "plugins")
    assert "not named in the configuration" in done.stdout
    (rule,) = json.loads(
        ran(example / "packages", example / "repo", "plugins", "--format", "json").stdout
    )
    assert rule["name"] == "acme-ptcompile"
    assert rule["version"] == "1.0.0"
    assert rule["rules"] == ["ACME"]
    assert rule["used"] is False


def test_a_plugin_that_is_not_named_does_nothing(example: Path) -> None:
    (example / "repo" / "ptcompile.toml").unlink()
    plain, beside = (
        ran(None, example / "repo", "spec.yaml"),
        ran(example / "packages", example / "repo", "spec.yaml"),
    )
    assert beside.stdout == plain.stdout
    assert (
        ran(
            example / "packages", example / "repo", "spec.yaml", "--target", "appwrapper"
        ).returncode
        == 2
    )


def test_a_plugin_s_pass_runs_only_if_configured(example: Path) -> None:
    for words in (
        ("spec.yaml",),
        ("spec.yaml", "--no-lint"),
        ("simulate", "spec.yaml", "--format", "json"),
    ):
        done = ran(example / "packages", example / "repo", *words)
        assert done.returncode == 0, done.stderr
    assert "acme.example/team: a" in ran(example / "packages", example / "repo", "spec.yaml").stdout
    (example / "repo" / "spec.yaml").write_text(
        LABELLED.replace("team: b", "team: null"), encoding="utf-8"
    )
    assert (
        "acme.example/team" not in ran(example / "packages", example / "repo", "spec.yaml").stdout
    )


def test_explain_names_its_pass(example: Path) -> None:
    done = ran(example / "packages", example / "repo", "explain", "spec.yaml", "metadata.labels")
    assert "written by  the pass cost_center" in done.stdout
    assert "metadata.namespace" in done.stdout
    done = ran(example / "packages", example / "repo", "explain", "spec.yaml", "--html", "-")
    assert "cost_center" in done.stdout


def test_a_plugin_s_target_emits_only_if_configured(example: Path) -> None:
    done = ran(example / "packages", example / "repo", "spec.yaml", "--target", "appwrapper")
    assert "kind: AppWrapper" in done.stdout
    assert "kind: JobSet" in done.stdout
    done = ran(example / "packages", example / "repo", "spec.yaml", "--target", "appwraper")
    assert (done.returncode, done.stderr) == (
        2,
        "ptcompile: no target 'appwraper'; did you mean appwrapper?\n",
    )
    done = ran(
        example / "packages",
        example / "repo",
        "diff",
        "spec.yaml",
        "spec.yaml",
        "--target",
        "appwrapper",
    )
    assert done.returncode == 0, done.stderr
    text = SPEC.replace("  nodes: 2\n", "  nodes: 2\n  target: appwrapper\n")
    (example / "repo" / "spec.yaml").write_text(text, encoding="utf-8")
    assert "kind: AppWrapper" in ran(example / "packages", example / "repo", "spec.yaml").stdout


def test_a_plugin_s_rule_reports_and_fixes(example: Path) -> None:
    path = example / "repo" / "spec.yaml"
    path.write_text(LABELLED, encoding="utf-8")
    packages, repo = example / "packages", example / "repo"
    done = ran(packages, repo, "lint", "spec.yaml", "--output-format", "concise")
    assert done.returncode == 1
    assert done.stdout.startswith("spec.yaml:7:24: error ACME001 team-namespace: ")
    assert len(done.stdout.splitlines()) == 1
    full = ran(packages, repo, "lint", "spec.yaml").stdout
    assert "  = fails at run time (rule of plugin acme-ptcompile)\n" in full
    for words in (
        ("--ignore", "ACME"),
        ("--ignore", "team-namespace"),
        ("--select", "PTC3"),
        ("--isolated",),
    ):
        assert ran(packages, repo, "lint", "spec.yaml", *words).returncode == 0, words
    assert ran(packages, repo, "lint", "spec.yaml", "--select", "ACME0").returncode == 1
    sarif = json.loads(ran(packages, repo, "lint", "spec.yaml", "--output-format", "sarif").stdout)[
        "runs"
    ][0]
    assert [rule["id"] for rule in sarif["tool"]["driver"]["rules"]] == ["ACME001"]
    assert "Fix: give the label" in sarif["tool"]["driver"]["rules"][0]["help"]["markdown"]
    done = ran(packages, repo, "explain", "ACME001")
    assert done.stdout.startswith(
        "ACME001 team-namespace  (error, stage run, ptcompile)\n\nA job's team label"
    )
    assert "did you mean ACME001?" in ran(packages, repo, "explain", "ACME011").stderr
    assert [
        rule["code"]
        for rule in json.loads(ran(packages, repo, "rules", "--output-format", "json").stdout)
    ][-1] == ("ACME001")
    assert ran(packages, repo, "lint", "spec.yaml", "--fix", "--unsafe-fixes").returncode == 0
    assert "acme.example/team: a" in path.read_text(encoding="utf-8")


def test_code_of_the_repository_is_never_loaded(place: Path) -> None:
    """The repository contains plugin metadata and modules with the names of installed plugins' modules."""
    _install_plugin(place, "return []")
    repo = place / "repo"
    evil = "raise SystemExit('code of the repository ran')\n"
    install(
        repo,
        "evil",
        {RULES: {"EVIL": "evil_rules:RULES"}},
        {"evil_rules.py": evil, "acme_rules.py": evil},
        "1.0",
    )
    for name in ("json.py", "tomllib.py", "cel.py", "pathspec.py"):
        (repo / name).write_text(evil, encoding="utf-8")
    for module in (True, False):
        done = ran(
            place / "packages", repo, "lint", "spec.yaml", module=module, env={"PYTHONSAFEPATH": ""}
        )
        assert done.returncode == 0, done.stderr
        assert "the repository" not in done.stderr, done.stderr
        _named(place, "evil")
        done = ran(
            place / "packages", repo, "lint", "spec.yaml", module=module, env={"PYTHONSAFEPATH": ""}
        )
        assert done.returncode == 2, done.stderr
        assert "plugin 'evil' is not installed" in done.stderr, done.stderr
        _named(place, "acme")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            RULE.format(code="OTHER001", name="a-b"),
            "must begin with ACME, the name of the entry point",
        ),
        (RULE.format(code="ACME1", name="a-b"), "2 to 8 capital letters"),
        (
            RULE.format(code="ACME001", name="missing-shm"),
            "missing-shm is already used by ptcompile",
        ),
        ("1", "rules must be a tuple of ptcompile.extending.Rule"),
        ("1/0", "ZeroDivisionError: division by zero"),
        ("exit(3)", "SystemExit: 3"),
        ("missing_name", "NameError: name 'missing_name' is not defined"),
    ],
)
def test_a_broken_plugin_is_explained(place: Path, rules: str, message: str) -> None:
    _install_plugin(place, "return []", rules)
    _assert_broken(ran(place / "packages", place / "repo", "lint", "spec.yaml"), message)


def _assert_broken(done: subprocess.CompletedProcess[str], message: str) -> None:
    assert done.returncode == 2, done.args
    assert "plugin 'acme' 2.0 is broken (ptcompile.rules ACME = acme_rules:RULES): " in done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("rules", ["1/0", "exit(3)"])
def test_a_broken_plugin_stops_every_command_that_needs_it(place: Path, rules: str) -> None:
    _install_plugin(place, "return []", rules)
    for words in (("spec.yaml",), ("plugins",), ("explain", "ACME001"), ("rules",)):
        _assert_broken(
            ran(place / "packages", place / "repo", *words),
            "ZeroDivisionError" if "/" in rules else "Exit",
        )
    assert (
        ran(place / "packages", place / "repo", "lint", "spec.yaml", "--isolated").returncode == 0
    )


def test_missing_and_invalid_plugins_are_reported(place: Path) -> None:
    install(place / "packages", "other", {"console_scripts": {"x": "y:z"}}, {}, "1.0")
    _install_plugin(place, "return []")
    _named(place, "acm", "other")
    done = ran(place / "packages", place / "repo", "lint", "spec.yaml")
    assert done.returncode == 2
    assert "plugin 'acm' is not installed; did you mean acme?" in done.stderr
    assert "plugin 'other' 1.0 is not a plugin" in done.stderr


def test_two_plugins_cannot_share_a_name(example: Path) -> None:
    install(
        example / "packages",
        "zeta",
        {PASSES: {"cost_center": "zeta:run"}},
        {"zeta.py": "def run(j, c): return j"},
        "3",
    )
    _named(example, "acme-ptcompile", "zeta")
    done = ran(example / "packages", example / "repo", "spec.yaml")
    assert done.returncode == 2
    assert "pass cost_center is already used by acme-ptcompile 1.0.0" in done.stderr


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise RuntimeError('no\\x1bway')", "rule ACME001 (acme-one) failed: RuntimeError"),
        ("yield 3", "check must yield Found(path, message), not int"),
        ("return None", "TypeError"),
    ],
)
def test_a_rule_that_fails_is_a_finding_and_status_2(place: Path, body: str, message: str) -> None:
    _install_plugin(place, body)
    done = ran(
        place / "packages", place / "repo", "lint", "spec.yaml", "--output-format", "concise"
    )
    assert done.returncode == 2
    assert "PTC903" in done.stdout
    assert message in done.stdout


@pytest.mark.parametrize("body", ["raise KeyError('x')", "return None"])
def test_a_pass_that_fails_writes_nothing(place: Path, body: str) -> None:
    module = f"def run(job, context):\n    {body}\n"
    install(
        place / "packages",
        "acme",
        {PASSES: {"mine": "acme_pass:run"}},
        {"acme_pass.py": module},
        "1",
    )
    _named(place, "acme")
    done = ran(place / "packages", place / "repo", "spec.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pass mine failed" in done.stderr


def test_a_target_that_fails_writes_nothing(place: Path) -> None:
    module = (
        "from ptcompile.extending import target_named\n"
        "T = target_named('job')._replace(name='mine', emit=lambda job, cluster: 1 / 0)\n"
    )
    install(
        place / "packages",
        "acme",
        {TARGETS: {"mine": "acme_target:T"}},
        {"acme_target.py": module},
        "1",
    )
    _named(place, "acme")
    done = ran(place / "packages", place / "repo", "spec.yaml", "--target", "mine")
    assert (done.returncode, done.stdout) == (2, "")
    assert "target mine failed: ZeroDivisionError" in done.stderr
    assert ran(place / "packages", place / "repo", "spec.yaml", "--target", "job").returncode == 0


@_with_example
def test_pip_s_entry_points_are_found(tmp_path: Path) -> None:
    (plugin,) = ptcompile.plugins()
    assert plugin == ("acme-ptcompile", "1.0.0", ("ACME",), ("cost_center",), ("appwrapper",))
    (tmp_path / "ptcompile.toml").write_text('plugins = ["acme-ptcompile"]\n', encoding="utf-8")
    (tmp_path / "spec.yaml").write_text(LABELLED, encoding="utf-8")
    done = ran(None, tmp_path, "lint", "spec.yaml", "--output-format", "json")
    assert (
        done.returncode,
        [diagnostic["code"] for diagnostic in json.loads(done.stdout)["diagnostics"]],
    ) == (
        1,
        ["ACME001"],
    )


@_with_example
@pytest.mark.parametrize("name", ["acme-ptcompile", "Acme_PTcompile"])
def test_plugins_are_loaded_by_name_in_python(name: str) -> None:
    extensions = ptcompile.extensions(plugins=[name])
    assert extensions.plugins == (("acme-ptcompile", "1.0.0"),)
    assert [
        diagnostic.code
        for diagnostic in ptcompile.lint(LABELLED, extensions=extensions).diagnostics
    ] == ["ACME001"]
    made = ptcompile.compile(SPEC, target="appwrapper", extensions=extensions)
    assert [manifest["kind"] for manifest in made.manifests] == ["AppWrapper"]
    assert ptcompile.rules(extensions=extensions)[-1]["code"] == "ACME001"
    (pod, *_) = ptcompile.simulate(SPEC, target="job", extensions=extensions).pods
    assert pod.name.startswith("train-0")
