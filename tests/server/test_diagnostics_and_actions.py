"""Diagnostics, and the code actions for them."""

from __future__ import annotations

import pytest
from lsprotocol.types import CodeAction, DiagnosticSeverity, Position, Range

import ptcompile
from ptcompile.api.options import LintOptions
from ptcompile.diagnostics.selection import selection
from ptcompile.linter import every_rule
from ptcompile.linter.pages import rule_page
from ptcompile.linter.rule import Rule
from ptcompile.server.diagnostics import FIX_ALL, actions, diagnostics, text_edits
from ptcompile.server.document import OpenDocument
from ptcompile.server.workspace import FileSettings
from tests.server.making import POD, SPEC, elsewhere, opened

EVERYWHERE = Range(Position(0, 0), Position(1000, 0))


def applied(document: OpenDocument, action: CodeAction) -> str:
    """Return the text after an action."""
    assert action.edit is not None
    assert action.edit.changes is not None
    text = document.text
    for edit in reversed(action.edit.changes[document.uri]):
        start, end = document.lines.offset(edit.range.start), document.lines.offset(edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


def fix(document: OpenDocument, title: str) -> str:
    (action,) = [
        action for action in actions(document, EVERYWHERE, None, None) if title in action.title
    ]
    return applied(document, action)


def test_a_finding_has_its_code_its_link_and_its_help() -> None:
    (diagnostic,) = diagnostics(opened(SPEC.replace("  nodes:", "  noodes:")))
    assert (diagnostic.code, diagnostic.source, diagnostic.severity) == (
        "PTC021",
        "ptcompile",
        DiagnosticSeverity.Error,
    )
    assert diagnostic.message.endswith("\nhelp: did you mean nodes?")
    assert diagnostic.code_description is not None
    assert diagnostic.code_description.href.endswith("/codes/PTC021/")
    assert (diagnostic.range.start, diagnostic.range.end) == (Position(6, 2), Position(6, 8))


def test_the_findings_are_those_of_lint() -> None:
    for rule in every_rule()[:40]:
        text = rule_page(rule).bad
        found = [(diagnostic.code, diagnostic.message) for diagnostic in diagnostics(opened(text))]
        wanted = [
            (d.code, f"{d.message}\nhelp: {d.help}" if d.help else d.message)
            for d in ptcompile.lint(text).diagnostics
        ]
        assert found == wanted


def test_a_value_of_many_lines_is_marked_at_its_key() -> None:
    text = POD.replace(
        "    emptyDir: {}", "    emptyDir:\n      sizeLimit:\n        a: 1\n        b: 2\n"
    )
    reported = diagnostics(opened(text))
    assert reported
    for diagnostic in reported:
        assert diagnostic.range.start.line == diagnostic.range.end.line


def test_findings_of_several_documents_are_at_their_lines() -> None:
    wrong = POD.replace("restartPolicy: Never", "restartPolicy: Nver")
    reported = diagnostics(opened(f"{POD}---\n{wrong}---\n{SPEC}---\n{wrong}"))
    lines = {finding.range.start.line for finding in reported if finding.code != "PTC109"}
    assert len(lines) >= 2


def test_a_text_that_cannot_be_parsed_has_an_error() -> None:
    (diagnostic,) = diagnostics(opened("apiVersion: v1\nkind: Pod\nspec: [a, b\n"))
    assert diagnostic.severity == DiagnosticSeverity.Error


def test_settings_decide_the_findings() -> None:
    wrong = SPEC.replace("  nodes:", "  noodes:")
    assert not diagnostics(opened(wrong, settings=FileSettings(excluded=True)))
    odd = POD.replace("{name: train}", "{name: train, nme: x}")
    assert diagnostics(opened(odd))
    assert not diagnostics(
        opened(odd, settings=FileSettings(LintOptions(selection=selection(None, ["PTC501"]))))
    )
    warning, *findings = diagnostics(
        opened(wrong, settings=FileSettings(error="the configuration is wrong"))
    )
    assert (warning.message, warning.severity) == (
        "the configuration is wrong",
        DiagnosticSeverity.Warning,
    )
    assert findings == diagnostics(opened(wrong))


def test_objects_of_other_files_are_used() -> None:
    quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: default}\nspec: {hard: {pods: '0'}}\n"
    assert (
        len(diagnostics(opened(POD, elsewhere=elsewhere(quota))))
        == len(diagnostics(opened(POD))) + 1
    )


def test_a_fix_changes_only_the_fault() -> None:
    text = SPEC.replace("  nodes: 4", "  noodes: 4  # as many as fit")
    assert fix(opened(text), "PTC021: ") == SPEC.replace(
        "  nodes: 4", "  nodes: 4  # as many as fit"
    )


