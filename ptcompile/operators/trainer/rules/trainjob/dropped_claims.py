"""Resource claims of a TrainJob are dropped.

PTC142 dropped-claims: error at run (differs), by trainer.
Needs: claims

What: trainer.resourcesPerNode has claims, or it is set and the container node of the runtime has
claims.

Why: Trainer writes only the limits and requests of resourcesPerNode into the container, and drops
the claims of both. The pod keeps its resourceClaims, but no container gets a device from them.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      metadata: {name: train}
      spec:
        runtimeRef: {name: torch-distributed}
        trainer:
          numNodes: 1
          numProcPerNode: 1
    -     resourcesPerNode:
    -       limits: {cpu: 4, memory: 16Gi}
    -       claims: [{name: gpu}]  # <--

Fix: write the claims and the limits into the runtime's pod template, and remove resourcesPerNode.

Source: Trainer 2.3, pkg/runtime/core/trainingruntime.go; Trainer 2.2, JobSet builder; NVIDIA/aicr
issue 2277.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.kubernetes.unstructured import Json, nested_maps, nested_string, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.rules.reading import runtime_of

_PATH = ("spec", "trainer", "resourcesPerNode")
_HELP = "write limits and claims into the runtime's pod template, and remove resourcesPerNode"


def check(subject: Subject) -> Findings:
    resources = nested_value(subject.spec, "trainer", "resourcesPerNode")
    if not isinstance(resources, Mapping):
        return

    if resources.get("claims"):
        text = "Trainer passes on limits and requests but drops claims: no pod gets the device"
        yield found_at((*_PATH, "claims"), text, _HELP)

    runtime, is_assumed = runtime_of(subject)
    lost = [] if is_assumed else _claims_of(runtime)
    if lost:
        text = (
            f"removes the claims of the runtime's container node ({', '.join(lost)}): no "
            "container gets the device"
        )
        yield found_at(_PATH, text, _HELP, on_key=True)


def _claims_of(runtime: Json) -> list[str]:
    """Return the names of the claims of the containers that train."""
    claims: list[str] = []
    for node in runtimes.trainer_nodes(runtime):
        claims += [
            nested_string(claim, "name") for claim in nested_maps(node, "resources", "claims")
        ]
    return claims
