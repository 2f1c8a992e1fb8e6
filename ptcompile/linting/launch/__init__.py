"""Rules for how processes are started and meet, on any kind: asked of the simulated world."""

from __future__ import annotations

from typing import Final

from ptcompile.linting.common_words import NPROC, PODS, ROLES, TORCHRUN, VENDORS

RULES: Final[dict[str, str]] = {
    "missing_script": TORCHRUN,
    "python_as_script": f"{TORCHRUN} python/python3",
    "unknown_launch_option": TORCHRUN,
    "repeated_launch_option": TORCHRUN,
    "bad_nnodes": f"{TORCHRUN} nnodes",
    "bad_nproc": f"{TORCHRUN} {NPROC}",
    "bad_launch_number": f"{TORCHRUN} rank/port/restarts/interval/maxRestarts/containerPort",
    "bad_endpoint": f"{TORCHRUN} endpoint/elasticPolicy",
    "bad_rdzv_conf": f"{TORCHRUN} conf/elasticPolicy",
    "unknown_rdzv_option": f"{TORCHRUN} conf/elasticPolicy",
    "nccl_without_gpu": "nccl backend",
    "unknown_rdzv_backend": f"{TORCHRUN} backend/elasticPolicy",
    "bad_pet_switch": f"{TORCHRUN} PET/elasticPolicy",
    "unknown_pet_variable": f"{TORCHRUN} PET",
    "contradicting_launch_option": f"{TORCHRUN} nproc/nnodes/rdzv/restarts/interval PET/PyTorchJob/TrainJob",
    "reserved_env": "env PyTorchJob/volcano",
    "literal_variable": "$",
    "more_processes_than_gpus": f"{TORCHRUN} {NPROC}",
    "idle_gpus": f"{TORCHRUN} {VENDORS}",
    "gpu_processes_without_gpu": f"{TORCHRUN} gpu/xpu {NPROC}",
    "miscounted_devices": f"{TORCHRUN} google/amazon/mig",
    "host_core_processes": f"{TORCHRUN} auto/cpu/PyTorchJob/TrainJob",
    "local_endpoint": f"{TORCHRUN} {PODS}",
    "own_host_endpoint": f"{TORCHRUN} {PODS}",
    "unresolvable_endpoint": f"{TORCHRUN} {ROLES}",
    "roles_disagree": f"{TORCHRUN} {ROLES}",
    "too_few_pods": f"{TORCHRUN} {PODS} nnodes",
    "too_many_pods": f"{TORCHRUN} {PODS}",
    "worlds_apart": f"{TORCHRUN} {PODS}",
    "standalone_on_many_pods": f"{TORCHRUN} {PODS} standalone",
    "same_node_rank": f"{TORCHRUN} {PODS}",
    "master_without_rank_0": f"{TORCHRUN} {PODS}",
    "static_range": f"{TORCHRUN} {PODS} nnodes",
    "static_restarts": f"{TORCHRUN} {PODS} restarts/maxRestarts",
    "shared_rendezvous_store": f"{TORCHRUN} {PODS} c10d/elasticPolicy",
    "unread_timeout": f"{TORCHRUN} {PODS} timeout c10d/elasticPolicy",
    "node_names_handed_out": f"{TORCHRUN} {PODS} hostNetwork/TrainJob c10d/elasticPolicy",
    "deadline_before_join": f"{TORCHRUN} {PODS} activeDeadlineSeconds",
    "few_retries_for_node_0": f"{TORCHRUN} Job/JobSet backoffLimit c10d",
    "restarts_multiply": f"{TORCHRUN} {PODS} restarts/maxRestarts",
    "etcd_without_id": f"{TORCHRUN} etcd",
    "launcher_alone": f"{PODS} accelerate/deepspeed",
    "loopback_interface": f"{PODS} IFNAME lo",
    "gloo_interface_pattern": "gloo",
    "ignored_rendezvous_option": f"{TORCHRUN} rdzv/rank/addr/port",
    "env_that_torchrun_sets": f"{TORCHRUN} rank/world",
    "range_above_pods": f"{TORCHRUN} nnodes/TrainJob Job/JobSet/TrainJob",
}
"""The modules in the order in which they are asked, each with the words that it needs (`words`)."""
