"""How often a PyTorchJob starts its pods again, for the rules of lint (training-operator 1.9)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import at, integer, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.operators.common.templates import Template


def recreated(manifest: Json, template: Template) -> bool:
    """Whether a lost pod of a replica type is recreated."""
    spec = at(manifest, "spec")
    policy = text(at(spec, "pytorchReplicaSpecs", template.role).get("restartPolicy")) or "OnFailure"
    return policy != "Never" and at(spec, "runPolicy").get("backoffLimit") != 0


def retries(manifest: Json) -> int:
    """How often a pod is restarted."""
    return integer(at(manifest, "spec", "runPolicy").get("backoffLimit"))
