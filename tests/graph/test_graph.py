"""Graphs of simulated jobs: their content and the escaping of user text."""

from __future__ import annotations

import copy
import itertools
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from ptcompile.graph import GRAPHS
from ptcompile.graph.mermaid import escape, render_mermaid
from ptcompile.graph.picture import make_picture
from ptcompile.graph.svg import render_svg
from ptcompile.graph.svg_elements import MONO, fit_text
from ptcompile.simulator.world import World, simulate
from tests.simulator.worlds import EVIL, jobset, pod_of, pytorchjob, volcano

SVG = "{http://www.w3.org/2000/svg}"
MOUNTS = [{"name": "shm", "mountPath": "/dev/shm"}, {"name": "data", "mountPath": "/data"}]  # noqa: S108
VOLUMES: list[dict[str, Any]] = [
    {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
    {"name": "data", "persistentVolumeClaim": {"claimName": "datasets"}},
    {"name": "unused", "persistentVolumeClaim": {"claimName": "nobody"}},
]


def with_volumes(workers: int = 3) -> dict[str, Any]:
    out = pytorchjob(workers, container={"volumeMounts": MOUNTS})
    for role in out["spec"]["pytorchReplicaSpecs"].values():
        role["template"]["spec"]["volumes"] = copy.deepcopy(VOLUMES)
    return out


def texts(world: World) -> list[str]:
    return [
        "".join(node.itertext())
        for node in ET.fromstring(render_svg(world)).iter(f"{SVG}text")  # noqa: S314
    ]


def test_a_picture_hides_most_pods_of_a_large_job() -> None:
    shown = make_picture(simulate([with_volumes(255)]).jobs[0])
    assert shown.title == "PyTorchJob/llama"
    assert shown.facts[:3] == ("256 pods", "256 nodes", "2048 processes")
    assert shown.services == ("llama-master-0", "llama-worker-0 .. llama-worker-254")
    assert [sort for _, sort, _ in shown.volumes] == ["memory", "claim", "memory"]
    assert shown.meeting == "static :23456"
    master, worker = shown.groups
    assert [card.leads for card in (*master.cards, *worker.cards)] == [True, False, False, False]
    assert (worker.count, worker.hidden, worker.cards[-1].name) == (255, 252, "llama-worker-254")
    assert worker.cards[0].devices == 8


@pytest.mark.parametrize(("workers", "hidden"), [(3, 0), (4, 0), (5, 2)])
def test_a_single_pod_is_never_hidden(workers: int, hidden: int) -> None:
    assert make_picture(simulate([pytorchjob(workers)]).jobs[0]).groups[1].hidden == hidden


def test_svg_shows_pods_services_volumes_and_the_rendezvous() -> None:
    shown = texts(simulate([with_volumes(255)]))
    for text in (
        "PyTorchJob/llama",
        "llama-master-0",
        "llama-worker-254",
        "252 more",
        "node rank 255",
        "static :23456",
        "Service llama-master-0",
        "claim datasets",
        "shared memory shm 8Gi",
        "2048 \u00d7 nvidia.com/gpu",
    ):
        assert text in shown
    assert not any("nobody" in text for text in shown)


def test_each_pod_of_a_rendezvous_has_an_arrow() -> None:
    root = ET.fromstring(render_svg(simulate([pytorchjob(2)])))  # noqa: S314 - our own
    assert sum(node.get("class") == "meet" for node in root.iter(f"{SVG}path")) == 2


def test_a_pod_without_a_rendezvous_has_no_arrow() -> None:
    root = ET.fromstring(render_svg(simulate([pod_of({})])))  # noqa: S314 - our own
    assert not any(node.get("class") == "meet" for node in root.iter(f"{SVG}path"))


def test_errors_appear_in_the_picture() -> None:
    assert any(
        text.startswith("! each of the 4 pods expects one node")
        for text in texts(simulate([jobset(["torchrun", "t.py"])]))
    )


def test_svg_is_self_contained() -> None:
    text = render_svg(simulate([with_volumes(), volcano()]))
    addresses = set(re.findall(r"[a-z]+://[^\"\s<]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(script|image|use|foreignObject|a)\b|url\(|@import|\son\w+=", text)


@pytest.mark.parametrize("what", ["name", "claim", "service"])
def test_names_are_escaped(what: str) -> None:
    manifest = with_volumes()
    if what == "name":
        manifest["metadata"]["name"] = EVIL
    elif what == "claim":
        for role in manifest["spec"]["pytorchReplicaSpecs"].values():
            role["template"]["spec"]["volumes"][1]["persistentVolumeClaim"]["claimName"] = (
                EVIL + "\x00\ud800]]>"
            )
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": EVIL, "namespace": "research"},
        "spec": {"selector": {"training.kubeflow.org/replica-type": "master"}},
    }
    world = simulate([manifest, *([service] if what == "service" else [])])
    root = ET.fromstring(render_svg(world).encode())  # noqa: S314 - our own
    assert not list(root.iter(f"{SVG}script"))
    assert "\x1b" not in render_svg(world)
    assert "\u202e" not in render_svg(world)
    shown = render_mermaid(world)
    assert "<script" not in shown
    assert "\x1b" not in shown
    assert any("#60;script#62;" in line for line in shown.splitlines())


def test_every_label_of_mermaid_is_closed() -> None:
    for line in render_mermaid(
        simulate([with_volumes(), volcano(), jobset(["torchrun", "t.py"])])
    ).splitlines():
        assert line.count('"') in (0, 2), line
        assert re.fullmatch(r"[ \w]*[\w|\[\](){}<>:\-.\"/#; ,+*=]*", line), line


def test_mermaid_shows_the_same_content() -> None:
    lines = render_mermaid(simulate([with_volumes(255)])).splitlines()
    assert lines[0] == "flowchart LR"
    for line in (
        '    subgraph j0r1["worker x255"]',
        '      j0r0p0["llama-master-0<br/>node rank 0<br/>8 devices"]:::lead',
        '      j0r1more["252 more"]:::more',
        '  j0v1[("claim datasets")]',
        "  j0s0 -.-> j0r0",
        "  j0r1 --- j0v1",
        '  j0r1p2 -->|"static #58;23456"| j0r0p0',
    ):
        assert line in lines


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a-b_c.d", "a-b_c.d"),
        ('"]; end', "#34;#93;#59; end"),
        ("a#b", "a#35;b"),
        ("<b>", "#60;b#62;"),
        ("`x`", "#96;x#96;"),
    ],
)
def test_special_characters_are_escaped_for_mermaid(text: str, safe: str) -> None:
    assert escape(text) == safe


