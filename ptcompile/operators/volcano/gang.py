"""Which pods the PodGroup of a Volcano Job counts (Volcano 1.16)."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import integer, mapping, text
from ptcompile.operators.common.expansion import Role
from ptcompile.operators.common.pod_group import Shares, first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def counted(group: Json, roles: tuple[Role, ...]) -> Shares:
    """Every task's least, then filled up; the first pods only where the job asks for fewer than the tasks do."""
    least = {str(name): integer(n) for name, n in mapping(group.get("minTaskMember")).items()}
    limit = integer(group.get("minMember"))
    if limit < sum(least.values()):
        return first(limit, roles)
    left = limit - sum(least.values())
    out: Shares = []
    for role in roles:
        wanted = min(role.count, least.get(text(role.name), 0))
        more = min(left, role.count - wanted)
        out.append((role, wanted + more))
        left -= more
    return out
