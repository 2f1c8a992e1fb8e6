"""The Services of the same stream: which one gives a pod its DNS name."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ptcompile.kubernetes.index import SERVICE, objects, selector
from ptcompile.kubernetes.untyped import at, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def headless_for(others: Collection[Json], name: str | None, labels: Mapping[str, str], space: str) -> Json | None:
    """The headless Service of this name and namespace whose selector fits the labels, or None.

    Only such a one makes `<hostname>.<subdomain>` resolve; the pod must be ready too, unless the Service
    publishes addresses that are not (Kubernetes 1.36 DNS).
    """
    if not name or not others:
        return None
    known = objects(others)
    if not known.named(SERVICE, name):
        return None
    for other in known.within(space).named(SERVICE, name):
        wanted = selector(other)
        if text(at(other, "spec").get("clusterIP")) == "None" and wanted and wanted.items() <= labels.items():
            return other
    return None
