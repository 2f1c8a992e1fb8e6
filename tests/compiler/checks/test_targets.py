"""The budget of names: what is derived from a job's name fits at the budget, and is refused one character above it.

Queues, priorities, topology and gangs: where each target says them, and what it cannot say.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ptcompile.compiler.checks.targets import room
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.compiler.pipeline import Compiled, compile_document
from ptcompile.kubernetes.names import LABEL_VALUE_MAX
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.registry.targets import TARGETS, target_named
from ptcompile.simulator.pod import Pod
from ptcompile.simulator.world import simulate
from tests import making
from tests.making import DEFAULT_CLUSTER, compiled, manifest, smallest
from tests.strategies import specs

GANG = making.profile({"gangScheduler": "scheduler-plugins"})


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_derives_names_and_says_from_where(target: str) -> None:
    assert target_named(target).derived
    for derived in target_named(target).derived:
        assert derived.source
        assert "{job}" in derived.pattern
        assert derived.limit in {63, 253}


def _named(spec: dict[str, Any], name: str, target: str) -> Compiled:
    return compile_document({**spec, "metadata": {**spec["metadata"], "name": name}}, DEFAULT_CLUSTER, target)


@given(specs(), st.sampled_from(list(TARGETS)))
def test_generated_specs_at_the_budget_and_above_it(spec: dict[str, Any], target: str) -> None:
    spec = copy.deepcopy(spec)
    if not _named(spec, "a", target).manifests:
        return
    read, _ = decode_spec(spec)
    assert read is not None
    longest = room(lower(read, DEFAULT_CLUSTER), target_named(target)).longest
    fits = _named(spec, "a" * longest, target)
    assert fits.manifests
    assert {one.name for one in fits.problems} == {one.name for one in _named(spec, "a", target).problems}
    above = [one for one in _named(spec, "a" * (longest + 1), target).problems if one.severity == "error"]
    assert [one.path for one in above] == [("metadata", "name")]
    assert above[0].name == "name-too-long"
    _check_world(fits.manifests)


def _check_world(manifests: tuple[dict[str, Any], ...]) -> None:
    """No name that the operators make is too long for what it is."""
    world = simulate(manifests)
    for job in world.jobs:
        assert not job.expansion.refused
        assert all(len(one["metadata"]["name"]) <= 63 for one in job.expansion.services)
        assert all(len(str(one["name"])) <= 63 for one in job.expansion.jobs)
        assert all(len(one["metadata"]["name"]) <= 253 for one in job.expansion.configmaps)
        for pod in job.pods():
            _check_pod(pod)


def _check_pod(pod: Pod) -> None:
    # The Job controller cuts a pod's name to make room for the random part (Kubernetes 1.36).
    assert len(pod.name) <= 63
    assert pod.hostname is None or len(pod.hostname) <= 63
    assert all(len(value) <= LABEL_VALUE_MAX for value in pod.view.labels.values())
    assert all(len(str(volume["name"])) <= 63 for volume in pod.view.volumes)


BESIDE = "roles: {data-loader: {replicas: 10, command: [serve]}}"
ROWS = [
    ("pod", "", 63, "the pod's host name <name>"),  # docs/facts/kubernetes.md#indexed-jobs
    ("job", "nodes: 8", 61, "the last pod's host name <name>-7"),  # docs/facts/api-server.md#jobs
    ("job", "nodes: 101", 59, "the last pod's host name <name>-100"),
    # docs/facts/training-operator.md#pods-and-services
    ("pytorchjob", "nodes: 8", 54, "the last pod and its Service <name>-master-0"),
    (
        "pytorchjob",
        "elastic: {nnodes: '2:20'}\nrunPolicy: {backoffLimit: 9}",
        53,
        "the last pod and its Service <name>-worker-19",
    ),
    ("volcano", "nodes: 2", 54, "the last pod's host name <name>-master-0"),  # docs/facts/volcano.md#names
    ("volcano", "nodes: 2\nvolcano: {masterTask: m, workerTask: w}", 59, "the last pod's host name <name>-m-0"),
    ("trainjob", "nodes: 8", 48, "the last pod <name>-node-0-7-xxxxx"),  # docs/facts/trainer.md#what-is-built
    ("jobset", "nodes: 100", 47, "the last pod <name>-node-0-99-xxxxx"),  # docs/facts/jobset.md#admission
    ("volcano", BESIDE, 49, "the last pod's host name <name>-data-loader-9"),
    ("trainjob", BESIDE, 41, "the last pod <name>-data-loader-0-9-xxxxx"),
    ("jobset", BESIDE, 41, "the last pod <name>-data-loader-0-9-xxxxx"),
    ("jobset", "nodes: 101\n" + BESIDE.replace("data-", ""), 46, "the last pod <name>-node-0-100-xxxxx"),
    ("jobset", "master: {}\nworker: {replicas: 101}", 44, "the last pod <name>-worker-100-0-xxxxx"),
]


@pytest.mark.parametrize(("target", "body", "longest", "what"), ROWS)
def test_the_message_names_the_tightest_name_and_a_safe_one(target: str, body: str, longest: int, what: str) -> None:
    assert compiled(smallest(body, "a" * longest), target).manifests
    if longest == 63:
        return
    (problem,) = compiled(smallest(body, "a" * (longest + 1)), target).problems
    assert f"leaves no room for {what}, which has a limit of 63" in problem.message
    assert problem.help == f"use at most {longest} characters, such as {'a' * longest!r}"


@pytest.mark.parametrize("target", ["job", "jobset"])
def test_the_pod_group_s_label_fits_too(target: str) -> None:
    longest = {"job": 61, "jobset": 48}[target]
    done = compiled(smallest("nodes: 2", "a" * longest), target, GANG)
    assert "PodGroup" in [one["kind"] for one in done.manifests]
    _check_world(done.manifests)


LEVELS = {"topology": {"name": "net", "levels": {"rack": {"nodeLabel": "example.com/rack", "tier": 2}}}}
KUEUE, VOLCANO, KAI = (making.profile({"queueSystem": one, **LEVELS}) for one in ("kueue", "volcano", "kai"))
DISPATCH = {"queueSystem": "kueue", "multiKueue": True}
NODES = "nodes: 3\nresources: {cpu: 2, gpu: 4}\n"
RANGE = "elastic: {nnodes: '2:3'}\nrunPolicy: {backoffLimit: 9}\nresources: {cpu: 2, gpu: 4}\n"
QUEUED = "queue: team-a\npriority: high\n"
NEAR = "queue: team-a\ntopology: {required: rack}\n"
ALL = list(TARGETS)
SEVERAL = [name for name in ALL if name != "pod"]


def found(target: str, body: str, profile: Any) -> list[tuple[str, str, tuple[Any, ...]]]:
    problems = compiled(smallest(body), target, profile).problems
    return [(one.name, one.severity, one.path) for one in problems]


def body_for(target: str, body: str) -> str:
    return body if target == "pod" else NODES + body


def templates(target: str, body: str, profile: Any) -> list[dict[str, Any]]:
    """The pod templates of what is emitted; of a Pod itself."""
    made = compiled(smallest(body), target, profile).manifests
    return [one for manifest in made for one in _templates(manifest)] if target != "pod" else [dict(made[0])]


def _templates(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, dict):
        here = [node] if "spec" in node and "containers" in nested_map(node, "spec") else []
        return here + [one for value in node.values() for one in _templates(value)]
    return [one for item in node for one in _templates(item)] if isinstance(node, list) else []


# ---- Kueue (docs/facts/kueue.md#jobs-and-queues)


@pytest.mark.parametrize("target", [name for name in ALL if name != "volcano"])
def test_kueue_reads_queue_and_priority_from_labels_of_the_object(target: str) -> None:
    made = compiled(smallest(body_for(target, QUEUED)), target, KUEUE).manifests[-1]
    labels = {"kueue.x-k8s.io/queue-name": "team-a", "kueue.x-k8s.io/priority-class": "high"}
    assert made["metadata"]["labels"] == labels
    assert "suspend" not in made["spec"]
    if target != "pod":
        assert all("kueue" not in str(one.get("metadata", {})) for one in templates(target, NODES + QUEUED, KUEUE))


@pytest.mark.parametrize("target", [name for name in ALL if name != "volcano"])
@pytest.mark.parametrize("word", ["required", "preferred"])
def test_kueue_reads_the_topology_from_the_pods(target: str, word: str) -> None:
    body = body_for(target, NEAR.replace("required", word))
    pods = templates(target, body, KUEUE)
    assert pods
    for pod in pods:
        assert pod["metadata"]["annotations"][f"kueue.x-k8s.io/podset-{word}-topology"] == "example.com/rack"


@pytest.mark.parametrize(
    ("target", "body", "together"),
    [
        ("pytorchjob", "nodes: 1", False),
        ("pytorchjob", "nodes: 3", True),  # Master and Worker are two pod sets
        ("pytorchjob", "elastic: {nnodes: '2:3'}", False),
        ("jobset", "nodes: 3", False),
        ("jobset", "master: {}\nworker: {replicas: 2}", True),
        ("trainjob", "nodes: 3", False),
        ("job", "nodes: 3", False),
        # ValidatePodSetGroupingTopology of Kueue: one of the two is a single pod
        ("jobset", "nodes: 3\nroles: {loader: {command: [serve]}}", True),
        ("trainjob", "nodes: 3\nroles: {loader: {command: [serve]}}", True),
        ("jobset", "nodes: 1\nroles: {loader: {replicas: 2, command: [serve]}}", True),
        ("jobset", "nodes: 3\nroles: {loader: {replicas: 2, command: [serve]}}", False),
        ("trainjob", "nodes: 3\nroles: {loader: {replicas: 2, command: [serve]}}", False),
        ("jobset", "master: {}\nworker: {replicas: 2}\nroles: {loader: {command: [serve]}}", False),
    ],
)
def test_two_pod_sets_are_kept_together(target: str, body: str, *, together: bool) -> None:
    for pod in templates(target, f"{NEAR}{body}", KUEUE):
        assert ("kueue.x-k8s.io/podset-group-name" in pod["metadata"]["annotations"]) is together


def test_the_user_s_own_annotation_stands() -> None:
    own = "podAnnotations: {kueue.x-k8s.io/podset-required-topology: mine}\n"
    (pod,) = templates("job", NODES + NEAR + own, KUEUE)
    assert pod["metadata"]["annotations"]["kueue.x-k8s.io/podset-required-topology"] == "mine"


def test_a_priority_needs_a_queue() -> None:
    wanted = [("unsupported-by-target", "error", ("spec", "priority"))]
    assert found("job", "nodes: 2\npriority: high", KUEUE) == wanted
    assert found("job", "nodes: 2\npriority: high", making.profile({"defaults": {"queue": "q"}})) == []


@pytest.mark.parametrize("target", [name for name in ALL if name not in {"pod", "volcano"}])
def test_a_suspended_job_in_kueue_s_queue_starts_all_the_same(target: str) -> None:
    said = found(target, "nodes: 2\nqueue: q\nrunPolicy: {suspend: true}", KUEUE)
    assert ("queued-differently", "warning", ("spec", "runPolicy", "suspend")) in said


@pytest.mark.parametrize(
    ("target", "where"),
    [("job", "spec"), ("jobset", "spec"), ("trainjob", "spec"), ("pytorchjob", "spec.runPolicy")],
)
def test_a_multikueue_manager_leaves_the_object_alone(target: str, where: str) -> None:
    profile = making.profile(DISPATCH)
    made = compiled(smallest("nodes: 2\nqueue: q"), target, profile).manifests[-1]
    assert nested_map(made, *where.split("."))["managedBy"] == "kueue.x-k8s.io/multikueue"
    alone = compiled(smallest("nodes: 2"), target, profile).manifests[-1]
    assert "managedBy" not in nested_map(alone, *where.split("."))


@pytest.mark.parametrize(
    ("target", "versions"),
    [("job", {"kubernetes": "1.31"}), ("pytorchjob", {"trainingOperator": "1.8"}), ("trainjob", {"trainer": "2.2"})],
)
def test_who_does_not_know_managed_by_would_run_the_job_twice(target: str, versions: dict[str, str]) -> None:
    """Sources: docs/facts/training-operator.md#fields; docs/facts/trainer.md#fields-of-a-trainjob;
    docs/facts/kueue.md#jobs-and-queues; Kueue's pages on MultiKueue.
    """
    profile = making.profile({**DISPATCH, "versions": versions})
    assert found(target, "nodes: 2\nqueue: q", profile) == [("unsupported-by-target", "error", ("spec", "queue"))]
    assert found(target, "nodes: 2", profile) == []


# ---- what a target cannot say, and what it says otherwise

RACK = NODES + "topology: {required: rack}"
ONLY_LABEL, ONLY_TIER = ({"topology": {"levels": {"rack": one}}} for one in ({"nodeLabel": "x"}, {"tier": 1}))
PLUGINS = {"gangScheduler": "scheduler-plugins"}
OLD_TRAINER: dict[str, Any] = {"versions": {"trainer": "2.0"}}
LOADERS = "roles: {loader: {replicas: 2, command: [serve]}}"
AUTO_RANGE = "elastic: {nnodes: '2:3', nprocPerNode: auto}\nrunPolicy: {backoffLimit: 9}"
OF_VOLCANO, OF_KAI = {"queueSystem": "volcano", **LEVELS}, {"queueSystem": "kai", **LEVELS}

# target, profile, spec, where it is said
REFUSED: list[tuple[str, Any, str, str]] = [
    ("volcano", OF_KAI, NODES + "queue: q", "spec.queue"),
    ("volcano", DISPATCH, NODES + "queue: q", "spec.queue"),
    ("pytorchjob", OF_VOLCANO, NODES + NEAR, "spec.topology"),
    ("job", LEVELS, RACK, "spec.topology"),
    ("job", PLUGINS | LEVELS, RACK, "spec.topology"),
    ("volcano", ONLY_LABEL, RACK, "spec.topology"),
    ("job", ONLY_TIER, NODES + NEAR, "spec.topology"),
    ("job", {"queueSystem": "kai"} | ONLY_LABEL, NODES + NEAR, "spec.topology"),
    ("volcano", {**LEVELS, "versions": {"volcano": "1.10"}}, RACK, "spec.topology"),
    ("trainjob", OLD_TRAINER, NODES + "queue: q", "spec.queue"),  # Kueue issue 14722
    ("trainjob", {"queueSystem": "volcano"} | OLD_TRAINER, NODES + "queue: q", "spec.queue"),
    ("trainjob", {"gangScheduler": "volcano"} | OLD_TRAINER, NODES, "spec"),
    ("trainjob", OF_VOLCANO, NODES + QUEUED + "priorityClassName: low", "spec.priorityClassName"),
    ("pod", OF_VOLCANO, QUEUED + "priorityClassName: low", "spec.priorityClassName"),
    ("trainjob", OF_VOLCANO, NODES + QUEUED + "priorityClassName: low\n" + LOADERS, "spec.priorityClassName"),
    (
        "trainjob",
        OF_VOLCANO,
        NODES + QUEUED + LOADERS.replace("serve]", "serve], priorityClassName: low"),
        "spec.roles.loader.priorityClassName",
    ),
    ("volcano", {"versions": {"volcano": "1.6"}}, NODES, "spec"),
    ("pytorchjob", {"versions": {"trainingOperator": "1.6"}}, NODES, "spec"),
    ("pytorchjob", {"versions": {"trainingOperator": "1.7"}}, AUTO_RANGE, "spec.elastic.nprocPerNode"),
]
WARNED: list[tuple[str, Any, str, str]] = [
    ("volcano", {"queueSystem": "kueue"}, NODES + "queue: q", "spec.queue"),
    ("volcano", {"gangScheduler": "kai"}, NODES, "spec"),
    ("volcano", PLUGINS, NODES, "spec"),
    ("trainjob", OF_VOLCANO, RANGE, "spec.elastic.nnodes"),
    ("trainjob", PLUGINS, RANGE, "spec.elastic.nnodes"),
    ("jobset", LEVELS, NODES + NEAR + LOADERS, "spec.topology"),
    ("jobset", LEVELS, NEAR + "master: {}\nworker: {}\n" + LOADERS.replace("2", "1"), "spec.topology"),
    ("trainjob", LEVELS, NODES + NEAR + LOADERS, "spec.topology"),
    ("job", {"queueSystem": "kai", "versions": {"kai": "0.14"}}, NODES, "spec"),
    ("trainjob", {"queueSystem": "kai", "versions": {"kai": "0.12"}}, NODES, "spec"),
]


@pytest.mark.parametrize(("target", "profile", "body", "path"), REFUSED)
def test_what_a_target_cannot_say(target: str, profile: Any, body: str, path: str) -> None:
    (problem,) = compiled(smallest(body), target, making.profile(profile)).problems
    assert (problem.name, problem.severity) == ("unsupported-by-target", "error")
    assert problem.message.startswith(f"{path}: ")
    assert ".".join(map(str, problem.path)) == path
    assert problem.help


@pytest.mark.parametrize(("target", "profile", "body", "path"), WARNED)
def test_what_an_operator_means_by_it(target: str, profile: Any, body: str, path: str) -> None:
    done = compiled(smallest(body), target, making.profile(profile))
    assert done.manifests
    (problem,) = done.problems
    assert (problem.name, problem.severity, problem.stage) == ("queued-differently", "warning", "run")
    assert problem.message.startswith(f"{path}: ")


@pytest.mark.parametrize("target", ["job", "jobset", "pytorchjob", "volcano", "trainjob"])
def test_a_word_of_the_queue_and_the_pods_class_are_two_things(target: str) -> None:
    body = NODES + "queue: q\npriority: high\npriorityClassName: high"
    assert found(target, body, VOLCANO) == []


# ---- Volcano (docs/facts/volcano.md#gangs, #topology-and-queues), KAI and scheduler-plugins: fields by target


def test_volcano_s_own_job() -> None:
    spec = manifest(smallest(RANGE + QUEUED + "topology: {required: rack}"), "volcano", VOLCANO)["spec"]
    assert (spec["minAvailable"], spec["queue"], spec["priorityClassName"]) == (2, "team-a", "high")
    assert spec["networkTopology"] == {"mode": "hard", "highestTierAllowed": 2}
    assert "schedulerName" not in spec["tasks"][0]["template"]["spec"]
    soft = manifest(smallest(NODES + "topology: {preferred: rack}"), "volcano", VOLCANO)["spec"]
    assert soft["networkTopology"] == {"mode": "soft"}


def test_a_lone_pod_of_volcano_s_says_queue_and_priority_itself() -> None:
    """Volcano 1.16 makes its PodGroup, from the annotation and the pod's own class."""
    pod = manifest(smallest(QUEUED), "pod", VOLCANO)
    assert pod["metadata"]["annotations"] == {"scheduling.volcano.sh/queue-name": "team-a"}
    assert (pod["spec"]["schedulerName"], pod["spec"]["priorityClassName"]) == ("volcano", "high")
    assert "schedulerName" not in manifest(smallest(""), "pod", VOLCANO)["spec"]