def test_a_misspelled_field_of_any_kind_has_a_fix() -> None:
    profile = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: a}\nspec: {verzions: {}}\n"
    assert "{versions: {}}" in fix(opened(profile), "PTC021: ")
    assert (
        fix(opened(POD.replace("restartPolicy:", "restartPolcy:")), "PTC501: write restartPolicy")
        == POD
    )
    gpus = SPEC.replace("resources: {cpu: 32, memory: 256Gi, gpu: 8}", "gpus: 8")
    assert "  resources:\n    gpu: 8\n" in fix(opened(gpus), "PTC021: ")


def test_shared_memory_that_is_switched_off_has_a_fix() -> None:
    text = SPEC.replace("  env:", "  sharedMemory: false\n  env:")
    assert fix(opened(text), "PTC302: remove sharedMemory: false") == SPEC


def test_a_finding_is_ignored_here() -> None:
    text = POD.replace("  containers:", "  nme: x\n  containers:")
    new = fix(opened(text), "ignore PTC501 here")
    assert "nme: x  # ptcompile: ignore[PTC501]\n" in new


@pytest.mark.parametrize(
    "text",
    [
        SPEC.replace("  nodes: 4", "  noodes: 4"),
        SPEC.replace("gpu: 8", "gpu: 0.5"),
        SPEC.replace("target: volcano", "target: none"),
    ],
)
def test_compile_errors_cannot_be_ignored_in_the_editor(text: str) -> None:
    """A comment would silence the editor, but the spec would still not compile."""
    document = opened(text)
    assert any(diagnostic.severity == "error" for diagnostic in document.report.diagnostics)
    assert not [
        action for action in actions(document, EVERYWHERE, None, None) if "ignore" in action.title
    ]


@pytest.mark.parametrize("rule", every_rule()[::4], ids=lambda rule: str(rule.name))
def test_fixes_of_every_fourth_rule_change_the_text(rule: Rule) -> None:
    text = rule_page(rule).bad
    document = opened(text)
    fixes = [
        action
        for action in actions(document, EVERYWHERE, None, None)
        if action.edit and "ignore" not in action.title
    ]
    fixable = [
        diagnostic for diagnostic in document.report.diagnostics if diagnostic.fix is not None
    ]
    assert bool(fixes) <= bool(fixable)
    for action in fixes:
        assert applied(document, action) != text


def test_one_action_applies_all_safe_fixes_on_request() -> None:
    text = POD.replace("{name: train}", "{name: train, annotations: {a: 1}}")
    text = text.replace("    image:", "    env: [{name: A, value: 2}]\n    image:")
    document = opened(text)
    assert FIX_ALL not in {action.kind for action in actions(document, EVERYWHERE, None, None)}
    (action,) = actions(document, Range(Position(0, 0), Position(0, 0)), {"source.fixAll"}, None)
    assert '{a: "1"}' in applied(document, action)
    assert applied(document, action) == ptcompile.fix(text).content.decode()


def test_only_requested_kinds_of_actions_are_offered() -> None:
    document = opened(SPEC.replace("  nodes:", "  noodes:"))
    assert actions(document, EVERYWHERE, {"refactor"}, None) == []
    assert {action.kind for action in actions(document, EVERYWHERE, {"quickfix"}, None)} == {
        "quickfix"
    }
    assert actions(document, Range(Position(0, 0), Position(1, 0)), None, None) == []


def test_an_edit_has_a_version_if_the_client_supports_it() -> None:
    action = actions(opened(SPEC.replace("  nodes:", "  noodes:")), EVERYWHERE, None, 7)[0]
    assert action.edit is not None
    (change,) = action.edit.document_changes or ()
    assert change.text_document.version == 7  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "new", ["", "a: 1\nb: 2\nc: 3\n", "b: 2\n", "a: 1\r\nx\u2028y: 2\n", "z\na: 1\nb: 2"]
)
def test_edits_turn_one_text_into_the_other(new: str) -> None:
    document = opened("a: 1\nb: 😀2\n")
    text = document.text
    for edit in reversed(list(text_edits(document, new))):
        start, end = document.lines.offset(edit.range.start), document.lines.offset(edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    assert text == new


@pytest.mark.parametrize("name", ["{{ .Release.Name }}", '"{{ .Release.Name }}-x"'])
def test_a_template_gets_a_note_without_an_edit(name: str) -> None:
    document = opened(f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\nspec: {{}}\n")
    assert [(d.code, d.severity) for d in diagnostics(document)] == [
        ("PTC076", DiagnosticSeverity.Information)
    ]
    assert not actions(document, EVERYWHERE, None, None)
    assert not actions(document, EVERYWHERE, [FIX_ALL], None)
