"""What absent fields of an MPIJob mean, by CRD and controller (MPI Operator 0.8)."""

from ptcompile.operators.common.defaults import Defaults

DEFAULTS = Defaults(
    {
        ("MPIJob", "spec", "slotsPerWorker"): 1,
        ("MPIJob", "spec", "runLauncherAsWorker"): False,
        ("MPIJob", "spec", "sshAuthMountPath"): "/root/.ssh",
        ("MPIJob", "spec", "launcherCreationPolicy"): "AtStartup",
        ("MPIJob", "spec", "mpiImplementation"): "OpenMPI",
        ("MPIJob", "spec", "runPolicy", "cleanPodPolicy"): "None",
        ("MPIJob", "spec", "runPolicy", "backoffLimit"): 6,
        ("mpiReplicaSpecs", "Launcher", "replicas"): 1,
        ("mpiReplicaSpecs", "Launcher", "restartPolicy"): "OnFailure",
        ("mpiReplicaSpecs", "Worker", "restartPolicy"): "Never",
    },
)
