"""What the target trainjob writes on its own account, and why: one sentence for each field."""

from collections.abc import Mapping

from ptcompile.operators.common.sentences import JOBS

_BESIDE_COUNTED = "Trainer counts the nodes, and the pods of other roles are counted here; all run at once."

SENTENCES: Mapping[str, str] = {
    **JOBS,
    "completions": _BESIDE_COUNTED,
    "parallelism": _BESIDE_COUNTED,
    "replicas": "A role beside the trainers is one Job.",
    "runtimeRef": "A TrainJob needs a runtime: the built-in torch-distributed where that does what the job says, "
    "else one of its own.",
    "trainer.numNodes": "The number of nodes is the TrainJob's, not its runtime's.",
    "trainer.numProcPerNode": "Trainer hands it over as PET_NPROC_PER_NODE.",
    "containers.name": "Trainer calls the container that trains `node`, and its webhook wants it; others are "
    "called after their role.",
    "replicatedJobs.name": "Trainer calls the replicatedJob that trains `node`; others are called after their role.",
    "mlPolicy": "The torch policy gives the pods their PET_* variables.",
    "podGroupPolicy": "Trainer makes the PodGroup from it, whose pods start together.",
    "trainer.kubeflow.org/framework": "The runtime is one of PyTorch.",
    "trainer.kubeflow.org/trainjob-ancestor-step": "Trainer finds the replicatedJob that trains by this label.",
    "scheduling.volcano.sh/queue-name": "Volcano reads the queue from this annotation, which Trainer hands down.",
    "runtimePatches": "What a TrainJob changes in the pods of the built-in runtime is a patch (Trainer 2.2 on).",
    "podTemplateOverrides": "What a TrainJob changes in pods of the built-in runtime is an override (Trainer 2.1).",
    "podSpecOverrides": "What a TrainJob changes in pods of the built-in runtime is an override (Trainer 2.0).",
}
