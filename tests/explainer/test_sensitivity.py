"""Lines changed together are distinguished, with the same explanation as one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

import ptcompile
from ptcompile.compiler import build as building
from ptcompile.compiler.pipeline import compile_document
from ptcompile.explainer import sensitivity
from ptcompile.explainer.model import Cause
from ptcompile.explainer.provenance import provenance
from ptcompile.explainer.sensitivity import (
    Variants,
    Variation,
    outcomes,
    replace_at,
    spec_variations,
    variant_of,
)
from ptcompile.kubernetes.unstructured import MISSING
from ptcompile.operators.targets import TARGETS
from ptcompile.spec import reader
from ptcompile.spec.cluster_profile import ClusterProfile
from tests.conftest import ABLE, Case, thinned
from tests.explainer.cases import causes_of
from tests.explainer.reference import Json
from tests.making import DEFAULT_CLUSTER, documents, smallest
from tests.strategies import profiles, specs

ALL_ALONE = 10**9

Changed = dict[tuple[str, ...], Any]
"""Values that a document changes, by name and key."""


def _explained(few: int, data: Json, cluster: ClusterProfile, target: str) -> tuple[Cause, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sensitivity, "MAX_SINGLE", few)
        return causes_of(data, cluster, target)


def _same(data: Json, cluster: ClusterProfile, target: str) -> None:
    assert _explained(1, data, cluster, target) == _explained(ALL_ALONE, data, cluster, target)


ONE_EACH = [
    able[len(case.name) % len(able)]  # varies by case
    for case, pairs in groupby(ABLE, key=lambda pair: pair[0])
    for able in [list(pairs)]
]
"""Every golden case with one of the targets that can express it."""


@pytest.mark.parametrize(("case", "target"), thinned(ONE_EACH, 4), ids=str)
def test_golden_lines_tried_together_have_the_same_causes_as_one_by_one(
    case: Case, target: str
) -> None:
    from ptcompile.compiler.reader import load_profile
    from ptcompile.source import streams

    cluster, _ = load_profile(case.cluster)
    assert cluster is not None
    for document in streams.read(case.spec, None).documents:
        _same(dict(document.data), cluster, target)


@settings(max_examples=settings().max_examples // 6)  # one compilation per line
@given(specs(catalogue=True), profiles(), st.sampled_from(list(TARGETS)))
def test_generated_lines_tried_together_have_the_same_causes_as_one_by_one(
    spec: Json, given: Json, target: str
) -> None:
    cluster = ClusterProfile.model_validate(given)
    assume(ptcompile.compile(spec, target=target, cluster=cluster).ok)
    _same(spec, cluster, target)


LISTS = {
    "values that are numbers": "env: {" + ", ".join(f"A{i}: '{i}'" for i in range(9)) + "}\n",
    "values that are the same": "env: {" + ", ".join(f"A{i}: x" for i in range(9)) + "}\n",
    "names that follow one another": "volumes: ["
    + ", ".join(f"{{name: v{i}, emptyDir: {{}}}}" for i in range(9))
    + "]\nvolumeMounts: ["
    + ", ".join(f"{{name: v{i}, mountPath: /v{i}}}" for i in range(9))
    + "]\n",
    "the last words twice": "args: [a, b, b]\n",
    "words that come twice": "args: [a, b, a, a, c, b, --d=1, --d=2, --e]\n",
    "roles that know of one another": "roles: {"
    + ", ".join(f"r{i}: {{replicas: {i + 1}, command: [a, b{i}]}}" for i in range(5))
    + "}\n",
    "ports that follow one another": "podTemplate: {spec: {containers: [{name: main, ports: ["
    + ", ".join(f"{{containerPort: {8000 + i}}}" for i in range(9))
    + "]}]}}\n",
    "labels and tolerations": "podLabels: {a1: b, a2: b, a3: c, a4: '1'}\n"
    "tolerations: [{key: a, operator: Exists}, {key: b, operator: Exists}, {key: a, value: c}]\n",
}


@pytest.mark.parametrize(
    ("name", "target"),
    [
        (name, target)
        for at, name in enumerate(LISTS)
        for target in thinned(["job", "volcano", "jobset"], 3, start=at)
    ],
)
def test_long_lists_tried_together_have_the_same_causes_as_one_by_one(
    name: str, target: str
) -> None:
    from ptcompile.source import streams

    (document,) = streams.read(smallest("nodes: 2\n" + LISTS[name]), None).documents
    _same(dict(document.data), DEFAULT_CLUSTER, target)


def _changes(count: int, *, left_out: bool = False) -> tuple[Json, list[Variation]]:
    data: Json = {"metadata": {}, "spec": {"env": {f"A{i}": f"v{i}" for i in range(count)}}}
    return data, [
        variation
        for variation in spec_variations(data)
        if variation.left_out <= left_out and not variation.inner
    ]


def _counted(
    outcome: Callable[[Any], Changed | None], count: int, *, left_out: bool = False
) -> tuple[dict[Any, frozenset[Any]], int]:
    asked = 0

    data, variations = _changes(count, left_out=left_out)

    def counting(changes: Mapping[Any, Any]) -> Any:
        nonlocal asked
        asked += 1
        return outcome(replace_at(data, changes))

    sensitive: dict[Any, frozenset[Any]] = {}
    for change, now in outcomes(variations, counting):
        sensitive[change.path] = sensitive.get(change.path, frozenset()) | now
    return sensitive, asked


def _own(document: Any, count: int = 100) -> Changed:
    """Each variable as a value of its own, with its name next to it."""
    env = document["spec"].get("env", {})
    now = {
        (f"A{i}", key): env.get(f"A{i}", MISSING) for i in range(count) for key in ("name", "value")
    }
    return {
        (name, key): v
        for (name, key), v in now.items()
        if v is MISSING or (key == "value" and v[1:] != name[1:])
    }


def _touched(own: Changed) -> set[str]:
    return {path[0] for path in own}


MANY = smallest("nodes: 2\nenv: {A: a, B: b}\nresources: {cpu: 2}\n")


def test_a_variant_has_the_parts_of_the_spec_that_it_leaves_alone() -> None:
    (data,) = documents(MANY)
    built = compile_document(data, DEFAULT_CLUSTER, "job").built
    assert built is not None
    variants = Variants(data, built.spec, DEFAULT_CLUSTER)
    variant = variants.of("spec", {("spec", "image"): "other:1"})
    assert variant is not None
    assert variant.job == variant_of(variant.spec, DEFAULT_CLUSTER).job
    (old,) = (role.template for role in variants.base.job.roles)
    (new,) = (role.template for role in variant.job.roles)
    assert (old.main.image, new.main.image) == ("img:1", "other:1")
    assert new.main.env is old.main.env
    assert new._replace(main=old.main) == old


def _noted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[object]:
    """Return a list that gets the argument of each call of a function."""
    calls: list[object] = []
    function = getattr(module, name)

    def noting(argument: object) -> object:
        calls.append(argument)
        return function(argument)

    monkeypatch.setattr(module, name, noting)
    return calls


def test_targets_share_variants_and_copy_no_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = _noted(monkeypatch, building, "unshared")
    read = _noted(monkeypatch, reader, "read_spec")
    (data,) = documents(MANY)
    compiled = [compile_document(data, DEFAULT_CLUSTER, name) for name in TARGETS if name != "pod"]
    manifests = len(copied)
    assert all(provenance(data, compiled[:1], [True]))
    variants = len(read)
    assert variants > 10
    assert all(provenance(data, compiled, [True] * len(compiled)))
    assert len(read) - 2 * variants < 5  # what only another target tries alone
    assert len(copied) == manifests


def test_a_hundred_texts_need_one_document() -> None:
    sensitive, asked = _counted(_own, 100)
    assert asked == 1
    assert sensitive == {("spec", "env", f"A{i}"): {(f"A{i}", "value")} for i in range(100)}


TEXTS = {"image": "b", "script": "c", "queue": "d", "restartPolicy": "Never"}
COPIED: Json = {"metadata": {"name": "a"}, "spec": TEXTS}


def _copied(
    outcome: Callable[[Json], Changed | None],
) -> tuple[dict[Any, frozenset[Any]], list[int]]:
    """Return the outcomes of other texts on the lines of `COPIED`, and how many lines each document changes."""
    variations = [variation for variation in spec_variations(COPIED) if not variation.left_out]
    sizes: list[int] = []

    def counting(changes: Mapping[Any, Any]) -> Any:
        sizes.append(len(changes))
        return outcome(replace_at(COPIED, changes)["spec"])

    copied = {variation.path for variation in variations}
    return {change.path: paths for change, paths in outcomes(variations, counting, copied)}, sizes


def _written(spec: Json) -> Changed:
    return {(key,): value for key, value in spec.items() if value != TEXTS[key]}


@pytest.mark.usefixtures("tried_together")
def test_copied_texts_of_any_fields_need_one_document() -> None:
    sensitive, sizes = _copied(_written)
    assert {path: set(paths) for path, paths in sensitive.items() if paths} == {
        ("spec", key): {(key,)} for key in TEXTS
    }
    assert sizes == [
        3,
        1,
        1,
    ]  # a name is part of other values, and of `Never` another text is rarely valid


@pytest.mark.usefixtures("tried_together")
def test_copied_texts_are_tried_one_by_one_if_a_value_is_none_of_them() -> None:
    def summing(spec: Json) -> Changed:
        written = _written(spec)
        return {**written, ("sum",): 1} if {("image",), ("queue",)} & written.keys() else written

    sensitive, sizes = _copied(summing)
    assert {path[-1] for path, paths in sensitive.items() if ("sum",) in paths} == {
        "image",
        "queue",
    }
    assert sizes == [3, 1, 1, 1, 1, 1]


@pytest.fixture
def tried_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let three lines be enough to be tried together."""
    monkeypatch.setattr(sensitivity, "MAX_SINGLE", 8)


