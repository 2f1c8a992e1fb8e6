"""What we write ourselves is what our rules ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile

GOLDEN = Path(__file__).parents[2] / "golden"
MANIFESTS = sorted(
    path.relative_to(GOLDEN).as_posix()
    for path in GOLDEN.glob("*/*.yaml")
    if path.name not in ("spec.yaml", "cluster.yaml")
)
_TARGETS = ("job", "jobset", "pytorchjob", "volcano")
MEANT: dict[str, set[str]] = {
    "run-policy-zeros/job.yaml": {"ttl-zero"},
    # 500m and a GPU
    **{f"flyte-legacy-decorator/{target}.yaml": {"fewer-cpus-than-gpus"} for target in (*_TARGETS, "trainjob")},
    # a GPU, no cpu, no memory, and what the image starts is not known
    **{f"nccl-document-004/{target}.yaml": {"best-effort-gpus", "launch-not-understood"} for target in _TARGETS},
    # $(HOME) of an argument, which no container has
    **{f"awkward-text/{target}.yaml": {"literal-variable"} for target in ("pod", *_TARGETS)},
    # a range of nodes, and no restarts
    **{
        f"{case}/{target}.yaml": {"range-without-restarts"}
        for case in (
            "etcd-rendezvous",
            "queue-kai",
            "queue-volcano-beside",
            "queue-volcano-topology",
            "training-operator-1-7",
        )
        for target in (*_TARGETS, "trainjob")
    },
    # variables of InfiniBand without its device
    **{f"fabric-partial/{target}.yaml": {"partial-fabric"} for target in (*_TARGETS, "trainjob")},
    # restartPolicy OnFailure, which the kubelet does pod by pod
    **{f"{case}/jobset.yaml": {"lone-pod-restart"} for case in ("gloo-document-004", "volcano-document-003")},
    "nccl-document-004/jobset.yaml": {"best-effort-gpus", "launch-not-understood", "lone-pod-restart"},
    "gloo-document-004/job.yaml": {"job-restarts-alone"},
    "nccl-document-004/job.yaml": {"best-effort-gpus", "job-restarts-alone", "launch-not-understood"},
    # scraping, which a spec cannot ask the svc plugin to let in
    "sidecar-and-init/volcano.yaml": {"blocked-scraping"},
    # auto without devices
    **{f"many-processes-auto/{target}.yaml": {"host-core-processes"} for target in (*_TARGETS, "trainjob")},
}
"""Findings on a golden manifest that its spec asked for, by file."""


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_golden_manifest_is_clean(name: str) -> None:
    """In the cluster that it was written for: older releases have other fields."""
    profile = (GOLDEN / name).parent / "cluster.yaml"
    cluster = profile.read_text() if profile.exists() else None
    found = ptcompile.lint((GOLDEN / name).read_text(), cluster=cluster)
    assert {d.name for d in found.diagnostics} == MEANT.get(name, set())
