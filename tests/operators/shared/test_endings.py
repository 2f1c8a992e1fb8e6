"""Restart and completion settings on each target: the fields that implement them, or the finding if none can."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.ir.job import RunPolicy
from ptcompile.operators.shared import endings
from tests import making
from tests.making import compiled, manifest, smallest

Json = dict[str, Any]
SPOT_NODES = making.profile({"spot": {"nodeLabels": {"spot": "true"}}})
OLD_VOLCANO = making.profile({"versions": {"volcano": "1.11"}})
RANGE = "elastic: {nnodes: '2:4', maxRestarts: 3}"
FIXED = "nodes: 4"
ROLES = "master: {}\nworker: {replicas: 3}"
FOR_EVER = 2**31 - 1
DISRUPTED = [{"type": "DisruptionTarget", "status": "True"}]


def policy(*words: str) -> str:
    return f"\nrunPolicy: {{{', '.join(words)}}}"


def ends(target: str, body: str, cluster: Any = SPOT_NODES) -> Json:
    """Return a target's fields for restarts and completion as one mapping, without unset fields."""
    spec = _spec(target, body, cluster)
    if target == "volcano":
        master = spec["tasks"][0]
        events = {e: p["action"] for p in spec.get("policies", ()) for e in p["events"]}
        master_policies = {p["event"]: p["action"] for p in master.get("policies", ())}
        return _given(
            maxRetry=spec["maxRetry"],
            **events,
            **master_policies,
            task=_counted(master["maxRetry"]),
            min=spec.get("minSuccess"),
        )
    if target == "pytorchjob":
        restarts = {role["restartPolicy"] for role in spec["pytorchReplicaSpecs"].values()}
        run_policy = spec.get("runPolicy", {})
        return _given(
            restart=",".join(restarts),
            limit=run_policy.get("backoffLimit"),
            clean=run_policy.get("cleanPodPolicy"),
        )
    if target == "job":
        return _of_job(spec)
    failure = spec.get("failurePolicy")
    rules = {r["onJobFailureReasons"][0]: r["action"] for r in (failure or {}).get("rules", ())}
    whole = {
        "success": spec.get("successPolicy"),
        "again": failure and failure["maxRestarts"],
        **rules,
    }
    return _given(**_of_job(spec["replicatedJobs"][0]["template"]["spec"]), **whole)


def _counted(max_retry: int) -> int | None:
    """Return a task's maxRetry, or None for what Volcano's webhook writes, which limits nothing here."""
    return None if max_retry == 3 else max_retry


def _spec(target: str, body: str, cluster: Any) -> Json:
    if target != "trainjob":
        spec: Json = manifest(smallest(body), target, cluster)["spec"]
        return spec
    runtime, _ = compiled(smallest(body), target, cluster).manifests
    inner: Json = runtime["spec"]["template"]["spec"]
    return inner


def _of_job(spec: Json) -> Json:
    rules = spec.get("podFailurePolicy", {}).get("rules", ())
    assert all(rule["onPodConditions"] == DISRUPTED for rule in rules)
    done = spec.get("successPolicy", {}).get("rules", [{}])[0].get("succeededIndexes")
    return _given(limit=spec["backoffLimit"], lost=rules[0]["action"] if rules else None, done=done)


def _given(**fields: Any) -> Json:
    return {key: value for key, value in fields.items() if value is not None}


def problems_of(target: str, body: str, cluster: Any = SPOT_NODES) -> list[tuple[str, str, str]]:
    problems = compiled(smallest(body), target, cluster).problems
    assert all(problem.help for problem in problems)
    return [
        (problem.severity, problem.name, ".".join(map(str, problem.path[1:])))
        for problem in problems
    ]


