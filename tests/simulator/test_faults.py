"""Effects of faults on torchrun: each condition that decides them, and their sentences."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.simulator.faults import (
    Agents,
    Fault,
    agents_of,
    fault_sentences,
    predict,
    recreated_with,
    restarts_as_a_whole,
)
from ptcompile.simulator.rendezvous import can_rendezvous, job_rendezvous
from tests.making import smallest, text as spec_of

RANGE = Agents(
    backend="c10d", low=2, high=3, pods=3, restarts=3, own_store=True, wait_for_first=900, wait_for_others=600,
    closes=False, known_at_start=False,
)  # fmt: skip
FIXED = RANGE._replace(low=3)
STATIC = FIXED._replace(backend="static", known_at_start=True, restarts=0)
SHARED = RANGE._replace(own_store=False)
FRAGILE = RANGE._replace(restarts=0)
STALE = SHARED._replace(first_store=False)
CLOSING = RANGE._replace(closes=True)


@pytest.mark.parametrize(
    ("agents", "fault", "end"),
    [
        (RANGE, Fault("kill", 1, back=8), "all"),
        (RANGE, Fault("drain", 1, back=8), "all"),
        (STALE, Fault("kill", 1, back=8), None),
        (STALE, Fault("late", 1, 50), None),
        (STALE, Fault("late", 1, 10), "all"),
        (CLOSING, Fault("drain", 1, back=8), "fail"),
        (CLOSING, Fault("drain", 1), "fail"),
        (CLOSING, Fault("kill", 1, back=8), "all"),
        (RANGE, Fault("kill", 1), "fewer"),
        (RANGE._replace(low=3, high=4, pods=4), Fault("kill", 1), "fewer"),
        (RANGE, Fault("kill", 0, back=8), "fail"),
        (SHARED, Fault("kill", 1, back=8), "fail"),
        (SHARED, Fault("kill", 1), "fewer"),
        (FRAGILE, Fault("kill", 1, back=8), "fail"),
        (FIXED, Fault("kill", 1, back=8), "all"),
        (FIXED, Fault("kill", 1, back=601), "fail"),
        (FIXED, Fault("kill", 1), "fail"),
        (STATIC, Fault("kill", 1, back=8), "fail"),
        (RANGE, Fault("late", 1, 10), "all"),
        (RANGE, Fault("late", 1, 50), "all"),
        (SHARED, Fault("late", 1, 10), "all"),
        (SHARED, Fault("late", 1, 50), "fail"),
        (FRAGILE, Fault("late", 1, 50), None),
        (RANGE, Fault("late", 0, 150), "all"),
        (RANGE._replace(wait_for_first=60), Fault("late", 0, 40), "all"),
        (RANGE._replace(wait_for_first=60), Fault("late", 0, 75), None),
        (RANGE._replace(wait_for_first=60), Fault("late", 0, 150), "fail"),
        (FIXED, Fault("late", 2, 500), "all"),
        (FIXED, Fault("late", 2, 700), "fail"),
        (STATIC, Fault("late", 0, 240), "all"),
        (STATIC, Fault("late", 0, 900), "fail"),
        (RANGE, Fault("fail-process", 1), "all"),
        (SHARED, Fault("fail-process", 1), None),
        (FRAGILE, Fault("fail-process", 1), "fail"),
        (STATIC._replace(restarts=3), Fault("fail-process", 1), "fail"),
        (RANGE, Fault("dns-lag", 0, 6), "fail"),
        (RANGE, Fault("dns-lag", 0, 3), None),
        (RANGE, Fault("dns-lag", 0, 0.5), "all"),
        (STATIC, Fault("dns-lag", 0, 6), "all"),
    ],
)
def test_predictions(agents: Agents, fault: Fault, end: str | None) -> None:
    assert predict(agents, fault).end == end


ALL = range(3)


@pytest.mark.parametrize(
    ("agents", "fault", "recreated", "end"),
    [
        (RANGE, Fault("kill", 0, back=8), ALL, "all"),
        (FRAGILE, Fault("kill", 1, back=8), ALL, "all"),
        (STATIC, Fault("kill", 1, back=8), ALL, "all"),
        (SHARED, Fault("kill", 1, back=8), ALL, "all"),
        (CLOSING, Fault("drain", 1, back=8), ALL, "all"),
        (RANGE, Fault("kill", 1), ALL, "fewer"),
        (RANGE, Fault("kill", 0), ALL, "fail"),
        (FIXED, Fault("kill", 1), ALL, "fail"),
        (RANGE, Fault("kill", 1, back=8), range(1, 3), "all"),
        (RANGE, Fault("kill", 1, back=8), range(2), "fail"),
        (STATIC, Fault("kill", 1, back=8), range(1, 3), "fail"),
    ],
)
def test_predictions_with_recreated_pods(agents: Agents, fault: Fault, recreated: range, end: str) -> None:
    assert predict(agents, fault, recreated).end == end


@pytest.mark.parametrize(
    ("target", "policy", "expected"),
    [
        ("job", "onPodFailure: RestartPod, backoffLimit: 3", [range(1), range(1, 2), range(2, 3)]),
        ("job", "onDisruption: FailJob", [range(0)] * 3),
        ("jobset", "onPodFailure: RestartJob, backoffLimit: 3", [ALL] * 3),
        ("trainjob", "onPodFailure: RestartJob, backoffLimit: 3", [ALL] * 3),
        ("volcano", "onPodFailure: RestartJob, backoffLimit: 3", [ALL] * 3),
        ("pytorchjob", "backoffLimit: 3", [range(1), range(1, 2), range(2, 3)]),
    ],
)
def test_recreated_with(target: str, policy: str, expected: list[range]) -> None:
    body = C10D % "" + f"\nrunPolicy: {{{policy}}}"
    job = ptcompile.simulate(smallest(body), target=target).jobs[0]
    assert [recreated_with(job, number) for number in range(3)] == expected
    assert restarts_as_a_whole(job) == (expected[0] == ALL)
    whole = "torchrun, a lost or drained pod: the operator recreates all pods"
    assert any(text.startswith(whole) for text in job.failure) == (expected[0] == ALL)
    assert any(text.startswith("torchrun, a lost node 0") for text in job.failure) == (expected[0] != ALL)


def _agents(body: str, target: str = "job", cluster: str | None = None) -> Agents | None:
    job = ptcompile.simulate(smallest(body), target=target, cluster=cluster).jobs[0]
    return agents_of(job, job_rendezvous(job))


C10D = "elastic: {nnodes: '2:3', maxRestarts: 3%s}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (C10D % "", RANGE._replace(wait_for_others=900)),
        (C10D % "" + "\nenv: {TORCH_DISABLE_SHARE_RDZV_TCP_STORE: '0'}", SHARED._replace(wait_for_others=900)),
        (C10D % ", rdzvConfigs: {timeout: 20}", RANGE._replace(wait_for_first=20, wait_for_others=900)),
        (C10D % ", rdzvConfigs: {read_timeout: null, join_timeout: null}", RANGE._replace(wait_for_first=60)),
        ("nodes: 3", STATIC._replace(wait_for_others=900)),
        ("nodes: 1", None),
        ("nodes: 3\nelastic: {rdzvBackend: etcd-v2, rdzvEndpoint: 'etcd:2379'}", None),
    ],
)
def test_agents_follow_the_options_of_torchrun(body: str, expected: Agents | None) -> None:
    assert _agents(body) == expected


@pytest.mark.parametrize(
    ("target", "known"), [("job", False), ("pytorchjob", True), ("volcano", False), ("jobset", False)]
)
def test_a_bare_host_name_needs_no_dns(target: str, known: bool) -> None:
    rendezvous = _agents(C10D % "", target)
    assert rendezvous is not None
    assert rendezvous.known_at_start is known


def test_an_older_torch_shares_no_store() -> None:
    cluster = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {versions: {torch: '2.2'}}\n"
    rendezvous = _agents(C10D % "", cluster=cluster)
    assert rendezvous is not None
    assert rendezvous.own_store


@pytest.mark.parametrize(
    ("torch", "closes"), [("2.2", False), ("2.3", True), ("2.7", True), ("2.8", False), ("2.13", False)]
)
def test_a_drain_closes_the_rendezvous_in_some_releases(torch: str, closes: bool) -> None:
    cluster = f"apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {{versions: {{torch: '{torch}'}}}}\n"
    rendezvous, static = _agents(C10D % "", cluster=cluster), _agents("nodes: 3", cluster=cluster)
    assert rendezvous is not None
    assert static is not None
    assert (rendezvous.closes, static.closes) == (closes, False)


@pytest.mark.parametrize(
    ("agents", "begin", "has"),
    [
        (RANGE, "torchrun, a lost node 0: it hosts the store, so the others exit with status 1", True),
        (RANGE, "torchrun, a recreated or late pod: it joins within 5 to 15 seconds", True),
        (
            SHARED,
            "torchrun, a pod that is recreated or joins a later rendezvous: all pods exit with status 1 after 60",
            True,
        ),
        (
            STALE,
            "torchrun, a recreated or late pod: the outcome depends on chance, because the agents of PyTorch 2.4",
            True,
        ),
        (STALE, "torchrun, a pod that is recreated or joins a later rendezvous", False),
        (
            RANGE,
            "torchrun, a lost node 0: it hosts the store, so the others exit with status 1 within 3 seconds, and "
            "each of those 2 pods has failed",
            True,
        ),
        (CLOSING, "torchrun, a drained or deleted pod: the job fails: torchrun of PyTorch 2.3 to 2.7", True),
        (RANGE, "torchrun, a drained", False),
        (RANGE, "torchrun, a lost pod: the others go on with at least 2, after 39 to 49 seconds", True),
        (RANGE, "torchrun waits 900 seconds for node 0, and 600 seconds for enough other nodes", True),
        (RANGE, "torchrun on node 0 resolves the endpoint", True),
        (FRAGILE, "torchrun, a late pod: the outcome depends on chance", True),
        (STATIC, "torchrun on node 0 resolves the endpoint", False),
        (STATIC, "torchrun, a lost node 0", False),
        (STATIC, "torchrun, a lost pod: nodes of a static rendezvous cannot meet again", True),
    ],
)
def test_sentences(agents: Agents, begin: str, has: bool) -> None:
    said = list(fault_sentences(agents))
    assert any(one.startswith(begin) for one in said) is has, said


def test_the_job_lists_the_sentences() -> None:
    job = ptcompile.simulate(smallest(C10D % ""), target="job").jobs[0]
    assert any(one.startswith("torchrun, a lost node 0") for one in job.failure)
    alone = ptcompile.simulate(smallest(""), target="job").jobs[0]
    assert not any(one.startswith("torchrun") for one in alone.failure)


SUBDOMAIN = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train}
spec:
  elasticPolicy: {minReplicas: 2, maxReplicas: 3, rdzvBackend: %s}
  pytorchReplicaSpecs:
    Worker:
      replicas: 3
      template:
        spec: {subdomain: other, containers: [{name: pytorch, image: i, command: [torchrun, train.py]}]}
"""


