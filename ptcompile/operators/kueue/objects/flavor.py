"""The webhook of ResourceFlavors.

Source: Kueue 0.19, pkg/webhooks/resourceflavor_webhook.go.
"""

from __future__ import annotations

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.apiserver.validation.metadata import check_labels
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.kubernetes.versions import Versions


def check_flavor(manifest: Json, versions: Versions, problems: f.Problems) -> None:
    """Check a ResourceFlavor at creation and on updates."""
    spec = nested_map(manifest, "spec")
    check_labels(spec.get("nodeLabels"), ("spec", "nodeLabels"), problems)
    _check_taints(spec.get("nodeTaints"), problems)
    for index, toleration in f.indexed_mappings(spec.get("tolerations")):
        key = toleration.get("key")
        if isinstance(key, str) and key and (why := names.why_not_qualified_name(key)):
            f.invalid(problems, ("spec", "tolerations", index, "key"), key, why)


def _check_taints(taints: Any, problems: f.Problems) -> None:
    seen: set[tuple[str, str]] = set()
    for index, taint in f.indexed_mappings(taints):
        path, key, value = ("spec", "nodeTaints", index), taint.get("key") or "", taint.get("value") or ""
        if isinstance(key, str) and (why := names.why_not_qualified_name(key)):
            f.invalid(problems, (*path, "key"), key, why, "write the key of a node's taint")
        if isinstance(value, str) and (why := names.why_not_label_value(value)):
            f.invalid(problems, (*path, "value"), value, why)
        identity = str(key), str(taint.get("effect"))
        if identity in seen:
            help = "keep one of them: taints must be unique by key and effect"
            f.duplicate(problems, path, f"{key}:{identity[1]}", help)
        seen.add(identity)
