"""Device claims of pods, as text and as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.api.simulate import simulate
from ptcompile.simulator.as_text import overview
from tests.making import smallest

GB200 = "nodes: 2\naccelerator: nvidia-gb200\nfabric: nvlink-domain\nresources: {gpu: 4}"
CASES = [
    (GB200, {"cloud": "eks"}, ["compute-domain-channel: 1 channel of ComputeDomain train"]),
    ("nodes: 2\nresources: {gpu: 8}", {"gpu": {"claim": {}}}, ["gpu: 8 gpu.nvidia.com"]),
    ("nodes: 2\nresources: {gpu: 8}", {}, []),
]


@pytest.mark.parametrize("target", ["job", "jobset", "trainjob", "pytorchjob", "volcano"])
@pytest.mark.parametrize(("body", "profile", "words"), CASES)
def test_claims_are_printed(
    body: str, profile: dict[str, Any], words: list[str], target: str
) -> None:
    world = simulate(
        smallest(body), target=target, cluster={"kind": "ClusterProfile", "spec": profile}
    )
    output = overview(world)
    assert all(claim in output for claim in words)
    assert ("claims  " in output) is bool(words)
    for pod in world.to_dict()["pods"]:
        assert [
            f"{claim['name']}: {', '.join(claim['devices'])}" for claim in pod["claims"]
        ] == words


def test_a_claim_outside_the_stream_has_only_its_name() -> None:
    spec = {
        "containers": [{"name": "a", "image": "a"}],
        "resourceClaims": [{"name": "nics", "resourceClaimName": "shared"}],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    assert "nics: devices that the stream does not name (shared claim shared)" in overview(
        simulate(pod)
    )
