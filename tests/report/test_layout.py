"""The sentence in which text reports say what a finding leads to."""

from __future__ import annotations

import ast
import json
import shlex
from typing import Any, get_args

import pytest

import ptcompile
from ptcompile._internal import limits
from ptcompile.diagnostics import Diagnostic, Span
from ptcompile.diagnostics.codes import CODES, EFFECTS
from ptcompile.diagnostics.terms import Authority, Effect, Severity, Stage
from ptcompile.linter import Rule, every_rule
from ptcompile.report.layout import (
    consequence,
    format_json,
    format_location,
    format_origin,
    outcome,
    safe_text,
    shell_quote,
    shorten,
    sort_by_location,
    table,
    template_instead_of_file,
    with_label,
)
from ptcompile.report.text import lines_to_quote
from ptcompile.source.secrets import masking
from tests import sources
from tests.small_cases import check_each

RULES = sorted((rule for rule in every_rule() if rule.stage == "run"), key=lambda rule: rule.name)
IDLE = Diagnostic("PTC104", "idle-gpus", "warning", "x", None, (), None, "run", "torchrun")
CUSTOM = Diagnostic(
    "ACME001",
    "cost-center",
    "error",
    "x",
    None,
    (),
    None,
    "style",
    "ptcompile",
    owner="rule of ptcompile.toml",
)


def names_at_run() -> set[str]:
    """Return the names that calls in the package combine with the stage `run`."""
    names: set[str] = set()
    for module in sources.package().values():
        for call in ast.walk(module.tree):
            if isinstance(call, ast.Call):
                values = [
                    *call.args,
                    *(keyword.value for keyword in call.keywords if keyword.arg == "stage"),
                ]
                texts = {value.value for value in values if isinstance(value, ast.Constant)}
                names |= {name for name in CODES if name in texts} if "run" in texts else set()
    return names


def test_every_name_of_stage_run_has_an_effect() -> None:
    names = {rule.name for rule in RULES} | names_at_run()
    assert len(names) > 200
    assert sorted(names - EFFECTS.keys()) == [], (
        "add them to codes.EFFECTS: what does the finding lead to?"
    )


def test_every_effect_belongs_to_a_code_in_use() -> None:
    assert EFFECTS.keys() <= CODES.keys()
    assert set(EFFECTS.values()) == set(get_args(Effect))


def check_certainty(rule: Rule) -> None:
    certain = outcome(rule.name, "error", "run").startswith(
        ("fails", "never", "does not", "wastes", "runs slower")
    )
    assert not certain or outcome(rule.name, "warning", "run").startswith("may ")


def test_only_errors_are_certain() -> None:
    check_each(RULES, check_certainty, name=lambda rule: rule.name)


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
def test_each_finding_has_its_consequence(
    name: str, severity: Severity, stage: Stage, authority: Authority, expected: str
) -> None:
    finding = IDLE._replace(name=name, severity=severity, stage=stage, authority=authority)
    assert consequence(finding) == f"{expected} ({authority})"


def test_a_large_spec_does_not_compile() -> None:
    finding = IDLE._replace(
        name="too-large", severity="error", stage="apply", authority="ptcompile"
    )
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


@pytest.mark.parametrize(
    "text", [BROKEN, DUPLICATE, BROKEN.replace("TrainingJob", "ClusterProfile")]
)
def test_a_spec_that_is_not_yaml_does_not_compile(text: str) -> None:
    reports = [ptcompile.lint(text).diagnostics, ptcompile.compile(text).diagnostics]
    for finding in (
        next(d for d in diagnostics if d.code in ("PTC001", "PTC003")) for diagnostics in reports
    ):
        assert consequence(finding) == "it does not compile (ptcompile)"


def test_a_profile_that_is_not_yaml_does_not_compile() -> None:
    spec = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: x}\nspec: {image: a, script: t.py}\n"
    (finding,) = ptcompile.compile(
        spec, cluster=BROKEN.replace("TrainingJob", "ClusterProfile")
    ).diagnostics
    assert consequence(finding) == "it does not compile (ptcompile)"


