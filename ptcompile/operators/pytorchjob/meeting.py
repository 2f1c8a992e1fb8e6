"""PyTorchJobs whose pods have no rendezvous (training-operator 1.9)."""

from ptcompile.kubernetes.untyped import at
from ptcompile.linting.subject import Subject


def meets_nowhere(subject: Subject) -> bool:
    """Whether there are only Workers, no elasticPolicy, and no address on the command line."""
    spec = subject.spec
    if "Master" in at(spec, "pytorchReplicaSpecs") or spec.get("elasticPolicy") is not None:
        return False
    flags = subject.trainers[0].launch.options if subject.trainers else {}
    return not {"master-addr", "rdzv-endpoint"} & flags.keys()
