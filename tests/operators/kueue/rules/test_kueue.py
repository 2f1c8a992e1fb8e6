"""Where Kueue reads labels and annotations, on kinds with and without a pod template."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import ptcompile
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import run
from tests.linter.rules.launch.making import jobset, names, pod, pytorchjob, role
from tests.operators.kueue.webhooks.making import replicas

Json = dict[str, Any]
K = "kueue.x-k8s.io/"
QUEUE = {f"{K}queue-name": "research"}
TOP = f"{K}podset-required-topology"
SLICE, SIZE = f"{K}podset-slice-required-topology", f"{K}podset-slice-size"


def marked(manifest: Json, labels: Json | None = None, annotations: Json | None = None) -> Json:
    out = copy.deepcopy(manifest)
    out["metadata"] |= {"labels": labels or {}, "annotations": annotations or {}}
    return out


def job(labels: Json | None = None, annotations: Json | None = None, **spec: Any) -> Json:
    """Return a JobSet of two pods whose template has these labels and annotations."""
    out = jobset(role("python", "t.py"), **spec)
    out["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["metadata"] = {
        "labels": labels or {},
        "annotations": annotations or {},
    }
    return out


CASES: list[tuple[str, Json, set[str]]] = [
    ("a queued job", marked(job(), QUEUE), set()),
    ("an annotation beside the label", marked(job(), QUEUE, QUEUE), set()),
    ("an annotation alone", marked(job(), None, QUEUE), {"kueue-label-as-annotation"}),
    (
        "a priority as an annotation",
        marked(job(), QUEUE, {f"{K}priority-class": "high"}),
        {"kueue-label-as-annotation"},
    ),
    ("a topology as a label", marked(job({TOP: "rack"}), QUEUE), {"kueue-annotation-as-label"}),
    (
        "a count as a label",
        marked(pod("python"), QUEUE | {f"{K}pod-group-total-count": "2"}),
        {"kueue-annotation-as-label"},
    ),
    ("a queue on the pods", job(QUEUE), {"queue-label-in-template"}),
    ("a queue on both", marked(job(QUEUE), QUEUE), set()),
    ("a topology on the object", marked(job(), QUEUE, {TOP: "rack"}), {"topology-on-object"}),
    ("a topology on a Pod is its own", marked(pod("python"), QUEUE, {TOP: "rack"}), set()),
    ("one request", marked(job(None, {TOP: "rack"}), QUEUE), set()),
    ("slices", marked(job(None, {SLICE: "rack", SIZE: "2"}), QUEUE), set()),
    (
        "a group",
        marked(pod("python"), {f"{K}pod-group-name": "g"}, {f"{K}pod-group-total-count": "2"}),
        set(),
    ),
    (
        "a group named by an annotation",
        marked(pod("python"), None, {f"{K}pod-group-name": "g"}),
        set(),
    ),
    (
        "gates as a label",
        marked(job(), QUEUE | {f"{K}admission-gated-by": "a"}),
        {"kueue-annotation-as-label"},
    ),
    (
        "levels on the object",
        marked(job(), QUEUE, {f"{SLICE}-constraints": "[]"}),
        {"topology-on-object"},
    ),
    (
        "a group on the object",
        marked(job(), QUEUE, {f"{K}podset-group-name": "g"}),
        {"topology-on-object"},
    ),
    ("nothing asked for", marked(pod("python", resources={}), QUEUE), {"queue-without-requests"}),
    ("a limit is a request", marked(pod("python", resources={"limits": {"cpu": 1}}), QUEUE), set()),
    ("nothing asked for, and no queue", pod("python", resources={}), set()),
    ("MultiKueue without a queue", job(managedBy=f"{K}multikueue"), {"multikueue-without-queue"}),
    ("MultiKueue with one", marked(job(managedBy=f"{K}multikueue"), QUEUE), set()),
    ("let go by hand", marked(job(suspend=False), QUEUE), {"unsuspended-in-queue"}),
    ("held back by hand", marked(job(suspend=True), QUEUE), set()),
    ("let go by hand, and no queue", job(suspend=False), set()),
    (
        "resized, which the webhook rejects",
        marked(job(), QUEUE, {f"{K}elastic-job": "true"}),
        set(),
    ),
]


@pytest.mark.parametrize(
    ("manifest", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_rules_about_queues_fire(manifest: Json, expected: set[str]) -> None:
    assert names(manifest) & KUEUE == expected


KUEUE = frozenset(
    {
        "kueue-label-as-annotation",
        "kueue-annotation-as-label",
        "queue-label-in-template",
        "topology-on-object",
        "unsupported-by-kueue",
        "queue-without-requests",
        "multikueue-without-queue",
        "unsuspended-in-queue",
    }
)


def test_topology_is_moved_only_to_a_single_template() -> None:
    for replicated, fixed in (
        ([role("python")], True),
        ([role("python"), role("python", name="more")], False),
    ):
        manifest = marked(jobset(*replicated), QUEUE, {TOP: "rack"})
        (problem,) = run(manifest, only={"topology-on-object"})
        assert (problem.fix is not None) is fixed
        assert problem.on_key


@pytest.mark.parametrize(
    ("manifest", "safe"),
    [
        (marked(job({TOP: "rack"}), QUEUE), {"kueue-annotation-as-label": False}),
        (marked(job(), QUEUE, {TOP: "rack"}), {"topology-on-object": False}),
        (marked(job(suspend=False), QUEUE), {"unsuspended-in-queue": True}),
    ],
)
def test_only_fixes_that_change_nothing_are_safe(manifest: Json, safe: dict[str, bool]) -> None:
    problems = run(manifest, only={*safe})
    assert {problem.name: problem.fix and problem.fix.safe for problem in problems} == safe


def test_pytorchjob_has_its_settings_in_the_run_policy() -> None:
    switches = {"suspend": False, "managedBy": f"{K}multikueue", "backoffLimit": 3}
    manifest = pytorchjob(master=["python", "t.py"], runPolicy=switches)
    assert names(manifest) == {"multikueue-without-queue"}
    assert names(marked(manifest, QUEUE)) == {"unsuspended-in-queue", "kueue-framework-off"}


PYTORCHJOB = pytorchjob(master=["python", "t.py"])
QUEUED_PYTORCHJOB = marked(PYTORCHJOB, QUEUE)


def test_a_kind_that_kueue_leaves_out_is_reported() -> None:
    (problem,) = run(QUEUED_PYTORCHJOB, only={"kueue-framework-off"})
    assert problem.path[-1] == "kueue.x-k8s.io/queue-name"
    assert str(problem.help).startswith("use a TrainJob, or switch kubeflow.org/pytorchjob on")
    assert problem.on_key


@pytest.mark.parametrize(
    ("manifest", "release"),
    [
        pytest.param(QUEUED_PYTORCHJOB, (0, 18), id="Kueue 0.18 manages it by default"),
        pytest.param(PYTORCHJOB, (0, 19), id="no queue"),
        pytest.param(marked(job(), QUEUE), (0, 19), id="a kind that Kueue manages by default"),
    ],
)
def test_only_a_queued_kind_that_kueue_leaves_out_is_reported(
    manifest: dict[str, Any], release: tuple[int, int]
) -> None:
    assert not list(run(manifest, only={"kueue-framework-off"}, versions=Versions(kueue=release)))


@pytest.mark.parametrize(
    ("framework", "count"), [("kubeflow.org/pytorchjob", 0), ("kubeflow.org/tfjob", 1)]
)
def test_a_profile_switches_a_kind_on(framework: str, count: int) -> None:
    profile = {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "c"},
        "spec": {"queueFrameworks": [framework]},
    }
    report = ptcompile.lint(QUEUED_PYTORCHJOB, cluster=profile)
    assert [d.name for d in report.diagnostics].count("kueue-framework-off") == count


def test_a_fix_suspends_a_job_in_its_run_policy() -> None:
    suspended = replicas("MPIJob", "mpiReplicaSpecs", Launcher={})
    suspended["spec"]["runPolicy"] = {"suspend": False}
    (problem,) = run(suspended, only={"unsuspended-in-queue"})
    assert problem.path == ("spec", "runPolicy", "suspend")
    assert problem.fix is not None
    assert problem.fix.safe, "Kueue sets it anyway"


@pytest.mark.parametrize("queue", [None, "default"])
def test_volcano_job_keeps_the_queue_that_it_names(queue: str | None) -> None:
    spec = {"schedulerName": "volcano", "tasks": [], **({"queue": queue} if queue else {})}
    manifest = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "v"},
        "spec": spec,
    }
    (problem,) = run(marked(manifest, QUEUE), only={"unsupported-by-kueue"})
    assert (problem.fix is None) is (queue is not None)
    assert not list(run(marked(manifest), only={"unsupported-by-kueue"}))


@pytest.mark.parametrize("kind", ["JAXJob", "PaddleJob", "TFJob", "XGBoostJob"])
def test_kinds_without_a_schema_that_kueue_leaves_out_are_reported(kind: str) -> None:
    manifest = {
        "apiVersion": "kubeflow.org/v1",
        "kind": kind,
        "metadata": {"name": "a", "labels": QUEUE},
        "spec": {},
    }
    (diagnostic,) = ptcompile.lint(manifest).diagnostics
    assert (diagnostic.name, diagnostic.severity) == ("kueue-framework-off", "warning")
    assert str(diagnostic.help).startswith(f"switch kubeflow.org/{kind.lower()} on")