JOB_AGAIN = {"PodFailed": "RestartJob", "PodEvicted": "RestartJob", "TaskCompleted": "CompleteJob"}
NODE_0 = {"TaskCompleted": "CompleteJob"}
UNCOUNTED = {"lost": "FailJob", "PodFailurePolicy": "RestartJobSetAndIgnoreMaxRestarts"}
IN_PLACE = {"restart": "OnFailure", "clean": "Running"}
ENDED = {"restart": "Never", "clean": "Running"}
"""Fields of a PyTorchJob that ends with its first failed pod: the other pods, which wait for it, are deleted."""

WRITTEN: list[tuple[str, str, Json]] = [
    # defaults: the first failure ends the job, and a lost node counts as a failure
    ("job", FIXED, {"limit": 0}),
    ("jobset", FIXED, {"limit": 0}),
    ("trainjob", FIXED, {"limit": 0}),
    ("volcano", FIXED, {"maxRetry": 1, **JOB_AGAIN}),
    ("pytorchjob", FIXED, ENDED),
    # a range of nodes survives a lost node but ends with the first failure
    ("job", RANGE, {"limit": 0, "lost": "Ignore", "done": "0"}),
    ("jobset", RANGE, {"limit": 0, "lost": "Ignore", "done": "0"}),
    ("trainjob", RANGE, {"limit": 0, "lost": "Ignore", "done": "0"}),
    (
        "volcano",
        RANGE,
        {"maxRetry": 1, "PodFailed": "RestartJob", **NODE_0},
    ),  # no PodEvicted: volcano issue 1866
    # docs/facts/training-operator.md#restarts-and-the-end: without a limit, pods restart forever
    ("pytorchjob", RANGE, {**IN_PLACE, "limit": 0}),
    # retries: all pods if the operator can restart them and the number is fixed, otherwise the failed pod
    ("job", FIXED + policy("backoffLimit: 2"), {"limit": 2}),
    ("jobset", FIXED + policy("backoffLimit: 2"), {"limit": 0, "again": 2}),
    ("volcano", FIXED + policy("backoffLimit: 2"), {"maxRetry": 3, **JOB_AGAIN}),
    ("pytorchjob", FIXED + policy("backoffLimit: 2"), {**IN_PLACE, "limit": 2}),
    ("job", RANGE + policy("backoffLimit: 2"), {"limit": 2, "lost": "Ignore", "done": "0"}),
    ("jobset", RANGE + policy("backoffLimit: 2"), {"limit": 2, "lost": "Ignore", "done": "0"}),
    ("trainjob", RANGE + policy("backoffLimit: 2"), {"limit": 2, "lost": "Ignore", "done": "0"}),
    (
        "volcano",
        RANGE + policy("backoffLimit: 2"),
        {"maxRetry": 3, "PodFailed": "RestartPod", **NODE_0},
    ),
    # RestartPod: six retries for each of the four nodes, because the loss of node 0 makes all of them fail
    ("job", FIXED + policy("onPodFailure: RestartPod"), {"limit": 24}),
    ("jobset", FIXED + policy("onPodFailure: RestartPod"), {"limit": 24}),
    (
        "volcano",
        FIXED + policy("onPodFailure: RestartPod"),
        {"maxRetry": 25, "PodFailed": "RestartPod", **NODE_0},
    ),
    ("pytorchjob", FIXED + policy("onPodFailure: RestartPod"), {**IN_PLACE, "limit": 24}),
    # RestartJob
    ("jobset", FIXED + policy("onPodFailure: RestartJob"), {"limit": 0, "again": 6}),
    ("jobset", ROLES + policy("onPodFailure: RestartJob"), {"limit": 0, "again": 6}),
    ("trainjob", FIXED + policy("onPodFailure: RestartJob"), {"limit": 0, "again": 6}),
    ("volcano", FIXED + policy("onPodFailure: RestartJob"), {"maxRetry": 7, **JOB_AGAIN}),
    (
        "jobset",
        RANGE + policy("onPodFailure: RestartJob"),
        {"limit": 0, "done": "0", "again": 6, **UNCOUNTED},
    ),
    # FailJob: as by default, and no pod is left running
    ("job", FIXED + policy("onPodFailure: FailJob"), {"limit": 0}),
    ("volcano", FIXED + policy("onPodFailure: FailJob"), {"maxRetry": 1, **JOB_AGAIN}),
    ("pytorchjob", FIXED + policy("onPodFailure: FailJob"), ENDED),
    # restartPolicy OnFailure without a limit means the same on all targets
    ("job", FIXED + "\nrestartPolicy: OnFailure", {"limit": 24}),
    ("jobset", FIXED + "\nrestartPolicy: OnFailure", {"limit": 24}),
    ("pytorchjob", FIXED + "\nrestartPolicy: OnFailure", {**IN_PLACE, "limit": 24}),
    (
        "pytorchjob",
        FIXED + "\nrestartPolicy: Always",
        {**IN_PLACE, "restart": "Always"},
    ),  # Always restarts forever
    (
        "volcano",
        FIXED + "\nrestartPolicy: OnFailure",
        {
            "maxRetry": 25,
            "PodEvicted": "RestartJob",
            **NODE_0,
            "TaskFailed": "TerminateJob",
            "task": 24,
        },
    ),
    # onDisruption: Ignore
    ("job", FIXED + policy("onDisruption: Ignore"), {"limit": 0, "lost": "Ignore"}),
    ("jobset", FIXED + policy("onDisruption: Ignore"), {"limit": 0, "again": 0, **UNCOUNTED}),
    ("trainjob", FIXED + policy("onDisruption: Ignore"), {"limit": 0, "again": 0, **UNCOUNTED}),
    (
        "volcano",
        f"{FIXED}\nspot: true",
        {"maxRetry": FOR_EVER, "PodFailed": "TerminateJob", "PodEvicted": "RestartJob", **NODE_0},
    ),
    ("pytorchjob", FIXED + policy("onDisruption: Ignore"), {**IN_PLACE, "limit": 0}),
    (
        "jobset",
        FIXED + policy("onDisruption: Ignore", "backoffLimit: 2"),
        {"limit": 0, "again": 2, **UNCOUNTED},
    ),
    (
        "jobset",
        FIXED + policy("onDisruption: Ignore", "onPodFailure: RestartPod"),
        {"limit": 24, "lost": "Ignore"},
    ),
    # onDisruption: Count
    ("job", RANGE + policy("onDisruption: Count"), {"limit": 0, "done": "0"}),
    ("jobset", RANGE + policy("onDisruption: Count"), {"limit": 0, "done": "0"}),
    ("volcano", RANGE + policy("onDisruption: Count"), {"maxRetry": 1, **JOB_AGAIN}),
    ("pytorchjob", RANGE + policy("onDisruption: Count"), ENDED),
    # onDisruption: FailJob
    (
        "job",
        FIXED + policy("onDisruption: FailJob", "backoffLimit: 2"),
        {"limit": 2, "lost": "FailJob"},
    ),
    (
        "jobset",
        FIXED + policy("onDisruption: FailJob", "backoffLimit: 2"),
        {"limit": 0, "lost": "FailJob", "again": 2, "PodFailurePolicy": "FailJobSet"},
    ),
    (
        "volcano",
        FIXED + "\nrestartPolicy: OnFailure" + policy("onDisruption: FailJob", "backoffLimit: 2"),
        {
            "maxRetry": 3,
            "PodEvicted": "TerminateJob",
            **NODE_0,
            "TaskFailed": "TerminateJob",
            "task": 2,
        },
    ),
    ("pytorchjob", FIXED + policy("onDisruption: FailJob"), ENDED),
    # spot implies onDisruption: Ignore
    ("job", f"{FIXED}\nspot: true", {"limit": 0, "lost": "Ignore"}),
    ("pytorchjob", f"{FIXED}\nspot: true", {**IN_PLACE, "limit": 0}),
    ("job", f"{FIXED}\nspot: true" + policy("onDisruption: Count"), {"limit": 0}),
    # successPolicy
    ("job", FIXED + policy("successPolicy: Node0"), {"limit": 0, "done": "0"}),
    ("job", RANGE + policy("successPolicy: AllNodes"), {"limit": 0, "lost": "Ignore"}),
    ("jobset", FIXED + policy("successPolicy: Node0"), {"limit": 0, "done": "0"}),
    (
        "jobset",
        ROLES + policy("successPolicy: Node0"),
        {"limit": 0, "success": {"operator": "All", "targetReplicatedJobs": ["master"]}},
    ),
    ("trainjob", ROLES + policy("successPolicy: Node0"), {"limit": 0, "done": "0"}),
    ("volcano", FIXED + policy("successPolicy: Node0"), {"maxRetry": 1, **JOB_AGAIN}),
    (
        "volcano",
        RANGE + policy("successPolicy: AllNodes"),
        {"maxRetry": 1, "PodFailed": "RestartJob", "min": 4},
    ),
    ("pytorchjob", FIXED + policy("successPolicy: Node0"), ENDED),
    ("job", policy("successPolicy: Node0"), {"limit": 0}),  # a single node is also all nodes
    # a passed deadline is not retried
    (
        "jobset",
        FIXED + policy("onDisruption: Ignore", "activeDeadlineSeconds: 9"),
        {"limit": 0, "again": 0, **UNCOUNTED, "DeadlineExceeded": "FailJobSet"},
    ),
]


