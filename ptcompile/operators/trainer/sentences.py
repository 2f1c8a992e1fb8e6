"""What the target trainjob writes on its own account, and why: one sentence for each field."""

from collections.abc import Mapping

from ptcompile.operators.common.sentences import JOBS

_BESIDE_COUNTED = "Trainer sets the number of nodes; pods of other roles are counted here. All run at once."

SENTENCES: Mapping[str, str] = {
    **JOBS,
    "completions": _BESIDE_COUNTED,
    "parallelism": _BESIDE_COUNTED,
    "replicas": "An auxiliary role is one Job.",
    "runtimeRef": (
        "A TrainJob needs a runtime: the built-in torch-distributed if that does what the job asks for, else one of "
        "its own."
    ),
    "trainer.numNodes": "The number of nodes belongs to the TrainJob, not to its runtime.",
    "trainer.numProcPerNode": "Trainer passes it on as PET_NPROC_PER_NODE.",
    "containers.name": (
        "Trainer names the container that trains `node`, and its webhook requires it; others are named after their "
        "role."
    ),
    "replicatedJobs.name": "Trainer names the replicatedJob that trains `node`; others are named after their role.",
    "mlPolicy": "The torch policy gives the pods their PET_* variables.",
    "podGroupPolicy": "Trainer creates the PodGroup from it, whose pods start together.",
    "trainer.kubeflow.org/framework": "The runtime is for PyTorch.",
    "trainer.kubeflow.org/trainjob-ancestor-step": "Trainer finds the replicatedJob that trains by this label.",
    "scheduling.volcano.sh/queue-name": "Volcano reads the queue from this annotation, which Trainer passes on.",
    "runtimePatches": "What a TrainJob changes in the pods of the built-in runtime is a patch (Trainer 2.2 on).",
    "podTemplateOverrides": "What a TrainJob changes in pods of the built-in runtime is an override (Trainer 2.1).",
    "podSpecOverrides": "What a TrainJob changes in pods of the built-in runtime is an override (Trainer 2.0).",
}
