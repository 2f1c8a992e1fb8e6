"""What may not change in a Topology.

Source: the CRDs of Kueue 0.18 and 0.19. Later ones let levels change above kubernetes.io/hostname.
"""

from __future__ import annotations

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.kubernetes.unstructured import nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.registry.model import Update


def check_topology_update(update: Update, problems: f.Problems) -> None:
    """Check that the levels stay the same."""
    before, after = (nested_map(manifest, "spec").get("levels") for manifest in (update.old, update.new))
    if update.versions.kueue < (0, 20) and before and after and update.under("spec", "levels"):
        problems.append(f.immutable(("spec", "levels")))
