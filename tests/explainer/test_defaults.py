"""Profile lines that repeat a default are removed together, with the same explanation as one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

import ptcompile
from ptcompile.compiler import pipeline
from ptcompile.compiler.reader import load_profile
from ptcompile.explainer import provenance as asked, sensitivity
from ptcompile.ir.job import Job
from ptcompile.kubernetes.unstructured import MISSING
from ptcompile.operators.targets import TARGETS, target_named
from ptcompile.source import streams
from ptcompile.spec.cluster_profile import ClusterProfile
from tests.explainer.cases import causes_of
from tests.explainer.reference import Json
from tests.making import DEFAULT_CLUSTER, smallest
from tests.strategies import profiles, specs


def _same(data: Json, cluster: ClusterProfile, target: str) -> None:
    together = causes_of(data, cluster, target)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sensitivity, "default_paths", lambda *_: frozenset())
        assert causes_of(data, cluster, target) == together


@settings(max_examples=settings().max_examples // 6)  # one compilation per line
@given(specs(catalogue=True), profiles(), st.sampled_from(list(TARGETS)))
def test_defaults_removed_together_have_the_same_causes_as_one_by_one(
    spec: Json, given: Json, target: str
) -> None:
    cluster = ClusterProfile.model_validate(given)
    assume(ptcompile.compile(spec, target=target, cluster=cluster, lint=False).ok)
    _same(spec, cluster, target)


def _small(more: str = "") -> Json:
    (document,) = streams.read(smallest(more), None).documents
    return dict(document.data)


def test_an_emitter_that_checks_for_set_defaults_has_each_line_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = target_named("job")

    def asking(lowered: Job, cluster: ClusterProfile) -> list[Json]:
        made = [dict(one) for one in job.emit(lowered, cluster)]
        return [{**made[0], "given": "queue_system" in cluster.spec.model_fields_set}, *made[1:]]

    monkeypatch.setattr(pipeline, "target_named", lambda _: job._replace(emit=asking))
    profile = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {queueSystem: kueue}\n"
    cluster, _ = load_profile(profile)
    assert cluster is not None
    causes = {cause.path: cause for cause in causes_of(_small(), cluster, "job")}
    assert [one.path for one in causes["given",].inputs] == [("spec", "queueSystem")]
    _same(_small(), cluster, "job")


def test_a_profile_of_defaults_needs_few_compilations() -> None:
    compiled = 0
    build = asked.build  # type: ignore[attr-defined]

    def counted(*given: Any, **named: Any) -> object:
        nonlocal compiled
        compiled += 1
        return build(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asked, "build", counted)
        causes_of(_small(), DEFAULT_CLUSTER, "job")
    lines = sensitivity.cluster_variations(DEFAULT_CLUSTER.document())
    defaults = sensitivity.default_paths(DEFAULT_CLUSTER.document(), lines)
    assert len(defaults) == len({line.path for line in lines}) > 40
    assert compiled < 30


def test_a_line_set_by_the_user_is_not_a_default() -> None:
    filled = DEFAULT_CLUSTER.document()
    named = sensitivity.replace_at(
        filled, {("spec", "cloud"): "aws", ("spec", "gpu", "claim"): MISSING}
    )
    lines = sensitivity.cluster_variations(named)
    assert ("spec", "cloud") not in sensitivity.default_paths(named, lines)
    assert ("spec", "gpu", "resourceName") in sensitivity.default_paths(named, lines)
    assert ("spec", "gpu") not in sensitivity.default_paths(named, lines)
