"""Arbitrary values in any field of a manifest: no rule raises."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given, strategies as st

from ptcompile.diagnostics import field_path
from ptcompile.linter import every_rule, run
from ptcompile.linter.pages import rule_page
from tests.strategies import mutated


@given(
    mutated(
        st.sampled_from(every_rule()).map(
            lambda rule: {"documents": list(yaml.safe_load_all(rule_page(rule).bad))}
        )
    )
)
def test_mutated_examples_have_findings_at_their_path(stream: dict[str, Any]) -> None:
    documents = stream.get("documents")
    objects = (
        [document for document in documents if isinstance(document, dict)]
        if isinstance(documents, list)
        else []
    )
    for manifest in objects:
        for problem in run(manifest, stream=objects, every=True):
            assert problem.message.startswith(field_path(problem.path))
