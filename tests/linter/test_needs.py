"""The words that rules need: a rule finds the same with and without them, and unneeded rules are not loaded.

A rule must not find anything in an object that lacks its words. So every rule runs on the examples of all rules, on
those examples with parts removed, on our manifests, and on recorded manifests of other projects.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from ptcompile.linter import FAMILIES, Rule, Stream, Subject, every_rule, run
from ptcompile.linter.needs import parse_needs, rules_in, words_of
from ptcompile.linter.pages import rule_page
from ptcompile.source import streams
from tests import recorded
from tests.conftest import ROOT, thinned
from tests.making import documents
from tests.oracle import rows
from tests.strategies import mutated

MANIFESTS = [
    *thinned(sorted((ROOT / "golden").rglob("*.yaml")), 5),
    *sorted(path for folder in ("examples", "tests") for path in (ROOT / folder).rglob("*.yaml")),
]


def assert_same(objects: list[Any]) -> None:
    """Run all rules on every object, then only those whose words it has, and compare."""
    others = Stream([obj for obj in objects if isinstance(obj, dict)])
    for manifest in others.objects:
        selected, whole = (
            list(run(manifest, stream=others)),
            list(run(manifest, stream=others, every=True)),
        )
        lost = {problem.name for problem in whole if problem not in selected}
        assert selected == whole, (
            f"{lost} find something in an object without their words: widen them"
        )


@pytest.mark.parametrize("rule", every_rule(), ids=lambda rule: rule.name)
def test_examples_load_the_rules_that_they_need(rule: Rule) -> None:
    assert_same(_example(rule))


@pytest.mark.parametrize("rule", every_rule(), ids=lambda rule: rule.name)
def test_needs_change_no_finding_of_examples_with_parts_removed(rule: Rule) -> None:
    for less in thinned(_less(_example(rule)), 4, start=len(rule.name)):
        assert_same(less)


@given(mutated(st.sampled_from(every_rule()).map(lambda rule: {"documents": _example(rule)})))
def test_mutated_examples_load_the_rules_that_they_need(changed: dict[str, Any]) -> None:
    objects = changed.get("documents")
    assert_same(objects if isinstance(objects, list) else [])


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_our_manifests_load_the_rules_that_they_need(path: Path) -> None:
    assert_same(_objects(path.read_bytes()))


@pytest.mark.parametrize("operator", ["jobset", "pytorchjob", "trainjob", "volcano"])
def test_needs_change_no_finding_of_each_operator_s_manifests(operator: str) -> None:
    manifests = [manifest for _, manifest in rows(operator)]
    assert len(manifests) > 100
    for manifest in thinned(manifests, 5):
        assert_same([manifest])


def test_needs_change_no_finding_of_recorded_manifests() -> None:
    for manifest in thinned(recorded.manifests("apiserver/real").values(), 5):
        assert_same([manifest])


@pytest.mark.parametrize(
    ("texts", "there"),
    [(["a", "b"], False), (["a b"], True), (["a\tb"], True), (["a\n"], True), (["", "a"], False)],
)
def test_whitespace_is_a_word(texts: list[str], there: bool) -> None:
    assert ("@blank" in (words_of(Subject({"args": texts})) or ())) is there


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("$(A)", False),
        ("A", False),
        ("$A", True),
        ("${A}", True),
        ("$(A) $B", True),
        ("$$(A)", True),
    ],
)
def test_a_shell_variable_is_a_word(text: str, there: bool) -> None:
    assert ("@variable" in (words_of(Subject({"args": [text]})) or ())) is there


SPLIT = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  pytorchReplicaSpecs:
    Master:
      template:
        spec:
          containers:
          - name: pytorch
            image: img:1
            env: [{name: A, value: torch}, {name: B, value: run}]
            command: [sh, -c, SCRIPT]
"""


@pytest.mark.parametrize(
    "script",
    [
        "torchrun --nnodes=x train.py",
        "tor'ch'run --nn\"odes\"=x train.py",  # quotes
        "tor\\chrun --nno\\des=x train.py",  # escapes
        "$A$B --nnodes=x train.py",  # two variables
        "${A}run --nnodes=x train.py",  # braces
        "tor$(echo)chrun --nnodes=x train.py; torchrun --nnodes=x train.py",
        "torch$B --nnodes=x train.py",
        '"tor"chrun --nnodes=x train.py',
    ],
)
def test_words_that_a_shell_joins_load_their_rules(script: str) -> None:
    manifest = yaml.safe_load(SPLIT)
    template = manifest["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    template["spec"]["containers"][0]["command"][2] = script
    assert "bad-nnodes" in {problem.name for problem in run(manifest)}
    assert_same([manifest])


def test_a_trainjob_has_the_words_of_its_runtime() -> None:
    manifest = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "train"},
        "spec": {"runtimeRef": {"name": "torch-distributed"}},
    }
    assert "replicatedjobs" in (words_of(Subject(manifest)) or ())


def test_most_rules_need_words() -> None:
    """Words only pay off if most rules have some."""
    needed = [row["needs"] for family in _families() for row in family.values()]
    assert len([text for text in needed if text]) > 0.9 * len(needed)


def test_needs_are_words() -> None:
    """A need of two words could never be met; an obstacle has the name of the rule that reports it."""
    for family in _families():
        for module, row in family.items():
            obstacle = f"@{module.replace('_', '-')}"
            for word in chain(*parse_needs(row["needs"])):
                assert (
                    word in ("$", "&", "|", "<", ">", ";", obstacle)
                    or word.removeprefix("@").isalnum()
                ), word


def _example(rule: Rule) -> list[Any]:
    return [*documents(rule_page(rule).bad)]


def _families() -> Iterator[dict[str, Any]]:
    for family in {family for families in FAMILIES.values() for family in families}:
        yield rules_in(family)


def _objects(text: bytes) -> list[Any]:
    return [
        manifest
        for document in streams.read(text, None).documents
        for _, manifest in streams.objects_in(document.data)
    ]


def _less(value: Any) -> Iterator[Any]:
    """Yield the data without one of its keys or items, for each in turn."""
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
            yield from ({**value, key: less} for less in _less(value[key]))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield [*value[:i], *value[i + 1 :]]
            yield from ([*value[:i], less, *value[i + 1 :]] for less in _less(item))
