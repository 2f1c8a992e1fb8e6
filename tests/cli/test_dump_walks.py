"""From a dump of a cluster to a profile, and with it through lint, compile, simulate and admit, as a new user would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Ran, here

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
TAINT = {"key": GPU, "effect": "NoSchedule"}


def node(name: str, machine: str, gpus: int, taints: list[Json], **labels: str) -> Json:
    allocatable = {
        "cpu": "180",
        "memory": "1800Gi",
        "pods": "110",
        **({GPU: str(gpus)} if gpus else {}),
    }
    labels = {"node.kubernetes.io/instance-type": machine, "kubernetes.io/hostname": name, **labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": {"allocatable": allocatable, "nodeInfo": {"kubeletVersion": "v1.34.2"}},
    }


def karpenter(name: str, machine: str, **spec: Any) -> Json:
    types = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [machine]}
    nodes = {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"},
        "requirements": [types],
        "taints": [TAINT],
    }
    spec = {"template": {"spec": nodes}, **spec}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": spec,
    }


GROUP = "eks.amazonaws.com/nodegroup"
THREE_POOLS = [
    node("a-1", "p5.48xlarge", 8, [TAINT], **{GROUP: "h100"}),
    node("a-2", "p5.48xlarge", 8, [TAINT], **{GROUP: "h100"}),
    node("b-1", "m5.4xlarge", 0, [], **{GROUP: "base"}),
]
"""A third pool, of L4 GPUs, has no node now, and nothing shows it."""
KARPENTER = [
    node("b-1", "m5.4xlarge", 0, [], **{"karpenter.sh/nodepool": "base"}),
    karpenter("gpu", "p5.48xlarge", limits={GPU: "16"}),
    karpenter("small", "p5.48xlarge", limits={GPU: "4"}),
]
AUTOPILOT = [
    node(
        "gk3-auto-pool-1-7b-x2",
        "e2-standard-8",
        0,
        [],
        **{"cloud.google.com/gke-nodepool": "pool-1"},
    )
]


def job(gpus: int, **spec: Any) -> Json:
    container = {
        "name": "pytorch",
        "image": "ghcr.io/acme/train:1.0",
        "command": ["python", "train.py"],
        "resources": {"limits": {"cpu": 8, "memory": "64Gi", GPU: gpus}},
    }
    pod = {
        "restartPolicy": "Never",
        "tolerations": [TAINT | {"operator": "Exists"}],
        "containers": [container],
        **spec,
    }
    body = {"backoffLimit": 0, "template": {"spec": pod}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": body,
    }


class Walk:
    """The files of a walk: dump, profile, manifest and spec."""

    def __init__(
        self,
        capsys: pytest.CaptureFixture[str],
        objects: list[Json],
        manifest: Json,
        nodes: int,
        **spec: Any,
    ) -> None:
        self.capsys = capsys
        folder = Path()
        for name, content in (
            ("dump", {"apiVersion": "v1", "kind": "List", "items": objects}),
            ("job", manifest),
        ):
            (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        spec = {"image": "a:1", "script": "t.py", "nodes": nodes, **spec}
        head = {
            "apiVersion": "ptcompile/v1",
            "kind": "TrainingJob",
            "metadata": {"name": "t", "namespace": "ml"},
        }
        (folder / "spec.json").write_text(json.dumps({**head, "spec": spec}), encoding="utf-8")
        self.profile = self.run("platform", "--from-dump", "dump.json").out
        (folder / "prod.yaml").write_text(self.profile, encoding="utf-8")

    def run(self, *words: str) -> Ran:
        return here(self.capsys, *words)

    def lint(self) -> list[tuple[str, str]]:
        """Return severity and code of the findings about placement and platform."""
        report = json.loads(
            self.run("lint", "job.json", "--cluster", "prod.yaml", "--output-format", "json").out
        )
        codes = ("PTC156", "PTC171", "PTC198")
        return [
            (each["severity"], each["code"])
            for each in report["diagnostics"]
            if each["code"] in codes
        ]

    def compile(self) -> tuple[int, str]:
        done = self.run("spec.json", "--cluster", "prod.yaml", "--target", "job")
        return done.status, done.err

    def where(self) -> list[str]:
        world = json.loads(
            self.run("simulate", "job.json", "--cluster", "prod.yaml", "--format", "json").out
        )
        texts: list[str] = world["jobs"][0]["where"]
        return texts

    def admit(self, *options: str) -> str:
        done = self.run("admit", "job.json", *options)
        return done.out + done.err


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


RESOURCES = {"cpu": 8, "memory": "64Gi", "gpu": 8}


def test_an_empty_pool_of_three_is_in_the_profile(capsys: pytest.CaptureFixture[str]) -> None:
    walk = Walk(capsys, THREE_POOLS, job(8), 2, resources=RESOURCES)
    assert "# nodePools: pools without a node now, except Karpenter's" in walk.profile
    assert walk.lint() == []
    assert walk.compile()[0] == 0
    assert walk.where() == [f"1/2 node pools fit (h100): 1 has no {GPU}, 8 are requested"]
    assert "kept by no queue" in walk.admit("--state", "dump.json")

    # the empty pool may take it: a warning, never an error
    l4 = job(1, nodeSelector={GROUP: "l4"})
    walk = Walk(capsys, THREE_POOLS, l4, 3, resources=RESOURCES)
    assert walk.lint() == [("warning", "PTC198")]
    status, text = walk.compile()
    assert status == 0
    assert "warning[PTC171" in text
    assert "0/3 nodes fit" in walk.admit("--state", "dump.json")
    assert "0/2 node pools fit" in walk.admit("--state", "dump.json", "--cluster", "prod.yaml")


def test_the_profile_of_a_karpenter_cluster_leads_to_the_same_verdicts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    walk = Walk(capsys, KARPENTER, job(8), 2, resources=RESOURCES)
    assert "count: 2" in walk.profile
    assert "count: 0" in walk.profile
    assert walk.lint() == []
    assert walk.compile()[0] == 0
    (where,) = walk.where()
    assert where.startswith("1/3 node pools fit (gpu): ")
    assert "1 has no nodes and gets none" in where
    assert "kept by no queue" in walk.admit("--state", "dump.json")

    walk = Walk(capsys, KARPENTER, job(16), 3, resources=RESOURCES)
    assert walk.lint() == [("warning", "PTC198")]
    assert walk.compile()[0] == 0
    assert "0/3" in walk.admit("--state", "dump.json")


def test_the_profile_of_an_autopilot_cluster_leads_to_the_same_verdicts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    walk = Walk(
        capsys,
        AUTOPILOT,
        job(1),
        1,
        resources={"cpu": 8, "memory": "64Gi", "gpu": 1},
        accelerator="nvidia-l4",
    )
    assert "platform: gke-autopilot" in walk.profile
    assert "nodePools: Autopilot makes nodes" in walk.profile
    assert "nodePools:\n" not in walk.profile
    assert ("error", "PTC156") in walk.lint()
    assert walk.compile()[0] == 0
    model = {"cloud.google.com/gke-accelerator": "nvidia-l4"}
    walk = Walk(
        capsys,
        AUTOPILOT,
        job(1, nodeSelector=model),
        1,
        resources={"cpu": 8, "memory": "64Gi", "gpu": 1},
    )
    assert walk.lint() == []
    assert "kept by no queue" in walk.admit("--state", "dump.json")
    assert walk.where() == []

    # without a model the compiled job would be refused too
    assert walk.compile()[0] == 1