@pytest.mark.parametrize(("target", "body", "expected"), WRITTEN)
def test_each_ending_becomes_fields(target: str, body: str, expected: Json) -> None:
    """Sources: docs/facts/training-operator.md#restarts-and-the-end; docs/facts/jobset.md#failure-and-success;
    docs/facts/volcano.md#policies; docs/facts/api-server.md#jobs; kubernetes-sigs/jobset issue 262.
    """
    assert ends(target, body) == expected


def test_an_older_volcano_restarts_the_job() -> None:
    """RestartPod came with Volcano 1.12.

    Source: docs/facts/volcano.md#what-releases-changed.
    """
    body = RANGE + policy("backoffLimit: 2")
    assert ends("volcano", body, OLD_VOLCANO) == {
        "maxRetry": 3,
        "PodFailed": "RestartJob",
        **NODE_0,
    }


ERROR, WARNING = ("error", "unsupported-by-target"), ("warning", "done-differently")
LEFT = ("warning", "no-retries-left", "runPolicy.backoffLimit")
ON_POD, ON_LOSS, SUCCESS = (
    "runPolicy.onPodFailure",
    "runPolicy.onDisruption",
    "runPolicy.successPolicy",
)
CRASH, CRASH_RESTARTS = (
    ("note", "crash-ends-job", f"elastic.{field}") for field in ("nnodes", "maxRestarts")
)
PEERS, NODE_0_FAILS_ALL = ("warning", "peers-fail-too"), ("warning", "node-0-fails-all")

