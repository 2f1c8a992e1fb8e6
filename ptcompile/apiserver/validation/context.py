"""What field rules use besides the object: feature gates of fields, and an update."""

from __future__ import annotations

from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.requests import ApiServer

FIELD_GATES: dict[str, tuple[str, int]] = load_table("apiserver/validation/field_gates.json")[
    "fields"
]
"""The feature gate of a field and the minor version of Kubernetes 1 in which the gate is first on
by default, keyed by the field of a pod, container, claim or volume. Fields without rules that
depend on other fields need no entry: nothing is reported on a dropped field.
"""


def is_dropped(field: str, context: ApiServer) -> bool:
    """Return whether the server drops a field unread. Only fields of `FIELD_GATES` can be
    dropped.
    """
    return field in FIELD_GATES and not context.has_gate(*FIELD_GATES[field])
