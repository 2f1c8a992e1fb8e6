"""The golden manifests have no findings of rules, except those that their specs ask for."""

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
    # Volcano takes a drained pod for a failed one, and the spec retries none
    "spot-a100/volcano.yaml": {"spot-without-retries"},
    # 500m and a GPU
    **{
        f"flyte-legacy-decorator/{target}.yaml": {"fewer-cpus-than-gpus"}
        for target in (*_TARGETS, "trainjob")
    },
    # a GPU without cpu and memory, and an unknown entry point
    **{
        f"nccl-document-004/{target}.yaml": {"best-effort-gpus", "launch-not-understood"}
        for target in (*_TARGETS, "trainjob")
    },
    # $(HOME) in an argument, which no container sets
    **{
        f"awkward-text/{target}.yaml": {"literal-variable"}
        for target in ("pod", *_TARGETS, "trainjob")
    },
    # a range of nodes without restarts
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
    # a PyTorchJob with a queue, where Kueue has its defaults
    "queue-kueue/pytorchjob.yaml": {"kueue-framework-off"},
    # InfiniBand variables without an InfiniBand device
    **{f"fabric-partial/{target}.yaml": {"partial-fabric"} for target in (*_TARGETS, "trainjob")},
    # restartPolicy OnFailure: the kubelet restarts each pod separately
    **{
        f"{case}/jobset.yaml": {"lone-pod-restart"}
        for case in ("gloo-document-004", "volcano-document-003")
    },
    "nccl-document-004/jobset.yaml": {
        "best-effort-gpus",
        "launch-not-understood",
        "lone-pod-restart",
    },
    "gloo-document-004/job.yaml": {"job-restarts-alone"},
    "nccl-document-004/job.yaml": {
        "best-effort-gpus",
        "job-restarts-alone",
        "launch-not-understood",
    },
    # scraping: a spec cannot make the svc plugin allow it
    "sidecar-and-init/volcano.yaml": {"blocked-scraping"},
    # Kubernetes 1.33 drops claims of devices unless a gate is on, as the diagnostics of the case say
    **{f"claimed-mig/{target}.yaml": {"gate-off"} for target in ("pod", *_TARGETS, "trainjob")},
    # Kubernetes 1.37 has no gangs unless a gate is on
    **{f"gang-kubernetes-range/{target}.yaml": {"gate-off"} for target in ("jobset", "trainjob")},
    # suspended for a person to start
    **{
        f"suspended/{target}.yaml": {"suspended-without-queue"}
        for target in ("job", "jobset", "pytorchjob", "trainjob")
    },
    # nproc auto without devices
    **{
        f"many-processes-auto/{target}.yaml": {"host-core-processes"}
        for target in (*_TARGETS, "trainjob")
    },
}
"""Expected findings by golden manifest."""


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_golden_manifest_is_clean(name: str) -> None:
    """Checked against the golden's own cluster: older releases have other fields."""
    profile = (GOLDEN / name).parent / "cluster.yaml"
    cluster = profile.read_text() if profile.exists() else None
    report = ptcompile.lint((GOLDEN / name).read_text(), cluster=cluster)
    assert {d.name for d in report.diagnostics} == MEANT.get(name, set())
