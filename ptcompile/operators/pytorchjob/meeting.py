"""PyTorchJobs whose pods have no rendezvous (training-operator 1.9)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.kubernetes.untyped import at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def meets_nowhere(manifest: Json, options: Mapping[str, str]) -> bool:
    """Return whether there are only Workers, no elasticPolicy, and no address among the options of torchrun."""
    spec = at(manifest, "spec")
    if "Master" in at(spec, "pytorchReplicaSpecs") or spec.get("elasticPolicy") is not None:
        return False
    return not {"master-addr", "rdzv-endpoint"} & options.keys()
