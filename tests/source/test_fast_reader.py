"""Lists as kubectl prints them: divided into items, they are the same data."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st

import ptcompile
from ptcompile.source import fast_reader, streams
from ptcompile.source.fast_reader import read_document
from ptcompile.source.nodes import MAX_DOCUMENT

Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_reader, "_LARGE", 0)


def printed(*items: Json) -> str:
    """Return the output of `kubectl get -o yaml`, whose keys are in the order of the alphabet."""
    data = {
        "apiVersion": "v1",
        "items": list(items),
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }
    return yaml.safe_dump(data)


def config(**data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}


def is_divided(text: str) -> bool:
    """Return whether the items were read one by one, so that metadata of the List is left out."""
    return "metadata" not in fast_reader.read_dumped_document(text).data


TEXTS = st.text(st.sampled_from("ab-: #\n'\"|>\t{}[]&*"), max_size=40)
OBJECTS = st.dictionaries(
    st.sampled_from("abcd"),
    st.recursive(TEXTS | st.integers(-(1 << 63), (1 << 63) - 1) | st.none(), st.lists),
    max_size=4,
)


@settings(deadline=None)
@given(
    st.lists(
        OBJECTS.map(lambda data: {"apiVersion": "v1", "kind": "X", "data": data}),
        min_size=1,
        max_size=4,
    )
)
def test_the_fast_reader_reads_the_same_items(items: list[Json]) -> None:
    assert fast_reader.read_dumped_document(printed(*items)).data["items"] == items


@pytest.mark.parametrize(
    "text",
    [
        printed(config(a="- b\n- c\n", d="kind: List\n")),
        printed(config(a="b"), config(c="d")),
        printed(config(a="b")).replace("metadata:\n  resourceVersion: ''\n", ""),
    ],
)
def test_long_lists_are_divided(text: str) -> None:
    assert is_divided(text)
    assert fast_reader.read_dumped_document(text).data["items"] == yaml.safe_load(text)["items"]


@pytest.mark.parametrize(
    "text",
    [
        yaml.safe_dump(config(a="b")),
        printed(config(a="b")).replace("kind: List", "kind: ConfigMapList"),
        printed(config(a="b")).replace(
            "metadata:\n  resourceVersion", "extra: 1\nmetadata:\n  resourceVersion"
        ),
        printed(config(a="b")).partition("kind: List")[0],
        "apiVersion: v1\nitems: []\nkind: List\n",
        "# a comment\n" + printed(config(a="b")),
    ],
)
def test_other_documents_are_read_whole(text: str) -> None:
    assert fast_reader.read_dumped_document(text) == read_document(text)


def test_a_short_list_is_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_reader, "_LARGE", 1 << 19)
    assert not is_divided(printed(config(a="b")))


def test_a_mistake_in_an_item_has_its_line() -> None:
    text = printed(config(a="b"), config(c="d")).replace("    c: d\n", "    c: d\n    c: e\n")
    (problem,) = streams.read_dump(text, "dump.yaml", "state").problems
    assert problem.span is not None
    assert text.splitlines()[problem.span.line - 1] == "    c: e"


def test_a_dump_may_exceed_the_limit_of_a_document() -> None:
    items = [config(a="x" * 30_000) for _ in range(MAX_DOCUMENT // 30_000 + 1)]
    text = printed(*items)
    assert len(text) > MAX_DOCUMENT
    assert streams.read(text, None).problems
    read = streams.read_dump(text, None, "state")
    assert not read.problems
    assert len(read.documents[0].data["items"]) == len(items)
    assert not [
        item
        for item in ptcompile.admit(config(a="b"), state=text).diagnostics
        if item.name == "too-large"
    ]


def test_an_item_above_the_limit_is_too_large() -> None:
    (problem,) = streams.read_dump(printed(config(a="x" * MAX_DOCUMENT)), None, "state").problems
    assert problem.name == "too-large"
