"""What a candidate spec compiles to: with everything else lowered once for the run policies, and none if rejected."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ptcompile.importer.candidate import (
    Candidate,
    compile_candidate,
    compile_manifests,
    compile_with_policies,
)
from ptcompile.spec.cluster_profile import ClusterProfile
from tests.making import smallest

Json = dict[str, Any]


def spec_of(body: str) -> Json:
    spec: Json = yaml.safe_load(smallest(body))
    return spec


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("nodes: x", id="a spec that cannot be decoded"),
        pytest.param("runPolicy: {maxWait: 1d, queue: q}", id="an unknown field"),
        pytest.param(
            "target: pytorchjob\nroles: {loader: {command: [x]}}",
            id="a field that the target lacks",
        ),
        pytest.param(
            "runPolicy: {onPodFailure: FailJob, backoffLimit: 1}",
            id="a run policy that contradicts itself",
        ),
    ],
)
def test_rejected_specs_have_no_manifests(body: str) -> None:
    assert compile_manifests(spec_of(body), ClusterProfile()) is None


def test_a_spec_compiles_to_its_manifests() -> None:
    compiled = compile_manifests(spec_of("target: job\nnodes: 2"), ClusterProfile())
    assert compiled is not None
    assert [manifest["kind"] for manifest in compiled] == ["Service", "Job"]


def test_warnings_of_the_run_policy_and_the_target_keep_no_spec_from_compiling() -> None:
    body = "target: job\nrunPolicy: {backoffLimit: 0, onPodFailure: RestartPod}"
    assert compile_manifests(spec_of(body), ClusterProfile()) is not None


POLICIES: list[Json] = [
    {},
    {"backoffLimit": 3},
    {"backoffLimit": "Unlimited"},
    {"backoffLimit": 2, "onPodFailure": "RestartPod", "onDisruption": "Ignore"},
    {"successPolicy": "Node0"},
    {"backoffLimit": 1, "onPodFailure": "FailJob"},
    {"backoffLimit": "many"},
]


@pytest.mark.parametrize("target", ["job", "jobset", "pytorchjob", "trainjob", "volcano"])
@pytest.mark.parametrize(
    "body", ["nodes: 2", "elastic: {nnodes: '1:3', maxRestarts: 2}\nrestartPolicy: OnFailure"]
)
def test_run_policies_compile_as_in_a_spec_of_their_own(target: str, body: str) -> None:
    spec = spec_of(f"target: {target}\n{body}\nrunPolicy: {{suspend: true}}")
    each = [{**spec, "spec": {**spec["spec"], "runPolicy": policy}} for policy in POLICIES]
    candidates = [compile_candidate(with_policy, ClusterProfile()) for with_policy in each]
    accepted = [candidate[:2] for candidate in candidates if candidate.manifests is not None]
    for base in (compile_candidate(spec, ClusterProfile()), Candidate(spec, None)):
        with_policies = compile_with_policies(base, POLICIES, ClusterProfile())
        assert [candidate[:2] for candidate in with_policies] == accepted
    assert accepted


def test_a_spec_that_cannot_be_decoded_has_no_run_policy() -> None:
    candidate = Candidate(spec_of("nodes: x"), None)
    assert list(compile_with_policies(candidate, POLICIES, ClusterProfile())) == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("nodes: 2", id="the same job"),
        pytest.param("nodes: 2\nrunPolicy: {backoffLimit: 3}", id="another run policy"),
        pytest.param(
            "nodes: 2\nrunPolicy: {onPodFailure: RestartPod}", id="another rendezvous backend"
        ),
        pytest.param("nodes: 2\nmasterPort: 29500", id="another job"),
        pytest.param("nodes: x", id="no job"),
    ],
)
def test_a_spec_compiles_the_same_beside_a_similar_one(body: str) -> None:
    like = compile_candidate(spec_of("target: job\nnodes: 2\nmasterPort: 23456"), ClusterProfile())
    spec = spec_of(f"target: job\n{body}")
    assert (
        compile_candidate(spec, ClusterProfile(), like)[:2]
        == compile_candidate(spec, ClusterProfile())[:2]
    )
