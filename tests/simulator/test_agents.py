"""torchrun's agents as the simulated job and its PyTorch determine them."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS
from ptcompile.simulator.agents import Agents, agents_of
from ptcompile.simulator.rendezvous import can_rendezvous, job_rendezvous
from tests.making import smallest, text as spec_of

RANGE = Agents(
    backend="c10d", low=2, high=3, pods=3, restarts=3, has_own_store=True, wait_for_first=JOIN_TIMEOUT_SECONDS,
    wait_for_others=600, closes=False, known_at_start=False,
)  # fmt: skip
FIXED = RANGE._replace(low=3)
STATIC = FIXED._replace(backend="static", known_at_start=True, restarts=0)
SHARED = RANGE._replace(has_own_store=False)


C10D = "elastic: {nnodes: '2:3', maxRestarts: 3%s}"


def _agents(body: str, target: str = "job", cluster: str | None = None) -> Agents | None:
    job = ptcompile.simulate(smallest(body), target=target, cluster=cluster).jobs[0]
    return agents_of(job)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (C10D % "", RANGE._replace(wait_for_others=JOIN_TIMEOUT_SECONDS)),
        (
            C10D % "" + "\nenv: {TORCH_DISABLE_SHARE_RDZV_TCP_STORE: '0'}",
            SHARED._replace(wait_for_others=JOIN_TIMEOUT_SECONDS),
        ),
        (
            C10D % ", rdzvConfigs: {timeout: 20}",
            RANGE._replace(wait_for_first=20, wait_for_others=JOIN_TIMEOUT_SECONDS),
        ),
        (
            C10D % ", rdzvConfigs: {read_timeout: null, join_timeout: null}",
            RANGE._replace(wait_for_first=60),
        ),
        ("nodes: 3", STATIC._replace(wait_for_others=JOIN_TIMEOUT_SECONDS)),
        ("nodes: 1", None),
        ("nodes: 3\nelastic: {rdzvBackend: etcd-v2, rdzvEndpoint: 'etcd:2379'}", None),
    ],
)
def test_agents_follow_the_options_of_torchrun(body: str, expected: Agents | None) -> None:
    assert _agents(body) == expected


@pytest.mark.parametrize(
    ("target", "known"),
    [("job", False), ("pytorchjob", True), ("volcano", False), ("jobset", False)],
)
def test_a_bare_host_name_needs_no_dns(target: str, known: bool) -> None:
    rendezvous = _agents(C10D % "", target)
    assert rendezvous is not None
    assert rendezvous.known_at_start is known


def test_an_older_torch_shares_no_store() -> None:
    cluster = "apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {versions: {torch: '2.2'}}\n"
    rendezvous = _agents(C10D % "", cluster=cluster)
    assert rendezvous is not None
    assert rendezvous.has_own_store


@pytest.mark.parametrize(
    ("torch", "closes"),
    [("2.2", False), ("2.3", True), ("2.7", True), ("2.8", False), ("2.13", False)],
)
def test_a_drain_closes_the_rendezvous_in_some_releases(torch: str, closes: bool) -> None:
    cluster = f"apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {{versions: {{torch: '{torch}'}}}}\n"
    rendezvous, static = _agents(C10D % "", cluster=cluster), _agents("nodes: 3", cluster=cluster)
    assert rendezvous is not None
    assert static is not None
    assert rendezvous.closes == closes
    assert not static.closes


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
    assert any(
        "c10d publishes train-worker-0.other.default.svc" in note for note in rendezvous.notes
    ), rendezvous.notes


@pytest.mark.parametrize(
    ("torch", "env", "expected"),
    [("2.3", None, False), ("2.4", None, True), ("2.5", None, True), ("2.5", "1", False), ("2.5", "0", True),
     ("2.6", None, False)],
)  # fmt: skip
def test_agents_that_share_the_store_publish_its_endpoint(
    torch: str, env: str | None, expected: bool
) -> None:
    cluster = f"apiVersion: ptcompile/v1\nkind: ClusterProfile\nspec: {{versions: {{torch: '{torch}'}}}}\n"
    variable = (
        f", env: [{{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: '{env}'}}]}}]}}"
        if env
        else "}]}"
    )
    manifest = (SUBDOMAIN % "c10d").replace("}]}", variable)
    job = ptcompile.simulate(manifest, cluster=cluster).jobs[0]
    rendezvous = job_rendezvous(job)
    assert rendezvous is not None
    assert can_rendezvous(job, rendezvous) is expected


@pytest.mark.parametrize(
    ("extra", "expected"), [("", None), ("\nenv: {PET_LOCAL_ADDR: 10.0.0.1}", True)]
)
def test_host_network_needs_resolvable_names_or_local_addresses(
    extra: str, expected: bool | None
) -> None:
    words = (
        "[torchrun, --nnodes=2, --rdzv-backend=c10d, --rdzv-endpoint=train-0.train:29400, train.py]"
    )
    body = f"image: i\nnodes: 2\nhostNetwork: true\nmasterPort: 29400\ncommand: {words}{extra}"
    world = ptcompile.simulate(spec_of(body), target="job")
    assert world.ok, world.diagnostics
    job = world.jobs[0]
    rendezvous = job_rendezvous(job)
    assert rendezvous is not None
    assert can_rendezvous(job, rendezvous) is expected