def test_a_hundred_lines_that_are_left_out_need_two_more() -> None:
    sensitive, asked = _counted(_own, 100, left_out=True)
    assert asked == 3
    assert sensitive == {
        ("spec", "env", f"A{i}"): {(f"A{i}", "name"), (f"A{i}", "value")} for i in range(100)
    }


def test_lines_that_change_nothing_are_tried_without_the_others() -> None:
    def hiding(document: Any) -> Changed:
        """Return the first two lines' own values, the second only while the first is as it was."""
        own = {path: value for path, value in _own(document).items() if path[0] in ("A1", "A2")}
        return (
            own
            if "A1" not in _touched(own)
            else {path: value for path, value in own.items() if path[0] == "A1"}
        )

    sensitive, asked = _counted(hiding, 100)
    assert asked == 1 + 1 + 99
    assert {path[-1]: now for path, now in sensitive.items() if now} == {
        "A1": {("A1", "value")},
        "A2": {("A2", "value")},
    }


def test_a_value_that_depends_on_two_lines_is_found_for_both() -> None:
    def summing(document: Any) -> Changed:
        own = _own(document)
        return {**own, ("sum",): 1} if {("A3", "value"), ("A40", "value")} & own.keys() else own

    sensitive, _ = _counted(summing, 100)
    assert {path[-1] for path, now in sensitive.items() if ("sum",) in now} == {"A3", "A40"}


def test_a_value_that_only_two_lines_together_change_has_no_line() -> None:
    def both(document: Any) -> Changed:
        own = _own(document)
        return {**own, ("both",): 1} if {("A3", "value"), ("A7", "value")} <= own.keys() else own

    sensitive, _ = _counted(both, 100)
    assert not any(("both",) in now for now in sensitive.values())


def test_an_invalid_variation_does_not_affect_other_lines() -> None:
    sensitive, _ = _counted(
        lambda document: None if ("A5", "value") in _own(document) else _own(document), 100
    )
    assert len(sensitive) == 99
    assert all(now == {(path[-1], "value")} for path, now in sensitive.items())


def test_replace_at_changes_several_places() -> None:
    data = {"a": [1, {"b": 2, "c": 3}, 4], "d": 5}
    assert replace_at(data, {("a", 0): MISSING, ("a", 1, "b"): 7, ("d",): MISSING}) == {
        "a": [{"b": 7, "c": 3}, 4]
    }
