"""A text that is linted again after each edit has the report that `lint` gives for the whole of it."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest

from ptcompile.api import relint
from ptcompile.api.lint import lint
from ptcompile.api.relint import Relinter
from ptcompile.apiserver import admission, evaluations
from ptcompile.apiserver.admission import admission_problems
from ptcompile.apiserver.evaluations import Evaluations
from ptcompile.linter import Rule, every_rule
from ptcompile.linter.pages import rule_page
from tests.conftest import thinned
from tests.editing import OTHERS, Editor, examples, goldens
from tests.making import DEFAULT_CLUSTER, documents

_EDITS = 40


OPTIONS: list[dict[str, Any]] = [
    {},
    {"cluster": DEFAULT_CLUSTER},
    {"ignore": ["PTC5"], "severity": {"missing-service": "error"}},
    {"select": ["PTC3"], "kubernetes": "1.30"},
]


def _assert_same(relinter: Relinter, text: str, beside: list[Any] | None = None, **options: Any) -> None:
    parsed = relinter.read(text, "a.yaml")
    again = relinter.lint(parsed, beside=beside)
    whole = lint(text, filename="a.yaml", beside=beside, **options)
    assert again == whole, sorted({*map(repr, again.diagnostics)} ^ {*map(repr, whole.diagnostics)})


@pytest.mark.parametrize("seed", thinned(range(64), 4))
def test_every_edit_gives_the_report_of_the_whole_text(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - the same edits each time
    editor = Editor(random, goldens() if seed % 12 == 0 else examples())
    options = random.choice(OPTIONS)
    relinter = Relinter(**options)
    beside: list[Any] | None = None
    for _ in range(_EDITS):
        _assert_same(relinter, editor.text, beside, **options)
        if random.random() < 0.1:
            editor = Editor(random, examples())
        if random.random() < 0.05:
            beside = random.choice((None, [], [documents(OTHERS[2])[0]], documents(random.choice(examples()))))
        editor.edit()


@pytest.mark.parametrize(
    "rule", [rule for rule in every_rule() if "\n---\n" in rule_page(rule).bad], ids=lambda r: r.name
)
def test_objects_that_come_go_and_change(rule: Rule) -> None:
    parts = rule_page(rule).bad.split("\n---\n")
    relinter = Relinter()
    for index, part in enumerate(parts):
        others = [*parts[:index], *parts[index + 1 :]]
        names = set(re.findall(r"[:\[,-] +([\w.-]+)", part))
        for changed in (part, *(re.sub(rf"(?<=[ ]){re.escape(name)}\b", f"{name}x", part) for name in sorted(names))):
            stream = [*parts[:index], changed, *parts[index + 1 :]]
            for texts in (parts, stream, others, stream):
                _assert_same(relinter, "\n---\n".join(texts))


def _pod(name: str) -> str:
    containers = "[{name: a, image: 'a:1'}, {name: b, image: 'b:1'}]"
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{containers: {containers}}}\n"


def test_the_limit_of_evaluations_is_for_all_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each Pod alone stays below it."""
    monkeypatch.setattr(Evaluations.__init__, "__defaults__", (100,))
    monkeypatch.setattr(evaluations, "EVALUATIONS_PER_CALL", 100)
    monkeypatch.setattr(relint, "EVALUATIONS_PER_CALL", 100)
    relinter, parts = Relinter(), [OTHERS[3]]
    unchecked = []
    for name in "abcdefgh":
        parts.append(_pod(name))
        text = "---\n".join(parts)
        _assert_same(relinter, text)
        found = lint(text).diagnostics
        unchecked.append(sum("take too many steps" in diagnostic.message for diagnostic in found))
    assert (unchecked[0], unchecked[-1] > 0) == (0, True), unchecked


@pytest.mark.parametrize("beside", [OTHERS[2], OTHERS[3]], ids=["Namespace", "LimitRange"])
def test_admission_of_an_object_is_kept(beside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []

    def counted(manifest: Any, *rest: Any, **options: Any) -> Any:
        judged.append(manifest["metadata"]["name"])
        return admission_problems(manifest, *rest, **options)

    monkeypatch.setattr(admission, "admission_problems", counted)
    relinter, others = Relinter(), documents(beside)
    relinter.lint(relinter.read(f"{_pod('a')}---\n{_pod('b')}", "a.yaml"), beside=others)
    judged.clear()
    relinter.lint(relinter.read(f"{_pod('a')}---\n{_pod('c')}", "a.yaml"), beside=others)
    assert judged == ["c"]
