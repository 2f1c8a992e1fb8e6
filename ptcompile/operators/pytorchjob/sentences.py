"""What the target pytorchjob writes on its own account, and why: one sentence for each field."""

from collections.abc import Mapping

SENTENCES: Mapping[str, str] = {
    "nprocPerNode": "The operator computes WORLD_SIZE and PET_NPROC_PER_NODE from this text.",
    "replicas": (
        "The Master is node 0, and the webhook requires its replicas to be explicit; the Workers are all other "
        "nodes, or all nodes of a range."
    ),
    "restartPolicy": (
        "Always written: Never, where a failed pod fails the job, or OnFailure, where containers are restarted and "
        "lost pods recreated."
    ),
    "backoffLimit": "It counts the restarts of containers; with OnFailure and without it there would be no limit.",
    "cleanPodPolicy": "A job that fails would leave its other pods as they are, restarting or waiting for peers.",
    "elasticPolicy": (
        "A range of nodes is Workers with an elasticPolicy, from which the operator derives torchrun's PET_* variables."
    ),
    "schedulingPolicy": (
        "The operator creates the PodGroup from it, whose pods start together when there is room for all that must run."
    ),
    "ports": "The operator reads a port other than 23456 from the container port named pytorchjob-port.",
}
