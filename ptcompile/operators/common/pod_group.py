"""Which pods a gang counts: what the operators' own ways share."""

from __future__ import annotations

from ptcompile.operators.common.expansion import Role
from ptcompile.operators.common.queue_marks import GROUP_LABEL, GROUP_NAME
from ptcompile.operators.record import Key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

POD_GROUPS: Final[dict[Key, tuple[str, str, str]]] = {
    ("scheduling.volcano.sh/v1beta1", "PodGroup"): ("volcano", "annotations", GROUP_NAME),
    ("scheduling.x-k8s.io/v1alpha1", "PodGroup"): ("coscheduling", "labels", GROUP_LABEL),
}
"""The kinds of PodGroup that are in files: who reads them (Volcano 1.16, scheduler-plugins), and which of the
annotations or labels of a pod names one."""

Shares = list[tuple[Role, int]]
"""Roles, each with the number of its pods that count."""


def first(limit: int, roles: tuple[Role, ...]) -> Shares:
    """The first pods in the order of their roles, the higher priority class first: its value is not in the manifest."""
    out: Shares = []
    for role in roles:
        taken = min(limit, role.count)
        out.append((role, taken))
        limit -= taken
    return out
