"""The pod template of a batch/v1 Job."""

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import Json, at, integer
from ptcompile.operators.common.templates import Template


def of(manifest: Json) -> Iterator[Template]:
    """The template of all pods."""
    spec = at(manifest, "spec")
    yield Template(("spec", "template"), spec.get("template"), "", integer(spec.get("parallelism"), 1))
