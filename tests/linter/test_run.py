"""How the runner reports findings of rules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ptcompile import linter
from ptcompile.linter import Finding, Rule, Subject

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "x"},
    "spec": {"containers": [{"name": "main", "image": "a:1"}]},
}
PATH = ("spec", "containers", 0)


def _check(subject: Subject) -> Iterator[Finding]:
    """Yield a finding for each role, though two roles share a template."""
    for _role in range(2):
        yield Finding(PATH, "spec.containers[0]: no limit")
        yield Finding((*PATH, "image"), "spec.containers[0].image: no digest")


def test_the_same_finding_of_a_rule_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = [
        Rule(name, _check, "warning", "run", "kubelet")
        for name in ("missing-memory-limit", "missing-shm")
    ]
    monkeypatch.setattr(linter, "_candidate_rules", lambda *_: rules)
    reported = [(problem.name, problem.path) for problem in linter.run(POD)]
    assert reported == [(rule.name, path) for rule in rules for path in (PATH, (*PATH, "image"))]
