"""What field rules use besides the object: server version, feature gates, the pod being checked, an update."""

from __future__ import annotations

from collections.abc import Callable

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Problems
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.unstructured import Json

UpdateValidator = Callable[[Update], Problems]


class PodContext(NamedTuple):
    """The pod spec being checked, as its parts need it."""

    spec: Json
    context: ApiServer
    template: bool
    """Whether the spec is a template in another object instead of a Pod: fewer defaults and fewer rules apply."""
    volumes: Json | None
    """Volumes by name, or None if they are unknown, so no mount is reported as missing."""
    claims: frozenset[str] | None
    """Names in `resourceClaims`, or None if they are unknown."""
    problems: FieldErrors


FIELD_GATES: dict[str, tuple[str, int]] = load_table("apiserver/validation/field_gates.json")["fields"]
"""The feature gate of a field and the minor version of Kubernetes 1 in which the gate is first on by default, keyed by
the field of a pod, container, claim or volume. Fields without rules that depend on other fields need no entry: nothing
is reported on a dropped field.
"""


def is_dropped(field: str, context: ApiServer) -> bool:
    """Return whether the server drops a field unread. Only fields of `FIELD_GATES` can be dropped."""
    return field in FIELD_GATES and not context.has_gate(*FIELD_GATES[field])
