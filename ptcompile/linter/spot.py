"""Pods that only run on spot nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.hardware.nodes import SPOT
from ptcompile.kubernetes.pod_spec import terms_of
from ptcompile.kubernetes.unstructured import (
    Json,
    as_string,
    nested_maps,
    nested_string,
    nested_string_map,
)
from ptcompile.world.templates import ManifestTemplate

_SPOT_LABELS: frozenset[tuple[str, str]] = frozenset(
    label
    for nodes in SPOT.values()
    for label in (*nodes.labels.items(), *nodes.other_labels.items())
)
"""Labels of spot and preemptible nodes."""


class Notice(NamedTuple):
    """The seconds that pods have from the notice to the end of a spot machine."""

    usual: int
    most: int
    """What the node pool may set."""


_NOTICES = {
    word: Notice(**row) for word, row in load_table("hardware/nodes.json")["notices"].items()
}
"""By a word of the label."""


def notice_of(label: str | None) -> Notice | None:
    """Return the notice of machines with this label, or None if it is not known."""
    return next((notice for word, notice in _NOTICES.items() if word in (label or "")), None)


def spot_label(template: ManifestTemplate) -> str | None:
    """Return the label by which a pod template selects only spot nodes, or None.

    The terms of an affinity are alternatives, so each must select them.
    """
    if label := _first_spot_label(nested_string_map(template.spec, "nodeSelector").items()):
        return label
    labels = [_first_spot_label(_single_values(term)) for term in terms_of(template.spec)]
    return labels[0] if labels and all(labels) else None


def _first_spot_label(labels: Iterable[tuple[str, str]]) -> str | None:
    return min((key for key, value in labels if (key, value) in _SPOT_LABELS), default=None)


def _single_values(term: Json) -> Iterator[tuple[str, str]]:
    """Yield the labels for which a term allows exactly one value."""
    for expression in nested_maps(term, "matchExpressions"):
        values = expression.get("values")
        if expression.get("operator") == "In" and isinstance(values, list) and len(values) == 1:
            yield nested_string(expression, "key"), as_string(values[0])
