"""What happens when a plain Pod fails (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.untyped import at
from ptcompile.operators.common.failure import limits, pod_restart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def sentences(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    """The sentences for a Pod."""
    spec = at(manifest, "spec")
    yield pod_restart(spec, "Always")
    yield from limits({"activeDeadlineSeconds": spec.get("activeDeadlineSeconds")}, "the pod")
    yield "a lost node: no new pod is created"