SAID: list[tuple[str, str, list[tuple[str, str, str]]]] = [
    # RestartJob: a plain Job and a PyTorchJob replace pods one by one
    ("job", FIXED + policy("onPodFailure: RestartJob"), [(*ERROR, ON_POD)]),
    ("pytorchjob", FIXED + policy("onPodFailure: RestartJob"), [(*ERROR, ON_POD)]),
    ("job", FIXED + policy("onPodFailure: RestartJob", "onDisruption: Ignore"), [(*ERROR, ON_POD)]),
    ("pod", policy("onPodFailure: RestartPod"), [(*ERROR, ON_POD)]),
    ("pod", policy("onPodFailure: RestartJob"), [(*ERROR, ON_POD)]),
    ("pod", policy("onPodFailure: FailJob"), []),
    ("jobset", ROLES + policy("onPodFailure: RestartPod"), [(*WARNING, ON_POD)]),
    ("trainjob", ROLES + policy("onPodFailure: RestartPod"), []),
    # lost nodes
    ("pod", policy("onDisruption: Ignore"), [(*ERROR, ON_LOSS)]),
    ("pod", policy("onDisruption: Count"), []),  # no failure is retried, so a lost node ends the job
    ("pod", "spot: true", [(*WARNING, "spot")]),
    ("job", f"{RANGE}\nrestartPolicy: OnFailure" + policy("onDisruption: Ignore"), [(*ERROR, ON_LOSS)]),
    ("job", f"{RANGE}\nrestartPolicy: OnFailure" + policy("onDisruption: FailJob"), [(*ERROR, ON_LOSS)]),
    ("jobset", f"{RANGE}\nrestartPolicy: OnFailure" + policy("onDisruption: Ignore"), [(*ERROR, ON_LOSS)]),
    ("trainjob", f"{RANGE}\nrestartPolicy: OnFailure\nspot: true", [(*WARNING, "spot")]),
    ("job", f"{RANGE}\nrestartPolicy: OnFailure", []),  # the spec does not set onDisruption
    ("volcano", f"{RANGE}\nrestartPolicy: OnFailure" + policy("onDisruption: Ignore"), []),
    ("volcano", RANGE + policy("onDisruption: Count", "backoffLimit: 2"), []),
    ("volcano", FIXED + policy("onDisruption: Ignore", "backoffLimit: 2"), [(*ERROR, ON_LOSS)]),
    ("volcano", FIXED + policy("onDisruption: FailJob", "backoffLimit: 2"), [(*ERROR, ON_LOSS)]),
    ("volcano", f"{FIXED}\nspot: true" + policy("backoffLimit: 2"), [(*WARNING, "spot")]),
    ("pytorchjob", FIXED + policy("onDisruption: Count", "backoffLimit: 2"), [(*ERROR, ON_LOSS)]),
    ("pytorchjob", FIXED + policy("onDisruption: FailJob", "backoffLimit: 2"), [(*ERROR, ON_LOSS)]),
    ("pytorchjob", f"{RANGE}\nrestartPolicy: Never" + policy("onDisruption: Ignore"), [(*ERROR, ON_LOSS), CRASH]),
    ("pytorchjob", f"{RANGE}\nrestartPolicy: Never\nspot: true", [(*WARNING, "spot"), CRASH]),
    ("pytorchjob", f"{RANGE}\nrestartPolicy: Never", [CRASH]),
    # running pods when the job ends
    ("jobset", FIXED + policy("cleanPodPolicy: None"), [("note", "done-differently", "runPolicy.cleanPodPolicy")]),
    ("jobset", policy("cleanPodPolicy: None"), []),  # nothing runs any more
    ("jobset", "roles: {loader: {command: [load]}}" + policy("cleanPodPolicy: None"),
     [("note", "done-differently", "runPolicy.cleanPodPolicy")]),
    ("jobset", FIXED + policy("cleanPodPolicy: Running"), []),
    ("jobset", policy("cleanPodPolicy: All"), [(*ERROR, "runPolicy.cleanPodPolicy")]),
    # success
    ("pytorchjob", FIXED + policy("successPolicy: AllNodes"), [(*ERROR, SUCCESS)]),
    ("pytorchjob", RANGE + policy("successPolicy: AllNodes"), [(*ERROR, SUCCESS), CRASH]),
    ("pytorchjob", RANGE + policy("successPolicy: Node0"), [(*WARNING, SUCCESS), CRASH]),
    ("pytorchjob", policy("successPolicy: AllNodes"), []),
    # a pod that restarts in place forever
    ("pod", "restartPolicy: OnFailure", [(*WARNING, "restartPolicy")]),
    ("pod", "restartPolicy: Always", []),
    # the processes of other nodes fail when one is lost (PyTorch, `_invoke_run`)
    ("job", f"{FIXED}\nspot: true", [(*PEERS, "spot")]),
    ("job", f"{FIXED}\nspot: true" + policy("backoffLimit: 2"), [(*PEERS, "spot")]),
    ("jobset", f"{FIXED}\nspot: true", [(*PEERS, "spot")]),
    ("jobset", f"{FIXED}\nspot: true" + policy("backoffLimit: 2"), []),  # all pods restart, and that is one retry
    ("volcano", FIXED + policy("onDisruption: Ignore"), [(*ERROR, ON_LOSS), (*PEERS, ON_LOSS)]),
    ("pytorchjob", f"{FIXED}\nspot: true", [(*PEERS, "spot")]),
    # other nodes' torchrun fails with node 0's, which holds the store (PyTorch 2.13, measured)
    ("job", "elastic: {nnodes: 4, maxRestarts: 1}\nspot: true", [(*NODE_0_FAILS_ALL, "spot")]),
    ("job", "elastic: {nnodes: 4, maxRestarts: 1}\nspot: true" + policy("backoffLimit: 2"),
     [(*NODE_0_FAILS_ALL, "spot")]),
    ("job", "elastic: {nnodes: 4, maxRestarts: 1}\nspot: true" + policy("backoffLimit: 3"), []),
    ("jobset", "elastic: {nnodes: 4, maxRestarts: 1}\nspot: true", [CRASH_RESTARTS]),  # full restarts do not count
    ("jobset", f"{RANGE}\nspot: true", [(*NODE_0_FAILS_ALL, "spot")]),
    ("volcano", RANGE + policy("onDisruption: Ignore"), [(*ERROR, ON_LOSS), (*NODE_0_FAILS_ALL, ON_LOSS)]),
    ("pytorchjob", f"{RANGE}\nspot: true" + policy("onPodFailure: RestartPod"), []),
    ("job", "elastic: {nnodes: 4, maxRestarts: 1, rdzvBackend: etcd-v2, rdzvEndpoint: 'etcd:2379'}\nspot: true",
     [CRASH_RESTARTS]),
    ("job", RANGE, [CRASH]),  # a lost node does not count, but a crash does
    ("job", RANGE + policy("backoffLimit: 0"), [CRASH]),
    ("job", RANGE + policy("onPodFailure: FailJob"), []),
    ("job", RANGE + policy("backoffLimit: 6"), []),
    ("job", f"{RANGE}\nrestartPolicy: OnFailure" + policy("backoffLimit: 0"), [LEFT]),
    ("pytorchjob", RANGE, [CRASH]),
    ("pod", "elastic: {maxRestarts: 1}", []),
    ("jobset", "elastic: {maxRestarts: 1}", [CRASH_RESTARTS]),
    ("volcano", RANGE, [CRASH]),
    ("trainjob", "elastic: {nnodes: 2, maxRestarts: 1}", [CRASH_RESTARTS]),
    ("job", "spot: true", []),
    ("job", "elastic: {nnodes: '2:4'}", [CRASH]),
]  # fmt: skip


