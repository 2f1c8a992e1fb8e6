"""Needs that many rules have, as the families' tables write them."""

from __future__ import annotations

from typing import Final

VENDORS: Final = "nvidia/amd/intel/habana/google/amazon/huawei"
"""Whose accelerators there are: one is in the name of each resource (`accelerators`)."""

TORCHRUN: Final = "torchrun/torch"
"""By its own name, or as `-m torch.distributed.run`."""

LAUNCHED: Final = "torchrun/torch/accelerate/deepspeed/composer"
"""Launchers whose options say how many nodes meet (`simulation.launchers`)."""

MEETS: Final = f"{LAUNCHED}/master/world"
"""Those, or a script that its variables tell of others."""

TRAINS: Final = "torchrun/torch/accelerate/deepspeed/composer/mpirun/mpiexec"
"""A launcher of training processes (`commands.LAUNCHERS`)."""

SHELLS: Final = "bash/sh/dash/zsh/ash/ksh"

NPROC: Final = "nproc/nprocPerNode/numProcPerNode/TrainJob"
"""Who says how many processes a node has; for a TrainJob without a number its resources do."""

PODS: Final = "Job/PyTorchJob/JobSet/TrainJob/TrainingRuntime/ClusterTrainingRuntime"
"""The kinds that may make several pods."""

ROLES: Final = "PyTorchJob/volcano/JobSet/TrainJob"
"""The kinds whose pods may have several templates."""
