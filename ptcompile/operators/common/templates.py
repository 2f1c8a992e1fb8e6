"""Pod templates inside an object: what every kind's own walk gives."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import mapping
from ptcompile.operators import all as operators
from ptcompile.operators.record import Key
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json


class Template(NamedTuple):
    """One pod template where it is written."""

    path: Path
    template: Any
    """As it is written: a mapping, if nothing is wrong with it; None where there is none."""
    role: str = ""
    """The operator's name of the pods: a task, a replica type, a replicatedJob; empty where there is one kind alone."""
    replicas: int = 1
    main: str | None = None
    """The container that trains, where the operator looks for it by name; else it is the first."""


def templates_of(kind: Key, manifest: Json) -> Iterator[Template]:
    """The pod templates of an object of this kind; none of a kind that holds none, as a TrainJob."""
    return operators.kind_named(kind).templates(manifest)


def listed(value: object) -> Iterator[tuple[int, Json]]:
    """The items of a list with their indexes, each a mapping."""
    for i, one in enumerate(value if isinstance(value, list) else ()):
        yield i, mapping(one)