@pytest.mark.parametrize(("target", "body", "expected"), SAID)
def test_endings_that_a_target_lacks_are_reported(
    target: str, body: str, expected: list[tuple[str, str, str]]
) -> None:
    assert problems_of(target, body) == expected


def test_restart_pod_needs_volcano_1_12() -> None:
    assert problems_of("volcano", RANGE + policy("onPodFailure: RestartPod"), OLD_VOLCANO) == [
        (*ERROR, ON_POD)
    ]


@pytest.mark.parametrize("target", ["job", "jobset", "trainjob"])
def test_success_of_node_0_needs_kubernetes_1_33(target: str) -> None:
    older = making.profile({"versions": {"kubernetes": "1.32"}})
    assert problems_of(target, FIXED + policy("successPolicy: Node0"), older) == [(*ERROR, SUCCESS)]
    assert problems_of(target, RANGE + policy("successPolicy: AllNodes"), older) == [CRASH]


def test_jobset_of_roles_uses_its_own_success_policy_on_any_kubernetes() -> None:
    older = making.profile({"versions": {"kubernetes": "1.32"}})
    assert problems_of("jobset", ROLES + policy("successPolicy: Node0"), older) == []


@pytest.mark.parametrize(("target", "body", "_wanted"), WRITTEN)
def test_emitted_manifests_have_no_errors(target: str, body: str, _wanted: Json) -> None:
    """Our offline API server and webhooks accept all of these manifests."""
    assert compiled(smallest(body), target, SPOT_NODES).manifests