def test_a_manifest_that_is_not_yaml_is_rejected_when_it_is_created() -> None:
    (finding,) = ptcompile.lint(
        BROKEN.replace("ptcompile/v1", "batch/v1").replace("TrainingJob", "Job")
    ).diagnostics
    assert consequence(finding) == "rejected when it is applied (kube-apiserver)"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a ##vso[x]", "a #\\x23vso[x]"),
        ("##[error]x", "#\\x23[error]x"),
        ("## heading", "## heading"),
        ("::error::x", "\\x3a:error::x"),
        ("a::b", "a::b"),
        ("a\x1b[1m", "a\\x1b[1m"),
        ("plain", "plain"),
    ],
)
def test_a_user_s_text_controls_neither_terminal_nor_runner(text: str, safe: str) -> None:
    assert safe_text(text) == safe


def test_only_the_first_line_has_the_label() -> None:
    assert with_label("pods", ["1", "2"]) == ["  pods         1", "               2"]
    assert with_label("pods", []) == []


def _at(filename: str | None, line: int | None = None, **fields: Any) -> Diagnostic:
    span = None if line is None else Span(line, 3, line, 5)
    return IDLE._replace(filename=filename, span=span, **fields)


def test_findings_are_sorted_by_file_position_document_and_code() -> None:
    """Files keep their order of appearance; a finding without a position comes first in its file."""
    ordered = [
        _at("b", None), _at("b", 2), _at("b", 10), _at("a", 1, document=0), _at("a", 1, document=1, code="PTC001"),
        _at("a", 1, document=1, code="PTC105"),
    ]  # fmt: skip
    assert sort_by_location([ordered[i] for i in (2, 5, 3, 1, 4, 0)]) == ordered


@pytest.mark.parametrize(
    ("diagnostic", "location", "template"),
    [
        (_at("a.yaml", 4), "a.yaml:4:3", None),
        (_at("a.yaml"), "a.yaml", None),
        (_at(None, 4), "<input>:4:3", None),
        (_at("a.yaml", 4, template="t.yaml"), "a.yaml:4:3", None),
        (_at("<stdin>", 4, template="t.yaml"), "<stdin>:4:3", "t.yaml"),
        (_at(None, template="t.yaml"), "<input>", "t.yaml"),
    ],
)
def test_a_finding_is_located_in_its_file_or_template(
    diagnostic: Diagnostic, location: str, template: str | None
) -> None:
    assert format_location(diagnostic) == location
    assert template_instead_of_file(diagnostic) == template
    assert format_origin(diagnostic) == (f" ({diagnostic.template})" if diagnostic.template else "")


def test_json_is_ascii_and_equal_to_the_data() -> None:
    data = {"a": "##vso[task]", "b": ["\u00e9", 1, None]}
    text = format_json(data)
    assert text.isascii()
    assert "##vso[" not in text
    assert text.endswith("}\n")
    assert json.loads(text) == data
    assert text.splitlines()[1].startswith('  "a"')


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table(
        [("a", "bbb", "c"), ("aaa", "b", "ccc"), ("a", "last cell of its row is free")], ""
    ) == [
        "a    bbb  c",
        "aaa  b    ccc",
        "a    last cell of its row is free",
    ]
    assert table([("a", ""), ("b", "")]) == ["  a", "  b"]
    assert table([]) == []


def test_texts_are_cut_with_an_ellipsis() -> None:
    assert [shorten("abcd", width) for width in (5, 4, 3)] == ["abcd", "abcd", "ab\u2026"]


def test_a_label_precedes_the_first_line() -> None:
    assert with_label("rank", ["a", "b"]) == ["  rank         a", "               b"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["torchrun", "--nnodes=2", "a@b%c+d:e,f./g_h"], "torchrun --nnodes=2 a@b%c+d:e,f./g_h"),
        (["a b", "", "$X", "it's"], "'a b' '' '$X' 'it'\"'\"'s'"),
        (["a;b", "*"], "'a;b' '*'"),
        ([], ""),
    ],
)
def test_words_are_quoted_for_a_shell(words: list[str], line: str) -> None:
    assert shell_quote(words) == line
    assert shlex.split(line) == words


def test_only_the_beginning_of_a_file_above_a_limit_is_searched_for_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED._replace(characters=1 << 17)])
    lengths: list[int] = []

    def masked(text: str, quoted: object = None, parsed: object = None) -> list[str]:
        lengths.append(len(text))
        return text.split("\n")

    monkeypatch.setattr(masking, "masked_lines", masked)
    for text in ("a: [\n" * 1_000, "a: 1\n" * 60_000, "password: hunter2" * 20_000):
        lines_to_quote(ptcompile.lint(text).diagnostics, text, None)
    assert lengths == [5_000, 1 << 16, 1 << 16]
