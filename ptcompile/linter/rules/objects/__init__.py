"""Rules for objects of any kind, also those without pods."""

from __future__ import annotations

_KEY_WORDS = (
    "karpenter/autoscaler/autoscaling/cncf/multus/gke/iam/gcsfuse/cloud/istio/linkerd/vault/eks/azure/kubectl"
    "/apparmor/scheduler/security/openshift/crio/cri/storage/storageclass/kueue/jobset/leaderworkerset/trainer"
    "/scheduling/numa/qos/task/kai/runai/fraction/plugin/mig/deploy/workload/product/strategy/clique/cdi/ray"
    "/yunikorn/argocd/kustomize/helm/prometheus/datadoghq/fluentbit/stakater/checksum/opentelemetry/projectcalico"
    "/ovn/bandwidth/deletion/descheduler/instance"
)
"""A word of each key in `linter.key_places`."""
RULES: dict[str, str] = {
    "repeated_object": "name",
    "misplaced_key": _KEY_WORDS,
    "misspelt_reference": (
        "@PersistentVolumeClaim/@ConfigMap/@Secret/@ServiceAccount/@PriorityClass/@RuntimeClass/@StorageClass"
    ),
    "uncounted_quota": "ResourceQuota hard",
    "unbound_claim": "PersistentVolumeClaim @PersistentVolume",
    "secret_in_env": "",
    "block_storage_shared": "ReadWriteMany",
    "bucket_url": "gcsfuse",
    "gitops_against_training": "ttlSecondsAfterFinished/HookSucceeded",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
