"""Helps have one style: lower case, no full stop at the end."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

import ptcompile
from ptcompile.linter import every_rule
from ptcompile.linter.pages import rule_page
from tests import sources
from tests.conftest import ALL, Case, pair_name

NO_FINDINGS = {"cli", "differ", "explainer", "flyte", "server"}
"""Modules that write prose other than findings."""
PROSE = {
    "linter/pages.py", "api/import_manifests.py", "apiserver/validation/updates.py",
    *(f"spec/{part}.py" for part in ("base", "checks", "cluster_profile", "training_job")),
}  # fmt: skip
"""Modules that write pages or schema descriptions, or quote the API server."""


def may_write_helps(path: str) -> bool:
    return path.partition("/")[0] not in NO_FINDINGS and path not in PROSE


def has_reasons(path: str) -> bool:
    """Return whether the module's constants are the sentences of `explain` about why a field is written."""
    return path.endswith("/emit.py") or path == "operators/shared/endings.py"


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield each string of a module, except docstrings and parts of other strings, with its line."""
    left = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    left |= {
        id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in one.values
    }
    for node in ast.walk(tree):
        if id(node) in left:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            yield (
                node.lineno,
                "".join(str(p.value) if isinstance(p, ast.Constant) else "x" for p in node.values),
            )


def without_constants(tree: ast.Module) -> ast.Module:
    return ast.Module(
        [one for one in tree.body if not isinstance(one, ast.Assign | ast.AnnAssign)], []
    )


SERVER_SENTENCES = {
    "must be a simple json path starting with .",
    "must point to a field of type string, boolean or integer. "
    "Enum string fields and strings with formats are allowed.",
    "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
}
"""What the API server says with a full stop at the end, or with a dot as a value."""


def test_no_source_writes_a_help_as_a_sentence() -> None:
    """Other messages that quote a server have no full stop either, so no text ends in one."""
    trees = {
        path: without_constants(module.tree) if has_reasons(path) else module.tree
        for path, module in sources.package().items()
        if may_write_helps(path)
    }
    violations = [
        f"{path}:{line}: {text}"
        for path, tree in trees.items()
        for line, text in texts(tree)
        if " " in text
        and (re.search(r"[^.]\.\Z", text) or text.startswith("Did you"))
        and text not in SERVER_SENTENCES
    ]
    assert violations == []


def check(diagnostics: tuple[ptcompile.Diagnostic, ...]) -> None:
    for diagnostic in diagnostics:
        assert diagnostic.help is None or not re.match(
            r"[A-Z][a-z]* [a-z]|.*\.$", diagnostic.help
        ), diagnostic


@pytest.mark.parametrize("case", ALL, ids=pair_name)
def test_findings_of_golden_cases_have_a_help(case: Case) -> None:
    check(case.compile().diagnostics)
    check(ptcompile.lint(case.spec).diagnostics)


@pytest.mark.parametrize("rule", every_rule(), ids=lambda rule: str(rule.name))
def test_each_rule_has_a_help_for_its_example(rule: ptcompile.linter.Rule) -> None:
    diagnostics = ptcompile.lint(rule_page(rule).bad, select=[rule.name]).diagnostics
    assert any(diagnostic.name == rule.name for diagnostic in diagnostics)
    check(diagnostics)
