"""What the target pytorchjob writes on its own account, and why: one sentence for each field."""

from collections.abc import Mapping

SENTENCES: Mapping[str, str] = {
    "nprocPerNode": "The operator counts WORLD_SIZE and hands over PET_NPROC_PER_NODE from this text.",
    "replicas": "The Master is node 0, and the webhook wants its replicas written out; the Workers are all the "
    "other nodes, or all nodes of a range.",
    "restartPolicy": "Always written: Never, where a failed pod fails the job, or OnFailure, where containers are "
    "restarted and lost pods made anew.",
    "backoffLimit": "It counts the restarts of containers, and would be without limit if it were not said beside "
    "OnFailure.",
    "cleanPodPolicy": "A job that fails would leave its other pods as they are, restarting or waiting for peers.",
    "elasticPolicy": "A range of nodes is Workers with an elasticPolicy, from which the operator makes torchrun's "
    "PET_* variables.",
    "schedulingPolicy": "The operator makes the PodGroup from it, whose pods start together when there is room for "
    "all that must run.",
    "ports": "The operator reads a port other than 23456 from the container port called pytorchjob-port.",
}
