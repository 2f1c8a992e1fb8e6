"""The sentence in which text reports say what a finding leads to."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

import ptcompile
from ptcompile.diagnostics import Diagnostic
from ptcompile.diagnostics.codes import CODES, EFFECTS
from ptcompile.diagnostics.terms import Authority, Effect, Severity, Stage
from ptcompile.linter import Rule, every_rule
from ptcompile.report.layout import consequence, outcome

RULES = sorted((rule for rule in every_rule() if rule.stage == "run"), key=lambda rule: rule.name)
IDLE = Diagnostic("PTC104", "idle-gpus", "warning", "x", None, (), None, "run", "torchrun")
CUSTOM = Diagnostic(
    "ACME001", "cost-center", "error", "x", None, (), None, "style", "ptcompile", owner="rule of ptcompile.toml"
)


def names_at_run() -> set[str]:
    """Return the names that calls in the package combine with the stage `run`."""
    names: set[str] = set()
    for path in Path(ptcompile.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call):
                values = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "stage")]
                texts = {value.value for value in values if isinstance(value, ast.Constant)}
                names |= {name for name in CODES if name in texts} if "run" in texts else set()
    return names


def test_every_name_of_stage_run_has_an_effect() -> None:
    names = {rule.name for rule in RULES} | names_at_run()
    assert len(names) > 200
    assert sorted(names - EFFECTS.keys()) == [], "add them to codes.EFFECTS: what does the finding lead to?"


def test_every_effect_belongs_to_a_code_in_use() -> None:
    assert EFFECTS.keys() <= CODES.keys()
    assert set(EFFECTS.values()) == set(get_args(Effect))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_only_errors_are_certain(rule: Rule) -> None:
    certain = outcome(rule.name, "error", "run").startswith(("fails", "never", "does not", "wastes", "runs slower"))
    assert not certain or outcome(rule.name, "warning", "run").startswith("may ")


@pytest.mark.parametrize(
    ("name", "severity", "stage", "authority", "expected"),
    [
        ("idle-gpus", "warning", "run", "torchrun", "may waste resources"),
        ("more-processes-than-gpus", "error", "run", "torchrun", "fails at run time"),
        ("best-effort-gpus", "warning", "run", "kubelet", "puts the job at risk"),
        ("latest-image", "warning", "run", "kubelet", "puts the job at risk"),
        ("partial-fabric", "warning", "run", "ptcompile", "may run slower than it could"),
        ("same-image-beside", "warning", "run", "ptcompile", "may not run as intended"),
        ("unsatisfiable-node-affinity", "error", "run", "ptcompile", "never starts"),
        ("larger-than-any-node", "warning", "run", "ptcompile", "may never start"),
        ("standalone-on-many-pods", "error", "run", "torchrun", "does not train as one job"),
        ("launch-not-understood", "note", "run", "ptcompile", "is not checked"),
        ("queue-without-requests", "note", "run", "kueue", "it works"),
        ("secret-in-env", "warning", "style", "ptcompile", "is a security risk"),
        ("unrendered-template", "note", "style", "ptcompile", "is not checked"),
        ("bad-ignore", "warning", "style", "ptcompile", "ignores no finding"),
        ("renamed-env", "warning", "style", "ptcompile", "it works"),
        ("spec-unknown-field", "error", "apply", "ptcompile", "it does not compile"),
        ("word-without-effect", "warning", "apply", "ptcompile", "it compiles"),
        ("too-large", "error", "apply", "ptcompile", "is not checked"),
        ("required-value", "error", "apply", "kube-apiserver", "rejected when it is applied"),
        ("misspelt-runtime", "warning", "apply", "trainer", "may be rejected when it is applied"),
        ("exceeds-quota", "error", "pod", "kube-apiserver", "accepted, but its pods are rejected"),
        ("image-placeholder", "note", "pod", "kubelet", "accepted, but its pods may be rejected"),
    ],
)
def test_sentence(name: str, severity: Severity, stage: Stage, authority: Authority, expected: str) -> None:
    finding = IDLE._replace(name=name, severity=severity, stage=stage, authority=authority)
    assert consequence(finding) == f"{expected} ({authority})"


def test_a_large_spec_does_not_compile() -> None:
    finding = IDLE._replace(name="too-large", severity="error", stage="apply", authority="ptcompile")
    assert consequence(finding._replace(blocks_compile=True)) == "it does not compile (ptcompile)"


@pytest.mark.parametrize(
    ("stage", "authority", "expected"),
    [
        ("style", "ptcompile", "rule of ptcompile.toml"),
        ("run", "ptcompile", "fails at run time (rule of ptcompile.toml)"),
        ("apply", "ptcompile", "rejected when it is applied (rule of ptcompile.toml)"),
        ("apply", "kueue", "rejected when it is applied (kueue, rule of ptcompile.toml)"),
    ],
)
def test_custom_rule_names_its_owner(stage: Stage, authority: Authority, expected: str) -> None:
    assert consequence(CUSTOM._replace(stage=stage, authority=authority)) == expected


BROKEN = 'apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: x\nspec: {image: "a"}\n'
DUPLICATE = "apiVersion: ptcompile/v1\nkind: TrainingJob\nkind: TrainingJob\nmetadata: {name: x}\n"


@pytest.mark.parametrize("text", [BROKEN, DUPLICATE, BROKEN.replace("TrainingJob", "ClusterProfile")])
def test_a_spec_that_is_not_yaml_does_not_compile(text: str) -> None:
    reports = [ptcompile.lint(text).diagnostics, ptcompile.compile(text).diagnostics]
    for finding in (next(d for d in diagnostics if d.code in ("PTC001", "PTC003")) for diagnostics in reports):
        assert consequence(finding) == "it does not compile (ptcompile)"


def test_a_profile_that_is_not_yaml_does_not_compile() -> None:
    spec = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: x}\nspec: {image: a, script: t.py}\n"
    (finding,) = ptcompile.compile(spec, cluster=BROKEN.replace("TrainingJob", "ClusterProfile")).diagnostics
    assert consequence(finding) == "it does not compile (ptcompile)"


def test_a_manifest_that_is_not_yaml_is_rejected_when_it_is_created() -> None:
    (finding,) = ptcompile.lint(BROKEN.replace("ptcompile/v1", "batch/v1").replace("TrainingJob", "Job")).diagnostics
    assert consequence(finding) == "rejected when it is applied (kube-apiserver)"
