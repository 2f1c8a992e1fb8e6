"""RuntimeClass (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.kubernetes import names
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.metadata import check_labels
from ptcompile.validate.core.resources import check_amounts
from ptcompile.validate.core.scheduling import check_toleration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check_runtime_class(manifest: Mapping[str, Any], context: ApiServer, found: f.Found) -> None:
    """A RuntimeClass without its metadata."""
    handler = manifest.get("handler")
    if handler is None or handler == "":
        f.required(found, ("handler",))
    elif type(handler) is str and (why := names.why_not_dns_label(handler)):
        f.invalid(found, ("handler",), handler, why)
    fixed = f.mapping(manifest.get("overhead")).get("podFixed")
    check_amounts({"limits": fixed}, ("overhead", "podFixed"), found, partial=True)
    scheduling = f.mapping(manifest.get("scheduling"))
    check_labels(scheduling.get("nodeSelector"), ("scheduling", "nodeSelector"), found)
    for index, toleration in f.objects(scheduling.get("tolerations")):
        check_toleration(toleration, ("scheduling", "tolerations", index), found)
