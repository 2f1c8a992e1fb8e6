"""A page as an HTML parser reads it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser

VOID = frozenset({"meta", "link", "br", "img", "input", "hr"})
OPTIONAL = frozenset({"li"})
"""Elements whose end tag is optional in HTML."""


class Element:
    """An HTML element: its name, attributes and content."""

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name, self.attributes = name, attributes
        self.inside: list[Element | str] = []

    @property
    def text(self) -> str:
        return "".join(one if isinstance(one, str) else one.text for one in self.inside)

    def all(self, name: str = "") -> Iterator[Element]:
        """Yield the descendants in document order."""
        for inner in self.inside:
            if isinstance(inner, Element):
                if name in ("", inner.name):
                    yield inner
                yield from inner.all(name)

    def find(self, name: str) -> Element:
        """Return the first descendant of this name."""
        return next(self.all(name))

    def id(self, wanted: str) -> Element:
        return self._ids[wanted]

    @cached_property
    def _ids(self) -> dict[str, Element]:
        return {
            element.attributes["id"]: element
            for element in self.all()
            if "id" in element.attributes
        }


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        if tag in OPTIONAL and self.open[-1].name == tag:
            self.open.pop()
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1].name in OPTIONAL and self.open[-1].name != tag:
            self.open.pop()
        assert self.open[-1].name == tag, f"</{tag}> ends <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def read_html(text: str) -> Element:
    """Return the parsed page. Fails for an unmatched end tag or an unclosed element."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert [one.name for one in reader.open] == [""]
    return reader.open[0]
