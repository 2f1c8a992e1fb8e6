"""The spec fields that describe pods, each with its path in a pod template.

Lowering and its null handling (`compiler.frontend.lowering`), the checks of Kubernetes fields
(`compiler.checks.kubernetes_fields`), the tracing of problems to lines (`compiler.trace`) and
import (`importer.pod_template`, `importer.draft`) all read this table.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.spec.reader import python_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Holder = Literal["metadata", "spec", "main"]
    """Owner of a field: the template's metadata, its pod spec, or its main container."""


class PodField(NamedTuple):
    """A spec field and the field of a pod template that it becomes."""

    spec_field: str
    attribute: str
    holder: Holder
    field: str
    is_kubernetes: bool = False
    """Whether the value is a Kubernetes object, which Kubernetes' decoder must check."""
    nullable: bool = False
    """Whether null is a valid value of the field or of its entries."""


def _row(
    holder: Holder,
    spec_field: str,
    field: str = "",
    *,
    is_kubernetes: bool = False,
    nullable: bool = False,
) -> PodField:
    return PodField(
        spec_field=spec_field,
        attribute=python_name(spec_field),
        holder=holder,
        field=field or spec_field,
        is_kubernetes=is_kubernetes,
        nullable=nullable,
    )


POD_FIELDS = (
    _row("metadata", "podLabels", "labels", nullable=True),
    _row("metadata", "podAnnotations", "annotations", nullable=True),
    _row("main", "image"),
    _row("main", "imagePullPolicy", nullable=True),
    _row("main", "command"),
    _row("main", "args"),
    _row("main", "workingDir", nullable=True),
    _row("main", "ports", is_kubernetes=True),
    _row("main", "envFrom", is_kubernetes=True),
    _row("main", "env", is_kubernetes=True, nullable=True),
    _row("main", "resources"),
    _row("main", "volumeMounts", is_kubernetes=True),
    _row("main", "securityContext", is_kubernetes=True),
    _row("spec", "serviceAccountName", nullable=True),
    _row("spec", "schedulerName", nullable=True),
    _row("spec", "priorityClassName", nullable=True),
    _row("spec", "hostNetwork"),
    _row("spec", "terminationGracePeriodSeconds", is_kubernetes=True, nullable=True),
    _row("spec", "imagePullSecrets", is_kubernetes=True),
    _row("spec", "podSecurityContext", "securityContext", is_kubernetes=True),
    _row("spec", "nodeSelector", nullable=True),
    _row("spec", "affinity", is_kubernetes=True),
    _row("spec", "tolerations", is_kubernetes=True),
    _row("spec", "volumes", is_kubernetes=True),
)
"""restartPolicy is missing because the target sets it for the kind that it writes."""


def spec_fields_in(holder: Holder) -> dict[str, str]:
    """Return the spec fields of one holder, keyed by the template field that they become."""
    return {row.field: row.spec_field for row in POD_FIELDS if row.holder == holder}
