"""What the target jobset writes on its own account, and why: one sentence for each field."""

from collections.abc import Mapping

from ptcompile.operators.common.sentences import COUNTED, JOBS

SENTENCES: Mapping[str, str] = {
    **JOBS,
    **COUNTED,
    "completions": "The pods of a Job: all equal nodes, one of a master and workers, or all of an auxiliary role.",
    "parallelism": "All pods run at once; the default of 1 would run one rank after the other.",
    "replicatedJobs.name": "Equal nodes are one replicatedJob `node`; a master, workers and each role beside them are "
    "one each.",
    "replicas": "How many Jobs: one with all its pods, or one for each pod of a master and workers.",
    "network": "Names of pods resolve, even before the pods are ready.",
    "RANK": "A pod's number over all roles is JobSet's label job-global-index.",
}
