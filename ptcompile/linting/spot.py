"""Machines that the cloud may take away: the labels and taints by which pods are sent to them."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, items, string_map, text
from ptcompile.linting.subject import Template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

LABELS: Final[dict[str, frozenset[str]]] = {
    "cloud.google.com/gke-spot": frozenset({"true"}),
    "cloud.google.com/gke-preemptible": frozenset({"true"}),
    "kubernetes.azure.com/scalesetpriority": frozenset({"spot"}),
    "eks.amazonaws.com/capacityType": frozenset({"SPOT"}),
    "karpenter.sh/capacity-type": frozenset({"spot"}),
}
"""Labels that the clouds give such nodes (GKE, AKS, EKS, Karpenter 1.0), with their values."""


def spot(template: Template) -> str | None:
    """The label by which a pod template asks for such machines alone, or None."""
    spec = template.spec
    asked = {(key, value) for key, value in string_map(spec.get("nodeSelector")).items()}
    required = at(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = [items(term.get("matchExpressions")) for term in items(required.get("nodeSelectorTerms"))]
    for term in terms if len(terms) == 1 else ():
        for one in term:
            values = one.get("values")
            if one.get("operator") == "In" and isinstance(values, list) and len(values) == 1:
                asked.add((text(one.get("key")), text(values[0])))
    return next((key for key, value in sorted(asked) if value in LABELS.get(key, ())), None)
