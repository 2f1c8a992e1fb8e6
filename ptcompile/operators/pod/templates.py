"""The pod template of a Pod: itself."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.operators.common.templates import Template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def of(manifest: Json) -> Iterator[Template]:
    """A Pod is its own template."""
    yield Template((), manifest)
