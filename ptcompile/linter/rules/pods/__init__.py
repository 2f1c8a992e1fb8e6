"""Rules for the pods of any kind."""

from __future__ import annotations

from ptcompile.linter.needs import COMPARED_KINDS, TRAINING_LAUNCHERS, VENDORS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[dict[str, str]] = {
    "best_effort_gpus": VENDORS,
    "accelerators_in_init": f"initContainers {VENDORS}",
    "accelerators_in_sidecar": VENDORS,
    "host_network_dns": "hostNetwork",
    "node_name_set": "nodeName",
    "unsatisfiable_node_affinity": "nodeAffinity",
    "tolerates_everything": "tolerations Exists",
    "gpu_nodes_without_gpus": "nodeSelector",
    "fits_no_machine": "instance/accelerator/product",
    "takes_the_whole_machine": "instance/accelerator/product",
    "service_port_missing": "@Service",
    "shm_above_memory_limit": "emptyDir sizeLimit",
    "missing_shm": VENDORS,
    "unbounded_shm": "emptyDir",
    "unmounted_volume": "volumes",
    "shm_mounted_elsewhere": "emptyDir mountPath",
    "shm_on_disk": "emptyDir shm",
    "small_shm": "sizeLimit shm",
    "host_shm": "hostPath shm",
    "unknown_medium": "medium",
    "mount_hides_system": "mountPath",
    "single_node_claim": "persistentVolumeClaim @PersistentVolumeClaim",
    "script_not_executable": "command configMap/secret/projected",
    "sensitive_host_path": "hostPath",
    "missing_config_key": "@ConfigMap/@Secret",
    "missing_sidecar_annotation": "gcsfuse/persistentVolumeClaim",
    "restart_always": f"Pod {TRAINING_LAUNCHERS}",
    "short_deadline": "activeDeadlineSeconds",
    "mixed_image_tags": COMPARED_KINDS,
    "host_namespaces": "hostIPC/hostPID",
    "root_against_non_root": "runAsNonRoot",
    "istio_sidecar": "istio",
    "blocking_sidecar": "containers",
    "waits_for_itself": "initContainers",
    "no_grace_period": "terminationGracePeriodSeconds",
    "script_not_mounted": "mountPath @ConfigMap/@Secret",
    "checkpoint_not_kept": f"{TRAINING_LAUNCHERS} checkpoint/checkpoints/ckpt/ckpts/snapshot/snapshots/save",
    "read_only_checkpoint": f"{TRAINING_LAUNCHERS} checkpoint/checkpoints/ckpt/ckpts/snapshot/snapshots/save",
    "spot_without_retries": "spot/preemptible/scalesetpriority/capacityType/capacity",
    "missing_toleration": "nodeSelector scalesetpriority/preemptible/master/control/kubelet",
    "partial_fabric": "rdma/hostdev/mellanox/FI/IB/NET/IFNAME/GPUDIRECTTCPX/FASTRAK/MNNVL/TUNER/RDMAV/efa",
    "fabric_of_another_cloud": "instance/accelerator efa/GPUDIRECTTCPX/FASTRAK/NET",
    "fabric_without_machine": "instance/accelerator efa/GPUDIRECTTCPX/FASTRAK/NET",
    "affinity_to_nobody": "podAffinity",
    "misspelt_reference": "@PersistentVolumeClaim/@ConfigMap/@Secret",
    "unmade_claim": "resourceClaims @ComputeDomain/@ResourceClaimTemplate/@ResourceClaim",
    "claim_in_other_namespace": "resourceClaims @ComputeDomain/@ResourceClaimTemplate/@ResourceClaim",
    "unused_claim": "resourceClaims @ComputeDomain/@ResourceClaimTemplate/@ResourceClaim",
    "shared_claim": "resourceClaimName",
    "claimed_and_counted": "resourceClaims nvidia @ResourceClaimTemplate/@ResourceClaim",
    "repeated_download": "initContainers persistentVolumeClaim",
}
"""Rule modules in evaluation order, each with its trigger words (see `linter.needs`)."""
