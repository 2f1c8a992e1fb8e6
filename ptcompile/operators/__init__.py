"""The operators in folders: those with a target first, in the order of the targets.

A new operator is a folder, its class in `OPERATORS`, and an authority in `diagnostics.terms`.
"""

from __future__ import annotations

from ptcompile.kinds.model import Operator
from ptcompile.operators.batch import BatchOperator
from ptcompile.operators.hyperpod import HyperPodOperator
from ptcompile.operators.jobset import JobSetOperator
from ptcompile.operators.kai import KAI
from ptcompile.operators.kube_scheduler import KubeScheduler
from ptcompile.operators.kueue import Kueue
from ptcompile.operators.leaderworkerset import LWSOperator
from ptcompile.operators.mpijob import MPIOperator
from ptcompile.operators.nvidia_dra import NvidiaDRA
from ptcompile.operators.pod import PodOperator
from ptcompile.operators.pytorchjob import TrainingOperator
from ptcompile.operators.ray import RayOperator
from ptcompile.operators.scheduler_plugins import SchedulerPlugins
from ptcompile.operators.trainer import KubeflowTrainer
from ptcompile.operators.volcano import VolcanoOperator

OPERATORS: tuple[Operator, ...] = (
    PodOperator(),
    BatchOperator(),
    TrainingOperator(),
    VolcanoOperator(),
    KubeflowTrainer(),
    JobSetOperator(),
    # no targets below: MPIJobs are only read; the rest admit, place or serve the jobs of targets
    MPIOperator(),
    LWSOperator(),
    RayOperator(),
    HyperPodOperator(),
    Kueue(),
    SchedulerPlugins(),
    KubeScheduler(),
    KAI(),
    NvidiaDRA(),
)
