"""Cases of public reports of training jobs on Kubernetes, each from its text: the finding that names the cause.

A letter and a number are those of the report; 7 is the item on selectors and labels that mean nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ptcompile

FOLDER = Path(__file__).parent / "reports"
PROFILES: dict[str, Any] = {
    "karp_prof": {
        "nodePools": {
            "gpu": {"machine": "p5.48xlarge", "taints": [{"key": "dedicated", "value": "ml"}]}
        },
        "cloud": "eks",
    },
    "sharing_profile": {"gpu": {"sharing": {"strategy": "time-slicing"}}},
    "autopilot": {"platform": "gke-autopilot"},
    "autopilot_no_accel": {"platform": "gke-autopilot"},
    "autopilot_privileged": {"platform": "gke-autopilot"},
    "openshift": {"platform": "openshift"},
    "cdomain": {"clusterDomain": "corp.internal"},
}
REPORTS = [
    (
        "A1",
        "gcsfuse_none",
        "PTC319",
        "warning",
        "gcsfuse.csi.storage.gke.io mounts through a sidecar, which",
    ),
    (
        "A2",
        "lr_default",
        "PTC301",
        "warning",
        "16Gi is above the memory limit, 512Mi, so the container is",
    ),
    (
        "A4",
        "gpu_unreq",
        "PTC205",
        "warning",
        "selects nodes with NVIDIA-H100-80GB-HBM3, but no container",
    ),
    ("A8", "istio_none", "", "", ""),
    (
        "B1",
        "karp_fit",
        "PTC198",
        "warning",
        "0/1 node pools fit: 1 has 1 nvidia.com/gpu, 8 are requested",
    ),
    (
        "B1",
        "karp_limit",
        "PTC171",
        "warning",
        "3 pods wait for one another, but the nodes that take them",
    ),
    (
        "B1",
        "karp_prof",
        "PTC198",
        "error",
        "0/1 node pools fit: 1 has the taint dedicated=ml:NoSchedule",
    ),
    (
        "B1",
        "karp_taint",
        "PTC198",
        "warning",
        "0/1 node pools fit: 1 has the taint dedicated=ml:NoSchedule",
    ),
    (
        "B1",
        "node_toobig",
        "PTC198",
        "warning",
        "0/1 nodes fit: 1 has 4 nvidia.com/gpu, 8 are requested",
    ),
    (
        "B2",
        "gcsfuse_anno",
        "PTC319",
        "warning",
        "gcsfuse.csi.storage.gke.io mounts through a sidecar, which",
    ),
    ("B2", "karp_anno", "PTC258", "warning", "Karpenter looks for it only in the pod template"),
    (
        "B2",
        "karp_label",
        "PTC258",
        "warning",
        "Karpenter reads it from the annotations, and ignores the",
    ),
    ("B2", "karp_old", "PTC258", "warning", "Karpenter does not read it"),
    ("B2", "multus_anno", "PTC258", "warning", "Multus looks for it only in the pod template"),
    (
        "B2",
        "safe_to_evict",
        "PTC258",
        "warning",
        "the cluster autoscaler looks for it only in the pod template",
    ),
    ("B3", "pv_access", "PTC330", "error", "never bound: the volume data has ReadOnlyMany, not"),
    ("B3", "pv_both_ok", "", "", ""),
    (
        "B3",
        "pv_claimref_ns",
        "PTC330",
        "error",
        "never bound: the volume data belongs to the claim data",
    ),
    (
        "B3",
        "pv_class",
        "PTC330",
        "error",
        "never bound: the volume data has storageClassName 'fsx', the",
    ),
    (
        "B3",
        "pv_mode",
        "PTC330",
        "error",
        "never bound: the volume data has volumeMode Block, the claim",
    ),
    ("B3", "pv_size", "PTC330", "error", "never bound: the volume data has 1200Gi"),
    ("B3", "sc_zone", "PTC331", "error", "the storage class fast is for a"),
    (
        "B3",
        "zone_pv",
        "PTC331",
        "error",
        "the volume data is in a (topology.kubernetes.io/zone), but",
    ),
    (
        "B4",
        "argocd_ttl",
        "PTC744",
        "warning",
        "Argo CD creates the object again (at once with selfHeal, else",
    ),
    (
        "B4",
        "flux",
        "PTC744",
        "warning",
        "Flux creates the object again at its next reconciliation,",
    ),
    (
        "B4",
        "tracking_id",
        "PTC744",
        "warning",
        "Argo CD creates the object again (at once with selfHeal, else",
    ),
    (
        "B5",
        "mig_single",
        "PTC176",
        "warning",
        "2 processes on nvidia.com/gpu: each sees one MIG slice, and",
    ),
    (
        "B5",
        "plugin_config",
        "PTC154",
        "warning",
        "2 shares of GPUs (time slicing in the device plugin's",
    ),
    (
        "B5",
        "replicas_label",
        "PTC154",
        "warning",
        "2 shares of GPUs (nvidia.com/gpu.sharing-strategy",
    ),
    (
        "B5",
        "shared_product",
        "PTC154",
        "warning",
        "2 shares of GPUs (nvidia.com/gpu.product Tesla-T4-SHARED):",
    ),
    (
        "B5",
        "sharing_profile",
        "PTC154",
        "warning",
        "2 shares of GPUs (time-slicing by the profile): two of them",
    ),
    (
        "B5",
        "timeslice_shared",
        "PTC154",
        "warning",
        "4 shares of GPUs (nvidia.com/gpu.shared): two of them may be",
    ),
    (
        "B6",
        "deployment_train",
        "PTC710",
        "warning",
        "a Deployment starts its pods again when they end: the",
    ),
    (
        "B6",
        "linkerd_ns",
        "PTC825",
        "warning",
        "the namespace injects Linkerd's proxy (linkerd.io/inject:",
    ),
    (
        "B6",
        "lws_train",
        "PTC710",
        "warning",
        "a LeaderWorkerSet starts its pods again when they end: the",
    ),
    (
        "B6",
        "statefulset_train",
        "PTC710",
        "warning",
        "a StatefulSet starts its pods again when they end: the",
    ),
    (
        "B6",
        "tcpxo",
        "PTC826",
        "warning",
        "entrypoint_rxdm_container.sh never ends, so the pod never",
    ),
    (
        "B7",
        "quota_gpu",
        "PTC259",
        "warning",
        "counts nothing: a quota counts an extended resource only as",
    ),
    (
        "B8",
        "sh_sigterm",
        "PTC743",
        "warning",
        "the shell stays the first process and does not pass SIGTERM",
    ),
    (
        "B8",
        "spot_grace",
        "PTC828",
        "warning",
        "a spot machine is gone 15 seconds after its notice: the pod",
    ),
    (
        "B9",
        "driver_caps",
        "PTC120",
        "warning",
        "without compute the processes find no libcuda, and so no GPU",
    ),
    (
        "B9",
        "gke_ldpath",
        "PTC120",
        "warning",
        "without /usr/local/nvidia/lib64 the processes find no",
    ),
    (
        "B9",
        "ib_hostpath",
        "PTC121",
        "warning",
        "container main is not privileged: its device cgroup does not",
    ),
    (
        "B9",
        "nvidia_hostpath",
        "PTC121",
        "warning",
        "container main is not privileged: its device cgroup does not",
    ),
    (
        "B10",
        "kai_gpu_fraction_gpu",
        "PTC295",
        "error",
        "KAI refuses a pod with gpu-fraction and whole GPUs",
    ),
    (
        "B10",
        "kai_no_queue",
        "PTC295",
        "note",
        "no label kai.scheduler/queue: KAI takes default-queue, and",
    ),
    (
        "B10",
        "kai_queue_limits",
        "PTC295",
        "warning",
        "a pod asks for 8 GPUs, and its queue q may have 4: it waits",
    ),
    ("B10", "runai_queue", "PTC258", "warning", "KAI does not read it"),
    (
        "B11",
        "vc_argmax",
        "PTC747",
        "error",
        "VC_WORKER_HOSTS with the names of 1400 pods has 158506 bytes,",
    ),
    (
        "B12",
        "fsgroup",
        "PTC332",
        "note",
        "the owner of every file of data (4Ti) is changed at each",
    ),
    (
        "B13",
        "priority_near",
        "PTC376",
        "warning",
        "the stream has no PriorityClass reserch, but it has research",
    ),
    (
        "B13",
        "pullsecret_near",
        "PTC376",
        "warning",
        "the stream has no Secret registrry, but it has registry",
    ),
    (
        "B13",
        "runtimeclass_near",
        "PTC376",
        "warning",
        "the stream has no RuntimeClass nvidea, but it has nvidia",
    ),
    (
        "B13",
        "sa_near",
        "PTC376",
        "warning",
        "the stream has no ServiceAccount trainr, but it has trainer",
    ),
    (
        "B13",
        "storageclass_near",
        "PTC376",
        "warning",
        "the stream has no StorageClass premiun-rwo, but it has",
    ),
    (
        "B14",
        "autopilot",
        "PTC156",
        "warning",
        "GKE Autopilot's Warden refuses the namespaces of the host",
    ),
    (
        "B14",
        "autopilot_no_accel",
        "PTC156",
        "error",
        "GKE Autopilot's Warden refuses nvidia.com/gpu without the",
    ),
    (
        "B14",
        "autopilot_privileged",
        "PTC156",
        "warning",
        "GKE Autopilot's Warden refuses privileged containers",
    ),
    (
        "B14",
        "openshift",
        "PTC156",
        "warning",
        "OpenShift's SCC restricted-v2 refuses hostPath volumes (the",
    ),
    (
        "B15",
        "cd_onegpu",
        "PTC155",
        "note",
        "one pod per node can have a ComputeDomain's channel, and this",
    ),
    (
        "B16",
        "cdomain",
        "PTC404",
        "error",
        "nothing answers to t-0.t.ml.svc.cluster.local: the cluster's",
    ),
    ("7", "aks_spot", "PTC777", "warning", "the pods run on machines that can be preempted"),
    ("7", "empty_term", "PTC203", "error", "no node matches: an empty term selects none"),
    ("7", "gcsfuse_true", "PTC258", "warning", "Cloud Storage FUSE does not know the value 'TRUE'"),
]


@pytest.mark.parametrize(
    ("part", "name", "code", "severity", "words"), REPORTS, ids=lambda word: str(word)[:24]
)
def test_the_cause_is_named(part: str, name: str, code: str, severity: str, words: str) -> None:
    profile = {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "spec": PROFILES.get(name, {}),
    }
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    cluster = profile if name in PROFILES else None
    diagnostics = ptcompile.lint(text, cluster=cluster).diagnostics
    named = [
        finding for finding in diagnostics if finding.code == code and words in finding.message
    ]
    assert [finding.severity for finding in named[:1]] == [severity] if code else not diagnostics, (
        part
    )


def test_every_case_is_run() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {name for _, name, *_ in REPORTS}
