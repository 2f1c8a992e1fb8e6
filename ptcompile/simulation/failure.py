"""What happens when a pod fails and when the job ends, one sentence each, in the words of each kind's operator."""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.kubernetes.untyped import kind_of
from ptcompile.operators.all import kind_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def on_failure(manifest: Json, others: Sequence[Json]) -> tuple[str, ...]:
    """The sentences for a manifest."""
    return tuple(kind_named(kind_of(manifest)).on_failure(manifest, others))