@pytest.mark.parametrize(
    ("body", "kind"),
    [("", "Pod"), ("spot: true", "Job"), ("restartPolicy: OnFailure", "Job"), ("restartPolicy: Always", "Pod"),
     ("runPolicy: {onDisruption: Ignore}", "Job"), ("runPolicy: {onPodFailure: FailJob}", "Pod")],
)  # fmt: skip
def test_default_target_is_a_job_if_a_pod_only_approximates_the_spec(body: str, kind: str) -> None:
    (manifest,) = compiled(smallest(body), None, SPOT_NODES).manifests
    assert manifest["kind"] == kind


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (RunPolicy(), 0),
        (RunPolicy(backoff_limit=0, on_pod_failure="RestartPod"), 0),
        (RunPolicy(on_pod_failure="RestartJob"), endings.RETRIES),
        (RunPolicy(on_pod_failure="FailJob"), 0),
        (RunPolicy(backoff_limit=4), 4),
    ],
)
def test_a_run_policy_gives_the_retries(given: RunPolicy, expected: int) -> None:
    assert endings.retries(making.job(run_policy=given)) == expected


BACKENDS = [
    (FIXED, "static"),
    (f"{FIXED}\nspot: true", "c10d"),
    (f"{FIXED}\nspot: true" + policy("onDisruption: Count"), "static"),
    (FIXED + policy("onPodFailure: RestartPod"), "c10d"),
    (FIXED + policy("onPodFailure: RestartJob"), "static"),  # all pods join a new rendezvous
    (FIXED + policy("onPodFailure: RestartJob", "backoffLimit: 2"), "static"),
    (FIXED + policy("backoffLimit: 2"), "c10d"),
    (FIXED + policy("onDisruption: Ignore"), "c10d"),
    ("master: {}\nworker: {replicas: 2, restartPolicy: OnFailure}", "c10d"),
]


@pytest.mark.parametrize(("body", "backend"), BACKENDS)
def test_backend_lets_replaced_pods_rejoin(body: str, backend: str) -> None:
    """A replaced pod cannot rejoin a static rendezvous.

    Source: docs/facts/kubernetes.md#indexed-jobs.
    """
    job = manifest(smallest(body), "jobset", SPOT_NODES)
    command = job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"][
        "containers"
    ][0]["command"]
    assert ("--rdzv-backend=c10d" in command) is (backend == "c10d")


CRASHES = [
    ("job", "backoffLimit 0 fails the Job with its first failed pod"),
    ("jobset", "backoffLimit 0 fails its Job, and the first failed Job fails the JobSet"),
    ("volcano", "maxRetry 1 allows no restart of the job"),
    ("pytorchjob", "backoffLimit 0 fails the PyTorchJob when a container restarts"),
]


@pytest.mark.parametrize(("target", "crash"), CRASHES)
def test_note_describes_a_crash_on_the_target(target: str, crash: str) -> None:
    (problem,) = compiled(smallest(RANGE), target).problems
    assert problem.message.endswith(f"but a pod that crashes ends the job: {crash}")
