"""What absent fields of Trainer's kinds mean, by their CRDs (Trainer 2.3)."""

from ptcompile.operators.common.defaults import Defaults

DEFAULTS = Defaults(
    {
        ("runtimeRef", "apiGroup"): "trainer.kubeflow.org",
        ("runtimeRef", "kind"): "ClusterTrainingRuntime",
        ("TrainJob", "spec", "managedBy"): "trainer.kubeflow.org/trainjob-controller",
        ("mlPolicy", "numNodes"): 1,
        ("mpi", "numProcPerNode"): 1,
        ("mpi", "mpiImplementation"): "OpenMPI",
        ("mpi", "sshAuthMountPath"): "/root/.ssh",
        ("flux", "numProcPerNode"): 1,
        ("coscheduling", "scheduleTimeoutSeconds"): 60,
        ("networkTopology", "highestTierAllowed"): 1,
    },
)
