"""The open texts, each analysed once for every state that it is in. Used on the worker's thread alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ptcompile.server.document import Open
from ptcompile.server.surroundings import Defined, File, Surroundings, defined

_KEPT: Final = 64
"""Texts whose analysis is kept."""


class Texts:
    """What is known of every open text."""

    def __init__(self, surroundings: Surroundings, encoding: str) -> None:
        self._surroundings = surroundings
        self._encoding = encoding
        self._open: dict[str, Open] = {}
        self._stale: set[str] = set()
        self._elsewhere: dict[str, tuple[str | bytes, tuple[Defined, ...]]] = {}

    def get(self, uri: str, path: str, text: str, pause: Callable[[], None]) -> Open:
        """The analysis of a text as it is now; that of before where it has not changed."""
        there = self._open.pop(uri, None)
        if there is None or uri in self._stale or there.text != text.removeprefix("\ufeff"):
            self._stale.discard(uri)
            there = Open(
                uri,
                path,
                text,
                settings=self._surroundings.settings(path),
                elsewhere=self._others(path),
                before=there.last_sound() if there is not None else None,
                encoding=self._encoding,
            )
        self._open[uri] = there
        while len(self._open) > _KEPT:
            del self._open[next(iter(self._open))]
        there.pause = pause
        return there

    def close(self, uri: str) -> None:
        """Forget a text."""
        self._open.pop(uri, None)

    def forget(self) -> None:
        """Analyse everything again: the configuration or another file is not what it was."""
        self._surroundings.changed()
        self._stale = set(self._open)

    def _others(self, path: str) -> tuple[Defined, ...]:
        """The objects of the other files; those of open ones as they are in the editor."""
        unsaved = {one.path: one.own for one in self._open.values()}
        found: list[Defined] = []
        for file in self._surroundings.files():
            if file.path != path and file.path not in unsaved:
                found += self._defined(file)
        for other, own in unsaved.items():
            found += own if other != path else ()
        return tuple(found)

    def _defined(self, file: File) -> tuple[Defined, ...]:
        kept = self._elsewhere.get(file.path)
        if kept is None or kept[0] is not file.content:
            kept = self._elsewhere[file.path] = (file.content, defined(file))
        return kept[1]
