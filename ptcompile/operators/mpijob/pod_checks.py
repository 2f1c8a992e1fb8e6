"""What the API server answers to the pods of an MPIJob (MPI Operator 0.8)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.operators.mpijob.templates import of
from ptcompile.operators.record import ApiServer
from ptcompile.validate.core import found as f
from ptcompile.validate.core.templates import check_template, without_restart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_VOLUMES = frozenset({"ssh-auth", "mpi-job-config"})
"""The volumes that the controller adds."""


def check(manifest: Mapping[str, Any], _spec: dict[str, Any], context: ApiServer, found: f.Found) -> None:
    """The templates of both replica types, whose restartPolicy the replica's own overwrites."""
    clean: Any = None
    for one in of(manifest):
        clean = check_template(without_restart(one.template), one.path, context, found, _VOLUMES, clean)