def test_c10d_publishes_a_subdomain_without_a_service() -> None:
    job = ptcompile.simulate(SUBDOMAIN % "c10d").jobs[0]
    rendezvous = job_rendezvous(job)
    assert rendezvous is not None
    assert can_rendezvous(job, rendezvous) is False
    assert any("c10d publishes train-worker-0.other.default.svc" in note for note in rendezvous.notes), rendezvous.notes


@pytest.mark.parametrize(
    ("torch", "env", "expected"),
    [("2.3", None, False), ("2.4", None, True), ("2.5", None, True), ("2.5", "1", False), ("2.5", "0", True),
     ("2.6", None, False)],
)  # fmt: skip
def test_agents_that_share_the_store_publish_its_endpoint(torch: str, env: str | None, expected: bool) -> None:
    cluster = f"apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {{versions: {{torch: '{torch}'}}}}\n"
    variable = f", env: [{{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: '{env}'}}]}}]}}" if env else "}]}"
    manifest = (SUBDOMAIN % "c10d").replace("}]}", variable)
    job = ptcompile.simulate(manifest, cluster=cluster).jobs[0]
    rendezvous = job_rendezvous(job)
    assert rendezvous is not None
    assert can_rendezvous(job, rendezvous) is expected


@pytest.mark.parametrize(("extra", "expected"), [("", None), ("\nenv: {PET_LOCAL_ADDR: 10.0.0.1}", True)])
def test_host_network_needs_resolvable_names_or_local_addresses(extra: str, expected: bool | None) -> None:
    words = "[torchrun, --nnodes=2, --rdzv-backend=c10d, --rdzv-endpoint=train-0.train:29400, train.py]"
    body = f"image: i\nnodes: 2\nhostNetwork: true\nmasterPort: 29400\ncommand: {words}{extra}"
    world = ptcompile.simulate(spec_of(body), target="job")
    assert world.ok, world.diagnostics
    job = world.jobs[0]
    rendezvous = job_rendezvous(job)
    assert rendezvous is not None
    assert can_rendezvous(job, rendezvous) is expected
