"""How often a Job starts its pods again, for the rules of lint (Kubernetes 1.36: six times where nothing is said)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.operators.common.templates import Template


def recreated(manifest: Json, _template: Template) -> bool:
    """Whether a lost pod is recreated."""
    return retries(manifest) > 0


def retries(manifest: Json) -> int:
    """How often a pod is restarted."""
    return integer(at(manifest, "spec").get("backoffLimit"), 6)
