"""The webhook of ResourceFlavors, and what may not change in them and in the Topologies that they
name.

Sources: Kueue 0.19, pkg/webhooks/resourceflavor_webhook.go; the CRDs of 0.18 and 0.19. Later ones
let levels of a Topology change above kubernetes.io/hostname.
"""

from __future__ import annotations

from ptcompile.apiserver.validation.metadata import check_labels
from ptcompile.diagnostics.field_errors import (
    RECREATE_HELP,
    FieldErrors,
    immutable,
    indexed_mappings,
)
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import Json, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.requests import Update
    from ptcompile.kubernetes.versions import Versions


_IMMUTABLE_WITH_TOPOLOGY = ("nodeLabels", "tolerations")
"""Fields that the CRDs of 0.18 and 0.19 make immutable once there is a topologyName; later ones
do not.
"""


def check_flavor(manifest: Json, versions: Versions, problems: FieldErrors) -> None:
    """Check a ResourceFlavor at creation and on updates."""
    spec = nested_map(manifest, "spec")
    check_labels(spec.get("nodeLabels"), ("spec", "nodeLabels"), problems)
    _check_taints(spec.get("nodeTaints"), problems)
    for index, toleration in indexed_mappings(spec.get("tolerations")):
        key = toleration.get("key")
        if isinstance(key, str) and key and (why := names.why_not_qualified_name(key)):
            problems.invalid(("spec", "tolerations", index, "key"), key, why)


def _check_taints(taints: Any, problems: FieldErrors) -> None:
    identities: set[tuple[str, str]] = set()
    for index, taint in indexed_mappings(taints):
        path = ("spec", "nodeTaints", index)
        key = taint.get("key") or ""
        value = taint.get("value") or ""

        if isinstance(key, str) and (why := names.why_not_qualified_name(key)):
            problems.invalid((*path, "key"), key, why, "write the key of a node's taint")
        if isinstance(value, str) and (why := names.why_not_label_value(value)):
            problems.invalid((*path, "value"), value, why)
        effect = str(taint.get("effect"))
        identity = str(key), effect
        if identity in identities:
            problems.duplicate(
                path,
                f"{key}:{effect}",
                "keep one of them: taints must be unique by key and effect",
            )
        identities.add(identity)


def check_flavor_update(update: Update, problems: FieldErrors) -> None:
    """Check what may not change in a ResourceFlavor with a topology."""
    before = nested_map(update.old, "spec")
    after = nested_map(update.new, "spec")
    if update.versions.kueue >= (0, 20) or before.get("topologyName") is None or not after:
        return
    for field in _IMMUTABLE_WITH_TOPOLOGY:
        if update.under("spec", field):
            why = f"{field} are immutable when topologyName is set"
            problems.append(immutable(("spec", field), None, RECREATE_HELP, why))


def check_topology_update(update: Update, problems: FieldErrors) -> None:
    """Check that the levels stay the same."""
    before, after = update.values("spec", "levels")
    if update.versions.kueue < (0, 20) and before and after and update.under("spec", "levels"):
        problems.append(immutable(("spec", "levels")))