@pytest.mark.parametrize(
    ("profile", "policy"),
    [
        ({"queueSystem": "volcano"}, {"minAvailable": 2, "queue": "team-a", "priorityClass": "high"}),
        ({"gangScheduler": "volcano"}, {"minAvailable": 2}),  # the queue is Kueue's
        (
            {"gangScheduler": "scheduler-plugins", "scheduleTimeoutSeconds": 9},
            {"minAvailable": 2, "scheduleTimeoutSeconds": 9},
        ),
        ({}, None),
        ({"queueSystem": "kai"}, None),  # KAI reads elasticPolicy.minReplicas
    ],
)
def test_a_pytorchjob_s_scheduling_policy(profile: Any, policy: Any) -> None:
    """docs/facts/training-operator.md#gangs. The operator names its scheduler itself, but for KAI."""
    spec = manifest(smallest(RANGE + QUEUED), "pytorchjob", making.profile(profile))["spec"]
    assert nested_map(spec, "runPolicy").get("schedulingPolicy") == policy
    pods = spec["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]
    assert pods.get("schedulerName") == ("kai-scheduler" if profile.get("queueSystem") == "kai" else None)


@pytest.mark.parametrize(
    ("profile", "policy"),
    [
        (OF_VOLCANO, {"volcano": {"networkTopology": {"mode": "hard", "highestTierAllowed": 2}}}),
        (PLUGINS | LEVELS | {"scheduleTimeoutSeconds": 9}, {"coscheduling": {"scheduleTimeoutSeconds": 9}}),
        (PLUGINS | LEVELS, {"coscheduling": {}}),
        (OF_KAI, None),
    ],
)
def test_a_trainjob_s_pod_group_policy(profile: Any, policy: Any) -> None:
    """docs/facts/trainer.md#runtimes, #gangs: the policy names no scheduler, so the pods do."""
    runtime = compiled(smallest(NODES + NEAR), "trainjob", making.profile(profile)).manifests[0]
    assert runtime["kind"] == "TrainingRuntime"
    assert runtime["spec"].get("podGroupPolicy") == policy


@pytest.mark.parametrize("target", [name for name in SEVERAL if name != "volcano"])
def test_kai_s_labels_topology_and_scheduler(target: str) -> None:
    """KAI 0.15: docs/batch, docs/topology, docs/developer/pod-grouper.md."""
    body = RANGE + QUEUED + "topology: {preferred: rack}"
    made = compiled(smallest(body), target, KAI).manifests[-1]
    labels = {"kai.scheduler/queue": "team-a", "priorityClassName": "high"}
    assert made["metadata"]["labels"] == labels
    annotations = made["metadata"]["annotations"]
    assert annotations["kai.scheduler/topology"] == "net"
    assert annotations["kai.scheduler/topology-preferred-placement"] == "example.com/rack"
    for pod in templates(target, body, KAI):
        assert labels.items() <= pod["metadata"]["labels"].items()
        assert pod["spec"]["schedulerName"] == "kai-scheduler"


def test_kai_is_told_the_fewest_nodes() -> None:
    key = "kai.scheduler/batch-min-member"
    job = compiled(smallest(RANGE), "job", KAI).manifests[-1]
    assert job["metadata"]["annotations"] == {key: "2"}
    assert compiled(smallest(NODES), "job", KAI).manifests[-1]["metadata"]["annotations"] == {key: "3"}
    jobset = compiled(smallest(RANGE), "jobset", KAI).manifests[-1]
    assert jobset["spec"]["replicatedJobs"][0]["template"]["metadata"]["annotations"] == {key: "2"}
    beside = compiled(smallest(RANGE + LOADERS), "jobset", KAI).manifests[-1]
    assert [one["template"].get("metadata") for one in beside["spec"]["replicatedJobs"]] == [
        {"annotations": {key: "2"}},
        None,  # KAI takes all of a Job's pods
    ]
    fixed = compiled(smallest(NODES), "jobset", KAI).manifests[-1]
    assert "metadata" not in fixed["spec"]["replicatedJobs"][0]["template"]


# ---- names that become values of labels

LONG = "q" * 64


@pytest.mark.parametrize("target", ALL)
@pytest.mark.parametrize("profile", [KUEUE, VOLCANO, KAI], ids=["kueue", "volcano", "kai"])
def test_a_queue_that_no_label_holds_is_said_at_its_word(target: str, profile: Any) -> None:
    """Kueue 0.19 and KAI 0.15 read labels; Volcano 1.16 labels the pods of its Jobs, and annotates others."""
    errors = [one for one in found(target, body_for(target, f"queue: {LONG}"), profile) if one[1] == "error"]
    labelled = profile is not VOLCANO or target == "volcano"
    refused = [("unsupported-by-target", "error", ("spec", "queue"))] if (profile, target) == (KAI, "volcano") else []
    assert errors == [("spec-invalid-value", "error", ("spec", "queue"))] * labelled + refused


def test_a_priority_is_a_label_too() -> None:
    body = f"queue: team-a\npriority: {LONG}"
    assert found("pod", body, KUEUE) == [("spec-invalid-value", "error", ("spec", "priority"))]


def test_the_profile_s_queue_is_named_as_the_profile_s() -> None:
    (problem,) = compiled(smallest(), "pod", making.profile({"defaults": {"queue": "Team A"}})).problems
    assert (problem.name, problem.path) == ("spec-invalid-value", ("spec",))
    assert "the profile's defaults.queue 'Team A'" in problem.message


@pytest.mark.parametrize("target", ALL)
@pytest.mark.parametrize("system", ["volcano", "kai"])
def test_multikueue_takes_no_job_from_another_s_queue(target: str, system: str) -> None:
    """MultiKueue takes what has Kueue's label, and managedBy keeps all others from starting it.

    Source: docs/facts/kueue.md#jobs-and-queues.
    """
    profile = making.profile({"queueSystem": system, "multiKueue": True})
    errors = [one for one in found(target, body_for(target, "queue: q"), profile) if one[1] == "error"]
    assert ("unsupported-by-target", "error", ("spec", "queue")) in errors
