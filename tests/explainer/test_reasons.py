"""Every value written by a pass or a target has a sentence, and every sentence has a value."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.compiler.passes import PASSES
from ptcompile.explainer import reasons
from ptcompile.operators.targets import TARGETS, target_named
from tests.conftest import ABLE
from tests.explainer.cases import SOME, by_record, explained
from tests.making import profile, smallest

TABLES = {
    "spec": reasons.SPEC_SENTENCES,
    **reasons.PASS_SENTENCES,
    **{f"target {name}": target_named(name).sentences for name in TARGETS},
    "every target": reasons.TARGET_SENTENCES,
}

MORE: list[tuple[str, str, dict[str, object]]] = [
    # cases missing from the goldens: body, target, profile
    (
        "",
        "pod",
        {"defaults": {"nodeSelector": {"a": "b"}, "podTemplate": {"spec": {"priority": 1}}}},
    ),
    ("nodes: 2", "volcano", {"defaults": {"queue": "q"}}),
    ("nodes: 2", "job", {"defaults": {"queue": "q"}}),
    ("nodes: 2", "trainjob", {"defaults": {"queue": "q"}, "queueSystem": "volcano"}),
    ("nodes: 2\nelastic: {startMethod: fork}", "job", {}),
    ("nodes: 2\nrestartPolicy: OnFailure\nrunPolicy: {backoffLimit: 3}", "volcano", {}),
    (
        "nodes: 2\nrestartPolicy: OnFailure\npodLabels: {a: b}",
        "trainjob",
        {"versions": {"trainer": "2.1"}},
    ),
    (
        "nodes: 2\nrestartPolicy: OnFailure\nserviceAccountName: s",
        "trainjob",
        {"versions": {"trainer": "2.0"}},
    ),
    (
        "nodes: 2\nrunPolicy: {backoffLimit: 3, activeDeadlineSeconds: 9}",
        "trainjob",
        {"versions": {"trainer": "2.1"}},
    ),
    ("nodes: 2\nrunPolicy: {backoffLimit: 3, activeDeadlineSeconds: 9}", "jobset", {}),
    ("master: {}\nworker: {replicas: 2}\nelastic: {}", "jobset", {}),
    ("nodes: 2\nrunPolicy: {successPolicy: AllNodes}", "volcano", {}),
    ("elastic: {nnodes: '2:3'}\nhostNetwork: true", "job", {}),
    ("", "pod", {"defaults": {"queue": "q"}, "queueSystem": "volcano"}),
    ("nodes: 2", "job", {"defaults": {"queue": "q"}, "queueSystem": "volcano"}),
]


def test_tables_cover_all_passes() -> None:
    assert list(reasons.PASS_SENTENCES) == [one.__name__ for one in PASSES]
    assert all(text.endswith(".") for table in TABLES.values() for text in table.values())


@pytest.fixture(scope="module")
def spoken() -> set[tuple[str, str]]:
    found = {(target, one.by, one.rule) for case, target in ABLE for one in by_record(case, target)}
    for case, target in SOME:
        found |= {
            (target, cause.by, cause.rule) for cause in explained(case, target).explanation.causes
        }
    for body, target, cluster in MORE:
        explanation = ptcompile.explain(smallest(body), target=target, cluster=profile(cluster))
        assert explanation.ok, (body, explanation.diagnostics)
        found |= {(target, cause.by, cause.rule) for cause in explanation.causes}
    out = set()
    for target, by, rule in found:
        names = [f"target {target}", "every target"] if by == "target" else [by]
        out |= {(name, rule) for name in names if rule in TABLES[name].values()} or {
            ("nobody", f"{target} {by} {rule}")
        }
    return out


def test_every_value_has_a_sentence(spoken: set[tuple[str, str]]) -> None:
    assert not [rule for name, rule in spoken if name == "nobody"]


def test_every_sentence_has_a_value(spoken: set[tuple[str, str]]) -> None:
    rows = {(name, rule) for name, table in TABLES.items() for rule in table.values()}
    assert sorted(rows - spoken) == []
