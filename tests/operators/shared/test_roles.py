"""Auxiliary roles on each target: three targets express them, three reject them."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.operators.targets import TARGETS
from ptcompile.spec.cluster_profile import ClusterProfile
from tests import making
from tests.making import DEFAULT_CLUSTER, compiled, manifest, smallest, text

ABLE = ("volcano", "trainjob", "jobset")
LOADER = "roles: {loader: {replicas: 2}}"


def replicated(
    body: str, target: str, cluster: ClusterProfile = DEFAULT_CLUSTER
) -> tuple[Any, dict[str, Any]]:
    """Return the spec of the JobSet or of the runtime's JobSet, and its replicatedJobs by name."""
    emitted = manifest(smallest(body), target, cluster)
    spec = emitted["spec"] if target == "jobset" else emitted["spec"]["template"]["spec"]
    return spec, {job["name"]: job for job in spec["replicatedJobs"]}


def tasks(
    body: str, cluster: ClusterProfile = DEFAULT_CLUSTER
) -> tuple[dict[str, Any], dict[str, Any]]:
    spec = manifest(smallest(body), "volcano", cluster)["spec"]
    return spec, {task["name"]: task for task in spec["tasks"]}


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in ABLE])
def test_other_targets_reject_roles_and_name_those_that_support_them(target: str) -> None:
    body = smallest("roles: {loader: {}, ps: {}}")
    problems = compiled(body, target).problems
    assert [(problem.name, problem.path, problem.on_key) for problem in problems] == [
        ("unsupported-by-target", ("spec", "roles", name), True) for name in ("loader", "ps")
    ]
    assert all(one in (problem.help or "") for problem in problems for one in ABLE)


@pytest.mark.parametrize("target", ABLE)
def test_targets_named_in_the_help_support_roles(target: str) -> None:
    assert compiled(smallest(LOADER), target).manifests


def test_default_target_is_jobset() -> None:
    done = compiled(smallest(LOADER))
    assert (done.problems, [one["kind"] for one in done.manifests]) == ((), ["JobSet"])


# ---- JobSet and the JobSet of a TrainingRuntime


@pytest.mark.parametrize("target", ["jobset", "trainjob"])
def test_role_is_a_separate_job_after_the_training_jobs(target: str) -> None:
    _, jobs = replicated(f"nodes: 3\n{LOADER}", target)
    assert list(jobs) == ["node", "loader"]
    spec = jobs["loader"]["template"]["spec"]
    assert jobs["loader"]["replicas"] == jobs["node"].get("replicas", 1) == 1
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 2, 2)
    assert (
        "metadata" not in jobs["loader"]["template"]
    )  # only the training job has the ancestor label


