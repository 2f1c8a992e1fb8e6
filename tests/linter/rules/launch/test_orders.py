"""Pods that are created only when others are ready, and those that wait for them."""

from __future__ import annotations

import pytest

import ptcompile

PROBE = "readinessProbe: {httpGet: {port: 80}}"
STATIC = "torchrun, --nnodes=3, --node-rank=%s, --master-addr=%s, t.py"
POD = "{spec: {restartPolicy: %s, containers: [{name: t, image: 'a:1', command: [%s], %s}]}}"
LWS = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: train}
spec:
  replicas: 1
  startupPolicy: LeaderReady
  leaderWorkerTemplate: {size: 3, workerTemplate: %s}
"""
VOLCANO = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  minAvailable: 1
  schedulerName: volcano
  plugins: {svc: []}
  tasks:
    - {name: m, replicas: 1, template: %s}
    - {name: w, replicas: 2, dependsOn: {name: [m]}, template: %s}
"""
JOB_SET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  startupPolicy: {startupPolicyOrder: %s}
  replicatedJobs:
    - {name: m, template: {spec: {template: %s}}}
    - {name: w, %stemplate: {spec: {parallelism: 2, completions: 2, template: %s}}}
"""


def pod(rank: str, host: str, probe: str = "", restart: str = "Never") -> str:
    return POD % (restart, STATIC % (rank, host), probe)


def job_set(order: str, depends: str = "", probe: str = PROBE) -> str:
    leader, worker = (
        pod("0", "train-m-0-0.train", probe),
        pod("$(JOB_COMPLETION_INDEX)", "train-m-0-0.train"),
    )
    return JOB_SET % (order, leader, depends, worker)


def names(text: str) -> set[str]:
    return {diagnostic.name for diagnostic in ptcompile.lint(text).diagnostics}


@pytest.mark.parametrize(
    "text",
    [
        LWS % pod("$(LWS_WORKER_INDEX)", "$(LWS_LEADER_ADDRESS)", PROBE, "Always"),
        VOLCANO % (pod("0", "train-m-0.train", PROBE), pod("1", "train-m-0.train")),
        job_set("InOrder"),
        job_set("AnyOrder", "dependsOn: [{name: m, status: Ready}], "),
    ],
)
def test_orders_that_wait_for_the_training_are_reported(text: str) -> None:
    assert "ready-before-peers" in names(text)
    assert "ready-before-peers" not in names(text.replace(PROBE, "stdin: false"))
    assert "ready-before-peers" not in names(
        text.replace("[torchrun", "[bash, -c, 'server & torchrun'").replace("--", "")
    )


def test_help_of_a_deprecated_order_leads_into_no_deadlock() -> None:
    def fixed(probe: str) -> str:
        (diagnostic,) = (
            finding
            for finding in ptcompile.lint(job_set("InOrder", probe=probe)).diagnostics
            if finding.code == "PTC839"
        )
        assert diagnostic.fix is not None
        return str(diagnostic.fix.edits)

    assert "dependsOn" in fixed("stdin: false")
    assert "dependsOn" not in fixed(PROBE)
