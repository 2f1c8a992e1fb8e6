"""The Services of the same stream: which one gives a pod its DNS name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile.plain import Json, at, kind_of, namespace, object_name, string_map, text


def headless_for(others: Iterable[Json], name: str | None, labels: Mapping[str, str], space: str) -> Json | None:
    """The headless Service of this name and namespace whose selector fits the labels, or None.

    Only such a one makes `<hostname>.<subdomain>` resolve; the pod must be ready too, unless the Service
    publishes addresses that are not (Kubernetes 1.36 DNS).
    """
    if not name:
        return None
    for other in others:
        if kind_of(other) != ("v1", "Service") or object_name(other) != name or namespace(other) != space:
            continue
        spec = at(other, "spec")
        selector = string_map(spec.get("selector"))
        if text(spec.get("clusterIP")) == "None" and selector and selector.items() <= labels.items():
            return other
    return None
