"""Rules for how processes are started and meet, on any kind: asked of the simulated world."""

from __future__ import annotations

from typing import Final

from ptcompile.linting.common_words import LAUNCHED, MEETS, NPROC, PODS, ROLES, TORCHRUN, VENDORS

RULES: Final[dict[str, str]] = {
    "missing_script": TORCHRUN,
    "python_as_script": f"{TORCHRUN} python/python3",
    "unknown_launch_option": TORCHRUN,
    "repeated_launch_option": TORCHRUN,
    "bad_nnodes": f"{TORCHRUN} nnodes",
    "bad_nproc": f"{TORCHRUN} {NPROC}",
    "bad_launch_number": f"{MEETS} rank/port/restarts/interval/maxRestarts/containerPort",
    "bad_endpoint": f"{TORCHRUN} endpoint/elasticPolicy",
    "bad_rdzv_conf": f"{TORCHRUN} conf/elasticPolicy",
    "unknown_rdzv_backend": f"{TORCHRUN} backend/elasticPolicy",
    "rendezvous_id_differs": f"{TORCHRUN} {PODS} id/elasticPolicy",
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
    "local_endpoint": f"{MEETS} {PODS}",
    "own_host_endpoint": f"{MEETS} {PODS}",
    "unresolvable_endpoint": MEETS,
    "roles_disagree": f"{LAUNCHED} {ROLES}",
    "too_few_pods": f"{LAUNCHED} {PODS} nnodes/num/world/machines",
    "too_many_pods": f"{LAUNCHED} {PODS}",
    "worlds_apart": f"{TORCHRUN} {PODS}",
    "world_size_differs": "master world",
    "half_told_script": "master/world/rank python/python3",
    "standalone_on_many_pods": f"{TORCHRUN} {PODS} standalone",
    "same_node_rank": MEETS,
    "master_without_rank_0": f"{MEETS} {PODS}",
    "static_range": f"{TORCHRUN} {PODS} nnodes",
    "static_restarts": f"{TORCHRUN} {PODS} restarts/maxRestarts",
    "restarts_multiply": f"{TORCHRUN} {PODS} restarts/maxRestarts",
    "etcd_without_id": f"{TORCHRUN} etcd",
    "launcher_alone": f"{PODS} accelerate/deepspeed",
    "loopback_interface": f"{PODS} IFNAME lo",
    "gloo_interface_pattern": "gloo",
    "ignored_rendezvous_option": f"{TORCHRUN} rdzv/rank/addr/port",
    "env_that_torchrun_sets": f"{TORCHRUN} rank/world",
    "range_above_pods": f"{TORCHRUN} nnodes/TrainJob Job/JobSet/TrainJob",
    "range_without_restarts": f"{TORCHRUN} nnodes/elasticPolicy",
    "processes_on_mig": f"{LAUNCHED} mig",
    "host_interface": "IFNAME",
    "taken_port": f"{MEETS}",
    "launch_not_understood": VENDORS,
}
"""The modules in the order in which they are asked, each with the words that it needs (`words`)."""
