"""A plain Pod -> itself."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, namespace, object_name, string_map, text
from ptcompile.operators.common import podspec
from ptcompile.operators.common.expansion import Expansion, PodView, Role
from ptcompile.operators.common.services import headless_for
from ptcompile.operators.record import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def expand(manifest: Json, request: Request) -> Expansion:
    """One pod. It has a DNS name where a headless Service of the same stream is named as its subdomain."""
    metadata, spec = at(manifest, "metadata"), at(manifest, "spec")
    name, space = object_name(manifest), namespace(manifest)
    labels = string_map(metadata.get("labels"))
    hostname, subdomain = text(spec.get("hostname")) or None, text(spec.get("subdomain")) or None
    service = headless_for(request.others, subdomain, labels, space)
    view = PodView(
        name=name,
        role="pod",
        index=0,
        namespace=space,
        hostname=hostname,
        subdomain=subdomain,
        dns=podspec.fqdn(hostname or name, subdomain, space) if service and subdomain else None,
        labels=labels,
        annotations=string_map(metadata.get("annotations")),
        spec=spec,
    )
    return Expansion((Role("pod", 1, lambda _: view),), (service,) if service else ())
