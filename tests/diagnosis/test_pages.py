"""The page of a message, and the search for one by its words."""

from __future__ import annotations

import pytest

from ptcompile.diagnosis.messages import Message, messages
from ptcompile.diagnosis.pages import message_named, page, search
from tests.small_cases import check_each


def check_page(message: Message) -> None:
    text = page(message)
    assert text.startswith(f"{message.id}  (")
    for part in (
        message.meaning,
        message.do,
        message.source,
        *(cause.text for cause in message.causes),
    ):
        assert " ".join(part.split()) in " ".join(text.split())


def test_every_message_has_a_page() -> None:
    check_each(messages().values(), check_page, name=lambda message: message.id)


def check_search(message: Message) -> None:
    nearest = search(f"{message.examples[0]} {message.meaning}")
    assert message.id in [other.id for other in nearest]


def test_every_page_is_found_by_the_words_of_its_message() -> None:
    check_each(messages().values(), check_search, name=lambda message: message.id)


def test_words_of_people_find_the_message() -> None:
    assert "multi-attach" in [
        message.id for message in search("volume attached to two nodes multi-attach")
    ]
    assert "shm-alloc" in [message.id for message in search("unable to allocate shared memory")]
    assert search("zzz qqq") == []


def test_a_message_is_found_by_its_names() -> None:
    for word in ("client-timeout", "EADDRINUSE", "RendezvousConnectionError"):
        assert message_named(word) is not None, word
    assert message_named("Invalid") is None
    assert message_named("nothing") is None


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("The client socket has timed out", "client-timeout"),
        ("invalid rank requested", "nccl-invalid-rank"),
        ("timed out", None),
        ("a sentence of no program at all", None),
    ],
)
def test_a_part_of_a_line_names_its_message(part: str, name: str | None) -> None:
    message = message_named(part)
    assert (message.id if message is not None else None) == name
