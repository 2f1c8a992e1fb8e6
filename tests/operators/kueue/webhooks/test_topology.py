"""Topology requests of pod templates that Kueue's webhooks reject."""

from __future__ import annotations

import json

import pytest

from ptcompile.apiserver import validate
from ptcompile.diagnostics import Path
from ptcompile.operators.kueue.webhooks.topology import parse_constraints
from tests.operators.kueue.webhooks.making import (
    CONSTRAINTS,
    GROUP,
    JOB,
    JOBSET,
    POD,
    PREFERRED,
    PYTORCHJOB,
    REQUIRED,
    SIZE,
    SLICE,
    UNCONSTRAINED,
    Json,
    leader_worker_set,
    queued,
    ray_cluster,
    reasons,
    rejected,
    serving,
    template,
    with_annotations,
)

TEMPLATES: dict[str, Path] = {
    "Pod": (),
    "Job": ("spec", "template"),
    "PyTorchJob": ("spec", "pytorchReplicaSpecs", "Worker", "template"),
    "JobSet": ("spec", "replicatedJobs", 0, "template", "spec", "template"),
}

REQUESTS: list[tuple[Json, str | None]] = [
    ({REQUIRED: "rack"}, None),
    ({PREFERRED: "example.com/" + "a" * 63}, None),
    ({REQUIRED: "rack", PREFERRED: "block"}, PREFERRED),
    ({UNCONSTRAINED: "T"}, None),
    ({UNCONSTRAINED: "yes"}, UNCONSTRAINED),
    ({REQUIRED: ""}, REQUIRED),
    ({PREFERRED: "a/b/c"}, PREFERRED),
    ({SLICE: "rack"}, SLICE),
    ({SIZE: "1"}, SIZE),
    ({SLICE: "rack", SIZE: "1"}, None),
    ({SLICE: "rack", SIZE: "+1"}, None),
    ({SLICE: "bad key!", SIZE: "1"}, SLICE),
    ({SLICE: "rack", SIZE: "0"}, SIZE),
    ({SLICE: "rack", SIZE: "two"}, SIZE),
    ({SLICE: "rack", SIZE: "2147483648"}, SIZE),
    ({GROUP: "g"}, GROUP),
    ({GROUP: "7", REQUIRED: "rack"}, GROUP),
]


@pytest.mark.parametrize(
    "manifest", [POD, JOB, PYTORCHJOB, JOBSET], ids=lambda manifest: manifest["kind"]
)
@pytest.mark.parametrize(("annotations", "where"), REQUESTS)
def test_wrong_topology_requests_are_rejected_at_their_place(
    manifest: Json, annotations: Json, where: str | None
) -> None:
    path = TEMPLATES[manifest["kind"]]
    rejections = rejected(with_annotations(manifest, path, annotations))
    if manifest["kind"] == "JobSet" and REQUIRED in annotations and GROUP in annotations:
        rejections = rejections[:1]  # a group of one pod set is another problem
    place = (*path, "metadata", "annotations", where or "")
    assert rejections == ([("refused-topology-request", place)] if where else [])


@pytest.mark.parametrize(
    ("name", "is_number"), [("18446744073709551615", True), ("18446744073709551616", False)]
)
def test_group_names_are_not_numbers(name: str, is_number: bool) -> None:
    reported = reasons(with_annotations(JOB, ("spec", "template"), {REQUIRED: "rack", GROUP: name}))
    assert reported == ([f'Invalid value: "{name}": must not be a number'] if is_number else [])


@pytest.mark.parametrize(
    ("manifest", "pods"),
    [(JOB, 2), (PYTORCHJOB, 3), (JOBSET, 4)],
    ids=["Job", "PyTorchJob", "JobSet"],
)
def test_slice_is_at_most_as_large_as_the_pod_set(manifest: Json, pods: int) -> None:
    path = TEMPLATES[manifest["kind"]]
    assert rejected(with_annotations(manifest, path, {SLICE: "rack", SIZE: str(pods)})) == []
    too_large = with_annotations(manifest, path, {SLICE: "rack", SIZE: str(pods + 1)})
    assert reasons(too_large) == [
        f'Invalid value: "{pods + 1}": must not be greater than pod set count {pods}'
    ]


def test_slice_of_a_single_pod_has_no_limit() -> None:
    assert rejected(with_annotations(POD, (), {SLICE: "rack", SIZE: "99"})) == []
    assert (
        rejected(with_annotations(POD, (), {CONSTRAINTS: '[{"topology": "rack", "size": 99}]'}))
        == []
    )


