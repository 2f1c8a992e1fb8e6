"""CONTRIBUTING.md#laws 7: no input raises an exception. Mutated, torn and random files give findings."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, example, given, strategies as st

from ptcompile import Result, compile, lint
from ptcompile.diagnostics import Diagnostic
from ptcompile.operators.targets import TARGETS
from ptcompile.source.emitter import emit_all
from tests.conftest import ALL, Case
from tests.strategies import GARBAGE, TEXT, mutated, profiles, specs

Json = dict[str, Any]

TARGET = st.sampled_from([None, *TARGETS])


@given(mutated(specs()), TARGET)
def test_law_7_holds_for_mutated_specs(spec: Json, target: str | None) -> None:
    _check_result(compile(spec, target=target))
    _check_result(compile(emit_all([spec]), target=target, filename="spec.yaml"))


@given(specs(), mutated(profiles()), TARGET)
def test_law_7_holds_for_mutated_profiles(spec: Json, profile: Json, target: str | None) -> None:
    _check_result(compile(spec, target=target, cluster=profile))


@given(st.data(), st.sampled_from(list(TARGETS)))
def test_law_7_holds_for_mutated_manifests(data: st.DataObject, target: str) -> None:
    result = compile(data.draw(specs()), target=target)
    assume(result.manifests)
    for manifest in result.manifests:
        changed = data.draw(mutated(st.just(manifest)))
        _check_findings(lint(changed).diagnostics)
        _check_findings(lint(emit_all([changed]), webhooks=False).diagnostics)


@example(b"\xff\xfe")  # a UTF-16 byte order mark without text
@given(st.text(max_size=200) | st.binary(max_size=200) | TEXT)
def test_law_7_holds_for_any_text(text: str | bytes) -> None:
    _check_result(compile(text, filename="x"))
    _check_findings(lint(text, filename="x").diagnostics)
    _check_result(compile(ALL[0].spec, cluster=text))


@given(st.sampled_from(ALL), st.data())
def test_law_7_holds_for_torn_text(case: Case, data: st.DataObject) -> None:
    """A piece of a golden's text is removed, doubled or overwritten."""
    text = case.spec
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    with_ = data.draw(
        st.sampled_from(
            ["", text[start:end] * 2, "\t", "\x00", "{", "*a", "&a [*a]", "'", "\n- ", ": ", "!!x "]
        )
    )
    torn = text[:start] + with_ + text[end:]
    _check_result(compile(torn, filename="spec.yaml"))
    _check_findings(lint(torn).diagnostics)


@given(st.dictionaries(st.text(max_size=5), GARBAGE, max_size=3))
def test_law_7_holds_for_any_mapping(mapping: Json) -> None:
    _check_result(compile(mapping))
    _check_result(compile({"apiVersion": "ptcompile/v1", "kind": "TrainingJob", **mapping}))
    _check_findings(lint(mapping).diagnostics)


def _check_result(result: Result) -> None:
    assert result.ok or result.diagnostics
    assert result.manifests or not result.ok
    _check_findings(result.diagnostics)
    assert isinstance(result.yaml(), str)


def _check_findings(diagnostics: tuple[Diagnostic, ...]) -> None:
    for diagnostic in diagnostics:
        json.dumps(diagnostic.to_dict())
        assert diagnostic.message
        assert diagnostic.span is None or (1, 1) <= (
            diagnostic.span.line,
            diagnostic.span.column,
        ) <= (
            diagnostic.span.end_line,
            diagnostic.span.end_column + 1,
        )
