"""How a Volcano Job ends: maxRetry, minSuccess, and the policies of the job and of its tasks.

Sources: docs/facts/volcano.md#policies; volcano-sh/volcano issues 1866 and 4814.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.ir.job import UNLIMITED
from tests import making
from tests.making import compiled, smallest

SPOT = making.profile({"spot": {"nodeLabels": {"spot": "true"}}})
OLD = making.profile({"versions": {"volcano": "1.11"}})
BEFORE_1_16 = making.profile({"versions": {"volcano": "1.15"}})
FOUR = "nodes: 4"
RANGE = "elastic: {nnodes: '2:4', maxRestarts: 3, nprocPerNode: 1}"
LOADER = "roles: {l: {command: [x]}}\nnodes: 4"
IN_PLACE = "nodes: 4\nrestartPolicy: OnFailure"

DONE, BOTH = "TaskCompleted: CompleteJob", "PodFailed, PodEvicted: RestartJob"
LOST, ENDS = "PodEvicted: RestartJob", "TaskFailed: TerminateJob"


def policy(*fields: str) -> str:
    return f"\nrunPolicy: {{{', '.join(fields)}}}"


def _texts(policies: list[dict[str, Any]]) -> list[str]:
    return [f"{', '.join(p.get('events') or [p['event']])}: {p['action']}" for p in policies]


def _spec(body: str, cluster: Any = SPOT) -> dict[str, Any]:
    done = compiled(smallest(body), "volcano", cluster)
    assert done.manifests, done.problems
    spec: dict[str, Any] = done.manifests[-1]["spec"]
    return spec


@pytest.mark.parametrize(
    ("body", "retries", "policies"),
    [
        ("", 1, [BOTH]),
        (FOUR, 1, [BOTH]),
        (FOUR + policy("backoffLimit: 2"), 3, [BOTH]),
        (FOUR + policy(f"backoffLimit: {UNLIMITED}"), UNLIMITED, [BOTH]),
        (FOUR + policy("onPodFailure: FailJob"), 1, [BOTH]),
        (f"{FOUR}\nspot: true" + policy("onPodFailure: FailJob"), UNLIMITED,
         ["PodFailed: TerminateJob", LOST]),  # only PodEvicted restarts the job, and it is not counted
        (FOUR + policy("onPodFailure: RestartPod", "backoffLimit: 2"), 3, ["PodFailed: RestartPod"]),
        (FOUR + policy("onDisruption: Count", "backoffLimit: 2"), 3, [BOTH]),
        (IN_PLACE + policy("onDisruption: FailJob", "backoffLimit: 2"), 3, ["PodEvicted: TerminateJob"]),
        (FOUR + policy("onDisruption: FailJob"), 1, [BOTH]),  # no restart is left
        (RANGE, 1, ["PodFailed: RestartJob"]),  # a pod whose node is lost rejoins the others
        (RANGE + policy("backoffLimit: 2"), 3, ["PodFailed: RestartPod"]),
        (IN_PLACE, 25, [LOST]),  # a pod that restarts in place does not fail
        (LOADER, 1, ["PodFailed: RestartJob"]),  # the policy for lost nodes is on the tasks
    ],
)  # fmt: skip
def test_retries_and_policies_of_the_job(body: str, retries: int, policies: list[str]) -> None:
    spec = _spec(body)
    assert (spec["maxRetry"], _texts(spec.get("policies", []))) == (retries, policies)
    assert "minSuccess" not in spec


@pytest.mark.parametrize(
    ("body", "tasks"),
    [
        (FOUR, {"master": (3, [DONE]), "worker": (3, [])}),
        (FOUR + policy("successPolicy: AllNodes"), {"master": (3, []), "worker": (3, [])}),
        (LOADER, {"master": (3, [DONE, LOST]), "worker": (3, [LOST]), "l": (6, [ENDS])}),
        (LOADER + policy("backoffLimit: 0"),
         {"master": (3, [DONE, LOST]), "worker": (3, [LOST]), "l": (1, [ENDS])}),
        (LOADER + policy("backoffLimit: 2"),
         {"master": (3, [DONE, LOST]), "worker": (3, [LOST]), "l": (2, [ENDS])}),
        (IN_PLACE, {"master": (24, [DONE, ENDS]), "worker": (24, [ENDS])}),
        ("roles: {l: {command: [x], restartPolicy: Never}}\nnodes: 4",
         {"master": (3, [DONE]), "worker": (3, []), "l": (3, [])}),
    ],
)  # fmt: skip
def test_retries_and_policies_of_tasks(body: str, tasks: dict[str, tuple[int, list[str]]]) -> None:
    spec = _spec(body)
    found = {
        task["name"]: (task["maxRetry"], _texts(task.get("policies", []))) for task in spec["tasks"]
    }
    assert found == tasks


@pytest.mark.parametrize(
    ("body", "success"),
    [
        (FOUR + policy("successPolicy: AllNodes"), 4),
        (FOUR + policy("successPolicy: Node0"), None),
        (FOUR, None),
        (policy("successPolicy: AllNodes"), None),  # a single node is node 0
    ],
)
def test_all_nodes_must_succeed_if_the_spec_says_so(body: str, success: int | None) -> None:
    assert _spec(body.strip()).get("minSuccess") == success


def test_an_older_volcano_restarts_the_whole_job() -> None:
    """RestartPod came with Volcano 1.12."""
    assert _texts(_spec(RANGE + policy("backoffLimit: 2"), OLD)["policies"]) == [
        "PodFailed: RestartJob"
    ]


SEEN = "Volcano sees a drained pod that ends with an error as failed, and"
COUNTED = f"{SEEN} retries 2 failed pods in all"


@pytest.mark.parametrize(
    ("body", "cluster", "expected"),
    [
        (FOUR + policy("onPodFailure: RestartPod", "backoffLimit: 2"), OLD,
         ("error", "runPolicy.onPodFailure", "Volcano restarts single pods only since 1.12")),
        (RANGE + policy("onPodFailure: RestartPod", "backoffLimit: 2"), BEFORE_1_16,
         ("note", "runPolicy.onPodFailure", "before Volcano 1.16, RestartPod deletes the PodGroup too")),
        (RANGE + policy("backoffLimit: 2"), BEFORE_1_16,
         ("note", "runPolicy.onPodFailure", "a job whose pods fail together can hang forever")),
        (RANGE + policy("onPodFailure: RestartJob"), BEFORE_1_16, None),
        (RANGE + policy("onDisruption: Count", "backoffLimit: 2"), SPOT, None),
        (f"{RANGE}\nrestartPolicy: OnFailure" + policy("onDisruption: Count", "backoffLimit: 2"), SPOT,
         ("error", "runPolicy.onDisruption", "Volcano recreates a pod whose node is lost without counting it")),
        (RANGE + policy("onDisruption: Count", "backoffLimit: 2"), OLD, None),
        (FOUR + policy("onDisruption: Ignore", "backoffLimit: 2"), SPOT, ("error", "runPolicy.onDisruption", COUNTED)),
        (FOUR + policy("onDisruption: Ignore", "onPodFailure: RestartPod", "backoffLimit: 2"), SPOT,
         ("error", "runPolicy.onDisruption", COUNTED)),
        (FOUR + policy("onDisruption: Ignore"), SPOT,
         ("error", "runPolicy.onDisruption", f"{SEEN} retries 0 failed pods in all")),
        (FOUR + policy("onDisruption: FailJob", "backoffLimit: 2"), SPOT,
         ("error", "runPolicy.onDisruption", f"{SEEN} retries 2 failed pods in all")),
        (FOUR + policy("onDisruption: FailJob"), SPOT, None),
        (IN_PLACE + policy("onDisruption: FailJob", "backoffLimit: 2"), SPOT, None),
        (f"{FOUR}\nspot: true" + policy("backoffLimit: 2"), SPOT, ("warning", "spot", COUNTED)),
        (f"{FOUR}\nspot: true", SPOT, ("warning", "spot", f"{SEEN} retries 0 failed pods in all")),
        (f"{FOUR}\nspot: true" + policy("onDisruption: Count", "backoffLimit: 2"), SPOT, None),
        (FOUR + policy("backoffLimit: 2"), SPOT, None),
        (f"{IN_PLACE}" + policy("onDisruption: Ignore"), SPOT, None),
        (LOADER + policy("successPolicy: AllNodes"), SPOT,
         ("warning", "runPolicy.successPolicy", "Volcano counts pods that succeed in any role: one of l that does")),
        (FOUR + policy("successPolicy: AllNodes"), SPOT, None),
    ],
)  # fmt: skip
def test_endings_that_volcano_cannot_express_are_reported(
    body: str, cluster: Any, expected: tuple[str, str, str] | None
) -> None:
    problems = [
        p
        for p in compiled(smallest(body), "volcano", cluster).problems
        if p.name != "peers-fail-too"
    ]
    assert [(p.severity, ".".join(map(str, p.path[1:]))) for p in problems] == (
        [expected[:2]] if expected else []
    )
    assert all(expected and expected[2] in p.message for p in problems)
