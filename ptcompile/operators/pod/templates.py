"""The pod template of a Pod: itself."""

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import Json
from ptcompile.operators.common.templates import Template


def of(manifest: Json) -> Iterator[Template]:
    """A Pod is its own template."""
    yield Template((), manifest)