@pytest.mark.parametrize("target", ["jobset", "trainjob"])
def test_job_ends_with_its_training_roles(target: str) -> None:
    spec, _ = replicated(LOADER, target)
    assert spec["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["node"]}
    spec, _ = replicated("restartPolicy: Never", "jobset")
    assert "successPolicy" not in spec


def test_training_roles_may_be_two_replicated_jobs() -> None:
    spec, jobs = replicated(f"master: {{}}\nworker: {{replicas: 2}}\n{LOADER}", "jobset")
    assert list(jobs) == ["master", "worker", "loader"]
    assert spec["successPolicy"]["targetReplicatedJobs"] == ["master", "worker"]
    names = {
        role: [
            e["name"] for e in job["template"]["spec"]["template"]["spec"]["containers"][0]["env"]
        ]
        for role, job in jobs.items()
    }
    assert names == {
        "master": ["LOADER_HOSTS", "RANK"],
        "worker": ["LOADER_HOSTS", "RANK"],
        "loader": ["LOADER_HOSTS"],
    }


@pytest.mark.parametrize("target", ["jobset", "trainjob"])
@pytest.mark.parametrize(
    ("body", "limit"),
    [
        ("", 6),  # Kubernetes' default
        ("runPolicy: {backoffLimit: 2}", 2),
        ("restartPolicy: OnFailure\nrunPolicy: {backoffLimit: 2}", 2),
    ],
)
def test_role_containers_are_restarted_in_place(target: str, body: str, limit: int | None) -> None:
    _, jobs = replicated(f"{LOADER}\n{body}", target)
    job = jobs["loader"]["template"]["spec"]
    assert job.get("backoffLimit") == limit
    assert job["template"]["spec"]["restartPolicy"] == "OnFailure"


def test_role_restarted_in_place_uses_no_retries_of_the_job() -> None:
    spec, jobs = replicated(f"runPolicy: {{backoffLimit: 2}}\n{LOADER}", "jobset")
    (rule,) = spec["failurePolicy"]["rules"]
    assert spec["failurePolicy"]["maxRestarts"] == 2
    assert (rule["action"], rule["onJobFailureReasons"]) == ("FailJobSet", ["BackoffLimitExceeded"])
    # a rule without targets applies to all jobs (docs/facts/jobset.md#failure-and-success)
    assert rule["targetReplicatedJobs"] == ["loader"]
    assert jobs["node"]["template"]["spec"]["backoffLimit"] == 0


def test_role_not_restarted_in_place_is_retried_with_the_job() -> None:
    body = "restartPolicy: OnFailure\nrunPolicy: {backoffLimit: 2}\nroles: {loader: {restartPolicy: Never}}"
    spec, jobs = replicated(body, "jobset")
    assert spec["failurePolicy"] == {"maxRestarts": 2}
    assert jobs["loader"]["template"]["spec"]["backoffLimit"] == 0


@pytest.mark.parametrize("target", ["jobset", "trainjob"])
def test_only_a_range_of_nodes_ends_with_node_0(target: str) -> None:
    _, jobs = replicated(f"elastic: {{nnodes: '1:2'}}\n{LOADER}", target)
    assert "successPolicy" in jobs["node"]["template"]["spec"]
    assert not {"successPolicy", "podFailurePolicy"} & jobs["loader"]["template"]["spec"].keys()


def test_trainjob_with_roles_always_has_its_own_runtime() -> None:
    done = compiled(smallest("restartPolicy: OnFailure"), "trainjob")
    assert [one["kind"] for one in done.manifests] == ["TrainJob"]
    done = compiled(smallest(f"restartPolicy: OnFailure\n{LOADER}"), "trainjob")
    assert [one["kind"] for one in done.manifests] == ["TrainingRuntime", "TrainJob"]


def test_volcano_schedules_all_pods_of_a_trainjob() -> None:
    cluster = making.profile({"queueSystem": "volcano"})
    _, jobs = replicated(f"queue: q\n{LOADER}", "trainjob", cluster)
    pods = [job["template"]["spec"]["template"]["spec"] for job in jobs.values()]
    assert [pod["schedulerName"] for pod in pods] == ["volcano", "volcano"]


# ---- Volcano


def test_role_is_a_task_of_the_gang() -> None:
    spec, by_name = tasks(f"nodes: 3\n{LOADER}")
    assert list(by_name) == ["master", "worker", "loader"]
    assert spec["minAvailable"] == 5
    assert [(t["replicas"], t["minAvailable"]) for t in by_name.values()] == [
        (1, 1),
        (2, 2),
        (2, 2),
    ]
    assert "dependsOn" not in by_name["master"]


def test_gang_has_fewest_nodes_and_all_pods_of_the_role() -> None:
    spec, by_name = tasks(f"elastic: {{nnodes: '2:4'}}\n{LOADER}")
    assert spec["minAvailable"] == 4
    assert [t["minAvailable"] for t in by_name.values()] == [1, 1, 2]


@pytest.mark.parametrize(
    ("body", "retries"),
    [
        ("", 6),  # as in a Kubernetes Job
        # the webhook would change 0 to 3: docs/facts/volcano.md#the-mutating-webhook
        ("runPolicy: {backoffLimit: 0}", 1),
        ("runPolicy: {backoffLimit: 4}", 4),
    ],
)
def test_restarts_in_place_of_a_role_are_limited(body: str, retries: int) -> None:
    _, by_name = tasks(f"{LOADER}\n{body}")
    assert by_name["loader"]["maxRetry"] == retries
    assert by_name["loader"]["policies"] == [{"event": "TaskFailed", "action": "TerminateJob"}]
    assert by_name["loader"]["template"]["spec"]["restartPolicy"] == "OnFailure"


def test_role_with_policy_never_restarts_the_job() -> None:
    _, by_name = tasks("roles: {loader: {restartPolicy: Never}}")
    assert "policies" not in by_name["loader"]


def test_before_1_12_volcano_counts_roles_in_the_world_size() -> None:
    old = making.profile({"versions": {"volcano": "1.11"}})
    plain = text(f"image: i\ncommand: [train]\n{LOADER}")
    assert [problem.path for problem in compiled(plain, "volcano", old).problems] == [
        ("spec", "roles", "loader")
    ]
    assert compiled(smallest(LOADER), "volcano", old).manifests
    assert compiled(plain, "volcano").manifests


# ---- names


@pytest.mark.parametrize("target", ABLE)
def test_longest_pod_name_limits_the_job_name(target: str) -> None:
    body = "nodes: 2\nroles: {a-rather-long-role: {replicas: 11}}"
    (problem,) = compiled(smallest(body, "a" * 63), target).problems
    assert (problem.name, problem.path) == ("name-too-long", ("metadata", "name"))
    room = int("".join(c for c in (problem.help or "").partition("characters")[0] if c.isdigit()))
    assert compiled(smallest(body, "a" * room), target).manifests
    assert not compiled(smallest(body, "a" * (room + 1)), target).manifests
    assert compiled(smallest("nodes: 2", "a" * (room + 1)), target).manifests
