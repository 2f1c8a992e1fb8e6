"""What is derived for an object is kept while the object and the answers about others are the same, and no longer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import Stream
from ptcompile.linter.changing import ChangingStream
from ptcompile.linter.subject import Subject, subject_of

Json = dict[str, Any]


def _named(name: str, **fields: Any) -> Json:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, **fields}


def _kinds_of_names(stream: Stream) -> dict[str, str]:
    return {manifest["metadata"]["name"]: manifest["kind"] for manifest in stream.objects}


def _names(stream: Stream) -> frozenset[str]:
    return frozenset(_kinds_of_names(stream))


def _spec_of_c(subject: Subject) -> list[Any]:
    return list(subject.objects.by_name(("v1", "Service"), "c"))


A, B, C = _named("a"), _named("b"), _named("c")
QUESTIONS: dict[str, Callable[[Stream], object]] = {
    "nothing": lambda stream: None,
    "by name": lambda stream: stream.objects.by_name(("v1", "Service"), "c"),
    "in a namespace": lambda stream: stream.objects.in_namespace("default").by_name(("v1", "Service"), "c"),
    "all": lambda stream: list(stream.objects),
    "alone": lambda stream: stream.objects.has_only(A),
    "an entry": lambda stream: stream.cached(_kinds_of_names).get("c"),
    "a table": lambda stream: stream.cached(_names),
    "a subject": lambda stream: subject_of(C, stream).spec,
    "what a subject asked": lambda stream: subject_of(B, stream).cached(_spec_of_c),
}
OTHER, RENAMED, DEPLOYED = _named("c", spec={}), _named("d"), {**C, "kind": "Deployment"}


@pytest.mark.parametrize(
    ("question", "after", "kept"),
    [
        ("nothing", [B, OTHER], True),
        ("by name", [B, C, RENAMED], True),
        ("by name", [B, OTHER], False),
        ("by name", [B, RENAMED], False),
        ("in a namespace", [C, B], True),
        ("in a namespace", [B, OTHER], False),
        ("all", [B, C, RENAMED], False),
        ("alone", [B, OTHER], True),
        ("alone", [], False),
        ("an entry", [B, OTHER, RENAMED], True),
        ("an entry", [B, RENAMED], False),
        ("a table", [B, OTHER], True),
        ("a table", [B, RENAMED], False),
        ("a subject", [B, C, RENAMED], True),
        ("a subject", [B, OTHER], False),
        ("what a subject asked", [B, C, RENAMED], True),
        ("what a subject asked", [B, OTHER], False),
        ("what a subject asked", [RENAMED, C], False),
        ("nothing", [B, DEPLOYED], False),  # another kind in the stream
    ],
)
def test_what_is_kept(question: str, after: Sequence[Json], kept: bool) -> None:
    stream = ChangingStream(Versions(), ())
    stream.change([A, B, C], {}, [])
    derivation = stream.of(A)
    assert derivation is not None
    QUESTIONS[question](derivation.view)
    stream.change([A, *after], {}, [])
    assert (stream.of(A) is derivation) is kept


def test_an_object_of_another_file_changes() -> None:
    stream = ChangingStream(Versions(), ())
    stream.change([A, B], {}, [C])
    first = stream.of(A)
    stream.change([A, B], {}, [C])
    assert stream.of(A) is first
    stream.change([A, B], {}, [dict(C)])
    assert stream.of(A) is not first


def test_a_table_that_a_rule_keeps_is_the_current_one() -> None:
    stream = ChangingStream(Versions(), ())
    stream.change([A, B], {}, None)
    derivation = stream.of(A)
    assert derivation is not None
    kinds = derivation.view.cached(_kinds_of_names)
    stream.change([A, B, C], {}, None)
    assert stream.of(A) is derivation
    assert kinds["c"] == "Service"
