"""Regular expressions that are compiled when they are first asked.

Compiling one takes ten times as long as importing the function around it, and one manifest asks few of them. Flags
stand in the expression: `(?a)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptcompile.memo import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re


class Pattern:
    """What `re.compile` gives, later. The methods are those of `re.Pattern`, and raise what they raise."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression itself."""
        import re

        return re.compile(self.text)

    def match(self, text: str, *span: int) -> re.Match[str] | None:
        """Whether a text, or what stands between two offsets of it, begins with it."""
        return self.compiled.match(text, *span)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Whether it is all of a text."""
        return self.compiled.fullmatch(text)

    def search(self, text: str, *span: int) -> re.Match[str] | None:
        """The first place that it matches, of a text or of what stands between two offsets of it."""
        return self.compiled.search(text, *span)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All places of a text that it matches."""
        return self.compiled.finditer(text)

    def findall(self, text: str) -> list[str]:
        """What it matches, or what its one group does."""
        return self.compiled.findall(text)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str) -> str:
        """A text with what it matches replaced."""
        return self.compiled.sub(new, text)
