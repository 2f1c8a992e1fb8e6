"""What the API server answers to the pods of a PyTorchJob (training-operator 1.9)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.operators.pytorchjob.templates import of
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.metadata import check_finalizers
from ptcompile.validate.core.templates import check_template, without_restart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_RESTART: Final = ("Always", "ExitCode", "Never", "OnFailure")


def check(manifest: Mapping[str, Any], spec: dict[str, Any], context: ApiServer, found: f.Found) -> None:
    """Each replica's template, whose restartPolicy the replica's own overwrites."""
    replicas = f.mapping(spec.get("pytorchReplicaSpecs"))
    clean: Any = None
    for one in of(manifest):
        clean = check_template(without_restart(one.template), one.path, context, found, frozenset(), clean)
        finalizers = f.mapping(f.mapping(one.template).get("metadata")).get("finalizers")
        check_finalizers(finalizers, (*one.path, "metadata", "finalizers"), found)
        policy = f.mapping(replicas.get(one.role)).get("restartPolicy")
        if policy:
            f.check_choice(found, (*one.path[:-1], "restartPolicy"), policy, _RESTART)
