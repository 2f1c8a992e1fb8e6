"""How two sides differ, as callers get it: what was compared, with its forms for people."""

from __future__ import annotations

from ptcompile.diffing.values import Compared


class Difference(Compared):
    """How two sides differ: each object with its other, jobs first by their worlds. Secrets are hidden in all of it."""

    __slots__ = ()

    def text(self) -> str:
        """For a terminal."""
        from ptcompile.diffing.text import text

        return text(self)

    def markdown(self) -> str:
        """For a pull request: GitHub's Markdown."""
        from ptcompile.diffing.markdown import markdown

        return markdown(self)
