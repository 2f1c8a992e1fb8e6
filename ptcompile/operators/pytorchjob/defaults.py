"""What absent fields of a PyTorchJob mean to the controller (training-operator 1.9)."""

from ptcompile.operators.common.defaults import Defaults

DEFAULTS = Defaults(
    {
        ("pytorchReplicaSpecs", "*", "replicas"): 1,
        ("pytorchReplicaSpecs", "*", "restartPolicy"): "OnFailure",
        ("PyTorchJob", "spec", "nprocPerNode"): "auto",
        ("PyTorchJob", "spec", "runPolicy", "cleanPodPolicy"): "None",
        ("PyTorchJob", "spec", "runPolicy", "managedBy"): "kubeflow.org/training-operator",
    },
)
