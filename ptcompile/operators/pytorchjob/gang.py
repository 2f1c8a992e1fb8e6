"""Which pods the PodGroup of a PyTorchJob counts (training-operator 1.9)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import integer
from ptcompile.operators.common.expansion import Role
from ptcompile.operators.common.pod_group import Shares, first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def counted(group: Json, roles: tuple[Role, ...]) -> Shares:
    """The first pods, as many as must start together."""
    return first(integer(group.get("minMember")), roles)
