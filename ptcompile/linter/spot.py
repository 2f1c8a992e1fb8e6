"""Pods that only run on spot nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile.hardware.nodes import SPOT
from ptcompile.kubernetes.pod_spec import terms_of
from ptcompile.kubernetes.unstructured import as_mappings, as_string, string_map
from ptcompile.world.templates import ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json

_SPOT_LABELS: Final[frozenset[tuple[str, str]]] = frozenset(
    {label for nodes in SPOT.values() for label in nodes.labels.items()}
    | {("cloud.google.com/gke-preemptible", "true")}
)
"""Labels of spot and preemptible nodes."""


def spot_label(template: ManifestTemplate) -> str | None:
    """Return the label by which a pod template selects only spot nodes, or None.

    The terms of an affinity are alternatives, so each must select them.
    """
    if label := _first_spot_label(string_map(template.spec.get("nodeSelector")).items()):
        return label
    labels = [_first_spot_label(_single_values(term)) for term in terms_of(template.spec)]
    return labels[0] if labels and all(labels) else None


def _first_spot_label(labels: Iterable[tuple[str, str]]) -> str | None:
    return min((key for key, value in labels if (key, value) in _SPOT_LABELS), default=None)


def _single_values(term: Json) -> Iterator[tuple[str, str]]:
    """Yield the labels for which a term allows exactly one value."""
    for expression in as_mappings(term.get("matchExpressions")):
        values = expression.get("values")
        if expression.get("operator") == "In" and isinstance(values, list) and len(values) == 1:
            yield as_string(expression.get("key")), as_string(values[0])