def test_a_long_name_keeps_its_ends() -> None:
    shown = fit_text("a-very-long-name-of-a-job-worker-254", 20 * 10 * MONO, 10)
    assert len(shown) == 20
    assert shown.endswith("worker-254")
    assert "\u2026" in shown


@pytest.mark.parametrize("name", list(GRAPHS))
def test_an_empty_world_has_a_picture(name: str) -> None:
    assert GRAPHS[name](World())


def test_every_box_is_within_the_picture() -> None:
    """Every box is within the width and the height, even with many roles, many volumes and long names."""
    long = {"metadata": {"name": "n" * 250}}
    world = simulate([{**with_volumes(99), **long}, volcano(50), _many_tasks(), pod_of({})])
    root = ET.fromstring(render_svg(world))  # noqa: S314 - our own
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for node in root.iter(f"{SVG}rect"):
        x, y = float(node.get("x", 0)), float(node.get("y", 0))
        assert x >= 0
        assert y >= 0
        assert x + float(node.get("width", 0)) <= width
        assert y + float(node.get("height", 0)) <= height


def _many_tasks() -> dict[str, Any]:
    out = volcano()
    out["spec"]["tasks"] = [
        {**out["spec"]["tasks"][0], "name": f"t{i}", "replicas": 3} for i in range(12)
    ]
    return out


def test_omitted_roles_are_mentioned() -> None:
    shown = make_picture(simulate([_many_tasks()]).jobs[0])
    assert len(shown.groups) == 8
    assert "4 more roles are not drawn" in shown.notes


def test_volumes_of_one_role_do_not_overlap() -> None:
    """The many volumes of one role do not overlap or leave the picture."""
    out = pod_of({"volumeMounts": [{"name": f"v{i}", "mountPath": f"/v{i}"} for i in range(9)]})
    claims = [
        {"name": f"v{i}", "persistentVolumeClaim": {"claimName": f"claim-{'x' * i}"}}
        for i in range(9)
    ]
    out["spec"]["volumes"] = claims
    text = render_svg(simulate([out]))
    width = float(re.search(r'width="([\d.]+)"', text)[1])  # type: ignore[index]
    starts = sorted(
        (float(x), float(end))
        for x, end in re.findall(r'd="M([\d.]+) [^"]*?0 0 0 ([\d.]+) [^"]*"', text)
    )
    assert len(starts) == 9
    assert starts[0][0] >= 0
    assert all(end < start for (_, end), (start, _) in itertools.pairwise(starts))
    assert starts[-1][1] <= width


def test_only_pods_of_the_rendezvous_have_an_arrow_to_its_first_pod() -> None:
    """A role that does not train, and the first pod itself, have none."""
    endpoint = "--rdzv-endpoint=js-workers-0-0.js:29400"
    manifest = jobset(["torchrun", "--nnodes=4", "--rdzv-backend=c10d", endpoint, "t.py"])
    loader = copy.deepcopy(manifest["spec"]["replicatedJobs"][0])
    loader["name"] = "loader"
    loader["template"]["spec"]["template"]["spec"]["containers"][0]["command"] = ["load"]
    manifest["spec"]["replicatedJobs"].append(loader)
    world = simulate([manifest])
    groups = make_picture(world.jobs[0]).groups
    cards = [
        (f"j0r{i}p{n}", card)
        for i, group in enumerate(groups)
        for n, card in enumerate(group.cards)
    ]
    lead = next(node for node, card in cards if card.leads)
    meeting = [node for node, card in cards if card.meets and node != lead]
    arrows = re.findall(r"^  (\w+) -->\|.*\| (\w+)$", render_mermaid(world), re.MULTILINE)
    assert arrows == [(node, lead) for node in meeting]
    assert 0 < len(meeting) < len(cards) - 1