LAYERS: list[tuple[str, str | None]] = [
    ('[{"topology": "rack", "size": 2}]', None),
    ('[{"topology": "block", "size": 2}, {"topology": "rack", "size": 1}]', None),
    ('[{"TOPOLOGY": "rack", "Size": 1, "more": [1]}]', None),
    ("[]", "topology constraints must contain between 1 and 3 entries: got 0"),
    ("null", "topology constraints must contain between 1 and 3 entries: got 0"),
    (
        json.dumps([{"topology": f"l{i}", "size": 1} for i in range(4)]),
        "between 1 and 3 entries: got 4",
    ),
    ("nope", "must be a valid JSON array"),
    ('{"topology": "rack", "size": 1}', "must be a valid JSON array"),
    ('[{"topology": "rack", "size": 1.0}]', "must be a valid JSON array"),
    ('[{"topology": "rack"}]', "must be greater than or equal to 1"),
    ('[{"size": 1}]', "must not be empty"),
    ('[{"topology": "rack", "size": 9}]', "must not be greater than pod set count 2"),
    ('[{"topology": "a", "size": 2}, {"topology": "a", "size": 1}]', '"a (also at index 0)"'),
]


@pytest.mark.parametrize(("text", "why"), LAYERS)
def test_slices_may_have_several_levels_behind_a_gate(text: str, why: str | None) -> None:
    job = with_annotations(JOB, ("spec", "template"), {CONSTRAINTS: text})
    assert (why is None) == (not reasons(job))
    assert all((why or "") in reason for reason in reasons(job))
    assert "TASMultiLayerTopology feature gate must be enabled" in reasons(job, (0, 18))[0]


def test_each_level_divides_the_one_before() -> None:
    layers = json.dumps([{"topology": "block", "size": 2}, {"topology": "rack", "size": 3}])
    jobset = with_annotations(JOBSET, TEMPLATES["JobSet"], {CONSTRAINTS: layers})
    assert reasons(jobset) == ["Invalid value: 3: must evenly divide the parent layer size 2"]


def test_levels_go_with_no_other_slices() -> None:
    layers = '[{"topology": "rack", "size": 1}]'
    reported = reasons(
        with_annotations(JOB, ("spec", "template"), {CONSTRAINTS: layers, SLICE: "rack", SIZE: "1"})
    )
    assert reported == [
        f"Forbidden: may not be set when '{other}' is specified" for other in (SLICE, SIZE)
    ]


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ("[null]", [("", 0)]),
        ('[{"topology": null, "size": null}]', [("", 0)]),
        ('[{"size": 1, "size": 2, "topology": "a"}]', [("a", 2)]),
        ('[{"size": true}]', None),
        ('[{"size": 2147483648}]', None),
        ('[{"topology": 1}]', None),
        ("[1]", None),
        ('"x"', None),
        ("[NaN]", None),
        ("[" * 100_000, None),
        ("9" * 10_000, None),
    ],
)
def test_go_decodes_levels(text: str, layers: list[tuple[str, int]] | None) -> None:
    assert parse_constraints(text) == layers


def grouped(**annotations: str) -> Json:
    return template(podset_group_name="g", **annotations)


LEVEL = {"podset_required_topology": "rack"}
GROUPS: list[tuple[str, Json, list[str]]] = [
    ("a leader and its workers", leader_worker_set(grouped(**LEVEL), grouped(**LEVEL)), []),
    (
        "workers alone",
        leader_worker_set(grouped(**LEVEL)),
        ["can only define groups of exactly 2 pod sets, got: 1"],
    ),
    (
        "three",
        queued(
            "ray.io/v1",
            "RayCluster",
            ray_cluster(*[{"template": grouped(**LEVEL)}] * 2, head=grouped(**LEVEL)),
        ),
        ["can only define groups of exactly 2 pod sets, got: 3"] * 3,
    ),
    (
        "two large ones",
        queued("ray.io/v1", "RayCluster", ray_cluster(*[{"template": grouped(**LEVEL)}] * 2)),
        ["at least one pod set has only 1 replica, got: 2 replica(s) and 2 replica(s)"] * 2,
    ),
    (
        "two levels",
        leader_worker_set(grouped(podset_required_topology="block"), grouped(**LEVEL)),
        ["topology consistent with"] * 2,
    ),
    (
        "a required and a preferred level",
        leader_worker_set(grouped(podset_preferred_topology="rack"), grouped(**LEVEL)),
        ["topology consistent with"] * 2,
    ),
]


@pytest.mark.parametrize(
    ("manifest", "why"), [case[1:] for case in GROUPS], ids=[case[0] for case in GROUPS]
)
def test_groups_of_pod_sets_are_checked(manifest: Json, why: list[str]) -> None:
    reported = reasons(manifest)
    assert len(reported) == len(why)
    assert all(part in reason for part, reason in zip(why, reported, strict=True))
    assert all(path[-1] == GROUP for _, path in rejected(manifest))


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_pods_of_a_serving_kind_are_rejected_one_by_one(kind: str) -> None:
    """Kueue accepts the object, and the webhook of Pods rejects each of its pods, for which slices have no limit."""
    problems = validate(serving(kind, template(podset_required_topology="bad key!")))
    found = [
        (problem.stage, problem.path[-1]) for problem in problems if problem.authority == "kueue"
    ]
    assert found == [("pod", REQUIRED)]
    slices = template(podset_slice_required_topology="rack", podset_slice_size="99")
    assert validate(serving(kind, slices)) == []
