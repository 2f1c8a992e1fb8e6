"""The messages that are known: what prints each, what it means, its causes, and which of them a
line of a log has.

The table is `messages.json`, one row a message, with its source. A row names words of its fixed
text, so that a line is tried only against the few expressions whose words it has: a log of 64 MB
has a million lines, and the table 282 expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    MessageRole = Literal["first", "either", "secondary", "summary", "notice"]
else:
    MessageRole = str


class PossibleCause(NamedTuple):
    """A possible cause of a message."""

    text: str
    code: str = ""
    """The code of the finding that proves it in a manifest, if there is one."""
    at: tuple[str, ...] = ()
    """Where a manifest shows it: `--option`, `$VARIABLE`, a key such as `limits.memory`, `=text`,
    or `{group}`, a value of the message. With `~` before it, only a place that has another value
    elsewhere. With `!` before all, the place itself is the mistake, even if no finding says so.
    """


class Message(NamedTuple):
    """A row of the table."""

    id: str
    group: str
    role: MessageRole
    """`first` can be the first cause, `either` first or consequence; `secondary` is always a
    consequence of another process, `summary` repeats that something failed, `notice` is harmless.
    """
    tier: int
    """Its distance from the first cause among the messages of a job, from 1, the reason for a
    whole pod.
    """
    pattern: str
    """Its regular expression."""
    words: tuple[str, ...]
    """A line with the message has one of them. Without any, the message is the last to be tried."""
    meaning: str
    causes: tuple[PossibleCause, ...]
    """The likeliest first."""
    do: str
    next: str
    """Where to look next; empty if there is nothing."""
    source: str
    """Who prints it, in which version."""
    examples: tuple[str, ...]
    """Lines with the message, one for each form of it."""
    checked: str
    """How the text was checked: captured from a real process, read in the source, or known from
    public text.
    """
    after: tuple[str, ...] = ()
    """Messages that explain this one where a log has both."""
    waits: bool = False
    """Whether it is about another pod that did not answer."""
    filter: int = 0
    """Of a scheduler's reason, when its filter runs: nodes that fail a late one are nearest to
    fit.
    """
    lines: int = 1
    """Number of lines that the message may fill."""


class MessageMatch(NamedTuple):
    """A message that a line has."""

    message: Message
    values: Mapping[str, str]
    """The named groups of its expression."""


@cache
def messages() -> dict[str, Message]:
    """Return every known message by its id."""
    return {row["id"]: _message(row) for row in load_table("diagnosis/messages.json")["messages"]}


def _message(row: Mapping[str, Any]) -> Message:
    causes = [
        PossibleCause(**{**cause, "at": tuple(cause.get("at", ()))}) for cause in row["causes"]
    ]
    lists = {key: tuple(row.get(key, ())) for key in ("words", "after", "examples")}
    return Message(**{**row, **lists, "causes": tuple(causes), "pattern": f"(?m){row['pattern']}"})


@cache
def _messages_by_word() -> dict[str, list[Message]]:
    """Return the messages that a line may have, by a word of that line."""
    index: dict[str, list[Message]] = {}
    for message in messages().values():
        for word in message.words:
            index.setdefault(word, []).append(message)
    return index


_compiled = cache(re.compile)
words_of = re.compile(r"[A-Za-z0-9_]+").findall
_has_exception = re.compile(r"Error|Exception|Exit\b|Interrupt").search
_MOST_WORK = 1 << 29
"""Characters that are compared with expressions: some ten seconds, even if a log has the words
of all in each line.
"""


class Finder:
    """Finds messages in the lines of logs until its budget is spent."""

    def __init__(self) -> None:
        self._words = _messages_by_word()
        self._unnamed = [message for message in messages().values() if not message.words]
        self._left = _MOST_WORK

    @property
    def is_spent(self) -> bool:
        """Whether the rest of the lines is not looked at."""
        return self._left <= 0

    def may_match(self, line: str) -> bool:
        """Return whether a line has a word of a message; nearly all lines of a log have none."""
        return not self._words.keys().isdisjoint(words_of(line)) or _has_exception(line) is not None

    def matches(self, line: str, before: str = "") -> list[MessageMatch]:
        """Return the messages of a line, the nearest to a first cause first. `before` is the
        line before it.
        """
        if self.is_spent:
            return []

        named = {
            message.id: message for word in words_of(line) for message in self._words.get(word, ())
        }
        matches = [*self._try_messages(named.values(), line, before)]
        return matches or [*self._try_messages(self._unnamed, line, before)]

    def _try_messages(
        self, candidates: Iterable[Message], line: str, before: str
    ) -> Iterator[MessageMatch]:
        for message in sorted(candidates, key=lambda message: message.tier):
            text = line if message.lines == 1 else f"{before}\n{line}"
            self._left -= len(text)
            match = _compiled(message.pattern).search(text)
            if match is not None:
                yield MessageMatch(
                    message, {name: value for name, value in match.groupdict().items() if value}
                )
