"""The same job with one line of its spec or profile left out, or with another value there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from ptcompile.cluster import ClusterProfile
from ptcompile.diagnostics import Path
from ptcompile.explaining.leaves import MISSING, leaves
from ptcompile.freeform import freeform
from ptcompile.spec import Spec

File = Literal["spec", "cluster"]
"""Which of the two inputs."""

_Model = TypeVar("_Model", bound=BaseModel)

TARGET: Path = ("spec", "target")
"""The one field of a spec that says who writes, and nothing of what is written."""


class Variant(NamedTuple):
    """One line changed: the whole job as it would have been then."""

    file: File
    path: Path
    left_out: bool
    """Whether the line is gone; else another value stands there."""
    inner: bool
    """Whether the path leads to a mapping or list with something in it."""
    spec: Spec
    cluster: ClusterProfile


def of_spec(data: Mapping[str, Any], cluster: ClusterProfile) -> Iterator[Variant]:
    """The variants of a document that compiles. Its target is held: another one would change every line."""
    for path, left_out, inner, documents in _changes(data, ("metadata", "spec"), Spec):
        if path != TARGET:
            tried = ((one, _valid(Spec, one)) for one in documents)
            spec = next((spec for one, spec in tried if spec is not None and not any(freeform(spec, one))), None)
            if spec is not None:
                yield Variant("spec", path, left_out, inner, spec, cluster)


def of_cluster(cluster: ClusterProfile, spec: Spec) -> Iterator[Variant]:
    """The variants of a profile with its defaults, which are lines that nobody wrote."""
    for path, left_out, inner, documents in _changes(filled(cluster), ("spec",), ClusterProfile):
        profile = next((one for one in (_valid(ClusterProfile, data) for data in documents) if one is not None), None)
        if profile is not None:
            yield Variant("cluster", path, left_out, inner, spec, profile)


def filled(cluster: ClusterProfile) -> dict[str, Any]:
    """A profile as the document that would say all of it."""
    return cluster.document()


def replaced(data: Any, path: Path, value: Any) -> Any:
    """A copy of the data with another value at a path that it has, or nothing there for `MISSING`."""
    head, *rest = path
    value = replaced(data[head], tuple(rest), value) if rest else value
    if isinstance(data, Mapping):
        return {k: value if k == head else v for k, v in data.items() if k != head or value is not MISSING}
    return [value if i == head else v for i, v in enumerate(data) if i != head or value is not MISSING]


class _Change(NamedTuple):
    """One line to change, and the documents to try until one is valid."""

    path: Path
    left_out: bool
    inner: bool
    documents: Iterator[Any]


def _changes(data: Mapping[str, Any], roots: tuple[str, ...], model: type[BaseModel]) -> Iterator[_Change]:
    """Every leaf left out and with another value, then what holds them left out, the inmost first."""
    below = [(path, value) for root in roots for path, value in leaves(data.get(root, {}), (root,)) if len(path) > 1]
    for path, value in below:
        yield _Change(path, True, False, iter([replaced(data, path, MISSING)]))
        if isinstance(value, str | int | float):
            yield _Change(path, False, False, (replaced(data, path, one) for one in _others(data, path, value, model)))
    holders = dict.fromkeys(path[:length] for path, _ in below for length in range(2, len(path)))
    for path in sorted(holders, key=len, reverse=True):
        yield _Change(path, True, True, iter([replaced(data, path, MISSING)]))


def _others(data: Mapping[str, Any], path: Path, value: str | float, model: type[BaseModel]) -> Iterator[str | float]:
    """Other values of the same type, until one is taken: the most like it first."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield from dict.fromkeys(one for one in _texts(value) if one != value)
        yield from (one for one in _allowed(model, replaced(data, path, f"{value}-x")) if one != value)
    else:
        yield value + 1
        yield value - 1


def _texts(value: str) -> Iterator[str]:
    """Every number one higher (`2:4`, `64Gi`, `img:1.2`), the last one alone (`1.34`), or something behind it."""
    yield re.sub(r"[0-9]{1,9}", lambda digits: str(int(digits[0]) + 1), value)
    yield re.sub(r"[0-9]{1,9}(?=[^0-9]*$)", lambda digits: str(int(digits[0]) + 1), value)
    yield f"{value}-x"
    yield f"{value}x"


def _allowed(model: type[BaseModel], data: Any) -> list[str]:
    """The words of which one must stand where the data has none of them."""
    try:
        model.model_validate(data)
    except ValidationError as error:
        found = (one["ctx"]["expected"] for one in error.errors() if one["type"] == "literal_error")
        return [word for expected in found for word in re.findall(r"'([^']*)'", expected)]
    return []


def _valid(model: type[_Model], data: Any) -> _Model | None:
    try:
        return model.model_validate(data)
    except ValidationError:
        return None
