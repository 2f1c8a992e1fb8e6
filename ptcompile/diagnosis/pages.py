"""The page of every message, and the search for one by its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from textwrap import fill

from ptcompile.diagnosis.messages import Message, messages, words_of

ROLES = {
    "first": "can be the first cause",
    "either": "the first cause or a consequence",
    "secondary": "a consequence of something in another process",
    "summary": "says that something failed, not why",
    "notice": "harmless",
}
_CHECKED = {
    "captured": "captured from a real process",
    "source": "read in its source",
    "public text": "known from public logs",
}


def page(message: Message) -> str:
    """Return the page of a message as text for a terminal."""
    examples = (f"  {line}" for example in message.examples for line in example.split("\n"))
    causes = (
        f"{number}. {cause.text}" + (f" ({cause.code})" if cause.code else "")
        for number, cause in enumerate(message.causes, 1)
    )
    parts = [
        f"{message.id}  ({message.group}; {ROLES[message.role]})",
        _wrap_text(message.meaning),
        "\n".join(["Such as:", *examples]),
        "\n".join(["Causes, the likeliest first:", *(_wrap_text(cause, "  ") for cause in causes)]),
        _wrap_text(f"Do: {message.do}"),
        *([_wrap_text(f"Look next at: {message.next}")] if message.next else ()),
        _wrap_text(f"Source: {message.source}; {_CHECKED[message.checked]}"),
    ]

    return "\n\n".join(parts) + "\n"


def _wrap_text(text: str, indent: str = "") -> str:
    return fill(
        text,
        100,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


_NEAREST = 3
_OF_TEXT = 3
"""How much more a word of the message itself tells than one of its explanation."""


def search(text: str) -> list[Message]:
    """Return the messages with the most telling words of a text, at most three; a rare word
    tells more.
    """
    words = _words([text])
    weights = {
        name: sum(weight for word, weight in word_weights.items() if word in words)
        for name, word_weights in _word_weights().items()
    }
    ranked = sorted(messages().values(), key=lambda message: -weights[message.id])
    return [message for message in ranked[:_NEAREST] if weights[message.id]]


@cache
def _word_weights() -> dict[str, dict[str, float]]:
    """Return how much each word of each message's page tells."""
    texts = {}
    pages = {}
    for message in messages().values():
        causes = (cause.text for cause in message.causes)
        texts[message.id] = _words([message.id, *message.examples])
        pages[message.id] = texts[message.id] | _words([message.meaning, *causes])

    counts = Counter(word for words in pages.values() for word in words)
    return {
        name: {word: (_OF_TEXT if word in texts[name] else 1) / counts[word] for word in words}
        for name, words in pages.items()
    }


def message_named(word: str) -> Message | None:
    """Return the message with this name, or the only one whose lines have this word or this part
    of a line.
    """
    if word in messages():
        return messages()[word]

    matching = [message for message in messages().values() if word in message.words]
    if not matching and len(word) >= _SHORTEST_PART:
        part = word.lower()
        matching = [
            message
            for message in messages().values()
            if part in "\n".join(message.examples).lower()
        ]

    return matching[0] if len(matching) == 1 else None


_SHORTEST_PART = 12
"""Fewest letters of a part of a line that is looked for in the examples of messages."""


_SHORTEST_WORD = 3


def _words(texts: Iterable[str]) -> frozenset[str]:
    words = (word.lower() for text in texts for word in words_of(text))
    return frozenset(word for word in words if len(word) >= _SHORTEST_WORD)
