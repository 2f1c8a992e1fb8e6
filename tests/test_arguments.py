"""Arguments of public functions: a wrong type is a TypeError that names the parameter."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import inspect
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from tests.making import smallest

POD: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}}


class Weird:
    """An object without attributes."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class Color(enum.Enum):
    """An enum, which is not a string."""

    RED = "red"


class Text(str):
    """A subclass of str, which is accepted as a string."""


RECURSIVE: list[Any] = []
RECURSIVE.append(RECURSIVE)
DEEP: dict[str, Any] = {}
_at = DEEP
for _ in range(5000):
    _at["a"] = {}
    _at = _at["a"]
VALUES: tuple[Any, ...] = (
    None, 0, -1, 1.5, float("nan"), True, "", " ", "\x00", "\ud800", b"", b"\xff", [], {}, (), set(), {1: 2}, {None: 1},
    [None], [[]], RECURSIVE, DEEP, Weird(), Text("a"), Color.RED, datetime.date(2026, 1, 1), decimal.Decimal(1),
    object(), int, types, 10**400, bytearray(b"a: b"), memoryview(b"a: b"), range(3), iter([1]), POD, Path(__file__),
    {"apiVersion": "v1", "kind": "Pod", "spec": RECURSIVE}, types.MappingProxyType(POD), collections.OrderedDict(POD),
    ptcompile.lint("a: 1"),
)  # fmt: skip
VERBS: dict[Callable[..., Any], Any] = {
    ptcompile.compile: smallest(),
    ptcompile.lint: POD,
    ptcompile.simulate: POD,
    ptcompile.explain: smallest(),
    ptcompile.import_manifests: POD,
    ptcompile.requires: smallest(),
}


@pytest.mark.parametrize("verb", VERBS, ids=lambda one: one.__name__)
def test_any_parameter_accepts_or_rejects_any_value(verb: Callable[..., Any]) -> None:
    first, *others = inspect.signature(verb).parameters
    for value in VALUES:
        _either_way(lambda value=value: verb(value), first)  # type: ignore[misc]
        for name in others:
            _either_way(lambda name=name, value=value: verb(VERBS[verb], **{name: value}), name)  # type: ignore[misc]


def test_either_side_of_a_difference_accepts_or_rejects_any_value() -> None:
    for value in VALUES:
        _either_way(lambda value=value: ptcompile.diff(value, POD), "a")  # type: ignore[misc]
        _either_way(lambda value=value: ptcompile.diff(POD, value), "b")  # type: ignore[misc]


def _either_way(do: Callable[[], object], name: str) -> None:
    """Check that `do` succeeds, raises a TypeError that names the parameter, or raises a ValueError or OSError."""
    told = name
    try:
        do()
    except TypeError as error:
        told = str(error)
    except (ValueError, OSError):
        pass
    assert name in told


@pytest.mark.parametrize(
    ("verb", "given", "message"),
    [
        (ptcompile.lint, {"source": 3}, "source must be text, bytes, an os.PathLike"),
        (ptcompile.compile, {"spec": bytearray(b"a: 1")}, "spec must be .* not bytearray"),
        (ptcompile.compile, {"spec": smallest(), "target": 0}, "target must be a string or None, not int"),
        (ptcompile.lint, {"source": POD, "kubernetes": 1.34}, "kubernetes must be .*, not float: write '1.34'"),
        (ptcompile.lint, {"source": POD, "select": "PTC3"}, "select must be a list, not str"),
        (ptcompile.lint, {"source": POD, "ignore": [1]}, "ignore must be a list of strings, but contains int"),
        (ptcompile.lint, {"source": POD, "cluster": 3}, "cluster must be"),
        (ptcompile.simulate, {"source": POD, "beside": "a: 1"}, "beside must be a list, not str"),
        (ptcompile.convert, {"source": POD, "target": None}, "target must be a string, not NoneType"),
    ],
)  # fmt: skip
def test_the_parameter_is_named(
    verb: Callable[..., Any], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        verb(**given)


def test_an_open_file_is_not_a_source(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1")
    with (tmp_path / "a.yaml").open() as file, pytest.raises(TypeError, match="source must be"):
        ptcompile.lint(file)  # type: ignore[arg-type]


def test_a_path_is_read_and_named_in_findings(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [], nods: 1}\n"
    )
    diagnostics = ptcompile.lint(path).diagnostics
    assert {diagnostic.filename for diagnostic in diagnostics} == {str(path)}
    assert diagnostics == ptcompile.lint(path.read_text(), filename=str(path)).diagnostics
    path.write_text(smallest())
    assert ptcompile.compile(path).yaml() == ptcompile.compile(smallest()).yaml()


def test_the_result_of_compile_is_a_source() -> None:
    result = ptcompile.compile(smallest("nodes: 2"))
    assert ptcompile.lint(result.manifests).documents == len(result.manifests)
    assert ptcompile.simulate(list(result.manifests)).pods.total == 2
    assert not ptcompile.diff(result.manifests, list(result.manifests)).differs
