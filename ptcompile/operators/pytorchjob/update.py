"""PyTorchJob on updates: no webhook looks at the change (training-operator 1.7 to 1.9)."""

from typing import Final

FIXED: Final = (("spec.runPolicy.schedulingPolicy.queue", "spec.runPolicy.schedulingPolicy.queue is immutable"),)
"""What the CRD makes immutable (training-operator 1.8 and later)."""
