"""Manifest -> the pods that an operator would create."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptcompile.kubernetes.untyped import kind_of
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators import all as operators
from ptcompile.operators.common.expansion import ContainerView, Expansion, Pods, PodView, Role
from ptcompile.operators.record import Kind, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

__all__ = ["RUNS_PODS", "ContainerView", "Expansion", "PodView", "Pods", "Role", "expand"]

RUNS_PODS = operators.kinds_with(Kind.pods)
"""The kinds, by apiVersion and kind, of which pods come to be: jobs, and a Pod itself."""

_KEPT = 4
"""Pods of a role that are not built again, those asked first: the first ones and the last are asked again and again."""


def expand(manifest: Json, *, versions: Versions | None = None, others: Sequence[Json] = ()) -> Expansion:
    """What the operator of this manifest creates; nothing for a kind that creates no pods.

    `others` are the other objects of the same stream: runtimes and Services. Never raises, whatever the data.
    """
    made = operators.kind_named(kind_of(manifest)).pods(manifest, Request(versions or Versions(), others))
    return Expansion(tuple([Role(name, count, _kept(pod)) for name, count, pod in made.roles]), *made[1:])


def _kept(build: Callable[[int], PodView]) -> Callable[[int], PodView]:
    known: dict[int, PodView] = {}

    def pod(index: int) -> PodView:
        found = known.get(index)
        if found is None:
            found = build(index)
            if len(known) < _KEPT:
                known[index] = found
        return found

    return pod
