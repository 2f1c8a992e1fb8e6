"""Gangs of KAI: which of its releases schedule a target's pods together, and the topology that it needs."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.making import profile, smallest

QUEUED = "nodes: 2\nqueue: q"
RACKS = {"levels": {"rack": {"nodeLabel": "example.com/rack"}}}


def _findings(body: str, target: str, **spec: Any) -> list[tuple[str, str, str, str | None]]:
    cluster = profile({"queueSystem": "kai", **spec})
    diagnostics = ptcompile.compile(
        smallest(body), target=target, cluster=cluster, lint=False
    ).diagnostics
    return [(d.name, d.severity, d.message, d.help) for d in diagnostics]


@pytest.mark.parametrize(
    ("target", "release", "one_by_one"),
    [
        ("job", "0.14", True),
        ("job", "0.15", False),
        ("trainjob", "0.12", True),
        ("trainjob", "0.13", False),
        ("jobset", "0.12", False),
        ("pytorchjob", "0.12", False),
    ],
)
def test_older_releases_schedule_pods_one_by_one(
    target: str, release: str, one_by_one: bool
) -> None:
    """Sources: KAI Scheduler 0.13 CHANGELOG; KAI Scheduler pull request 1308."""
    message = f"spec: KAI {release} schedules the pods of this target one by one"
    help = "use the target pytorchjob or jobset, or a newer KAI"
    expected = [("queued-differently", "warning", message, help)] if one_by_one else []
    assert _findings(QUEUED, target, versions={"kai": release}) == expected


def test_a_single_pod_needs_no_gang() -> None:
    assert _findings("queue: q", "job", versions={"kai": "0.14"}) == []


def test_a_topology_needs_the_name_of_its_object() -> None:
    body = f"{QUEUED}\ntopology: {{required: rack}}"
    assert _findings(body, "jobset", topology={**RACKS, "name": "cluster"}) == []
    ((name, severity, message, help),) = _findings(body, "jobset", topology=RACKS)
    assert (name, severity, help) == (
        "unsupported-by-target",
        "error",
        "add spec.topology.name to the profile",
    )
    assert (
        message
        == "spec.topology: the profile 'default' does not name the Topology object that KAI requires"
    )
