"""What the API server answers to the pods and claims of a Volcano Job (Volcano 1.16)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.operators.record import ApiServer
from ptcompile.operators.volcano.templates import of
from ptcompile.validate.core import found as f
from ptcompile.validate.core.pvc import check_claim_spec
from ptcompile.validate.core.templates import check_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check(manifest: Mapping[str, Any], spec: dict[str, Any], context: ApiServer, found: f.Found) -> None:
    """The templates as they are; the controller makes the claims of `spec.volumes`."""
    clean: Any = None
    for one in of(manifest):
        clean = check_template(one.template, one.path, context, found, frozenset(), clean)
    for index, volume in f.objects(spec.get("volumes")):
        if type(volume.get("volumeClaim")) is dict:
            check_claim_spec(volume["volumeClaim"], ("spec", "volumes", index, "volumeClaim"), found)
