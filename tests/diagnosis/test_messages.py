"""The table of messages: its rows, and that each is found by its words."""

from __future__ import annotations

import re

import pytest

from ptcompile.diagnosis.messages import Finder, Message, messages
from ptcompile.diagnostics.codes import CODES
from tests.small_cases import check_each

ROLES = {"first", "either", "secondary", "summary", "notice"}


def message_ids(line: str, before: str = "") -> list[str]:
    finder = Finder()
    return (
        [match.message.id for match in finder.matches(line, before)]
        if finder.may_match(line)
        else []
    )


def check_examples(message: Message) -> None:
    assert message.examples
    for example in message.examples:
        *before, line = example.split("\n")
        assert message.id in message_ids(line, "\n".join(before)), example
        assert len(before) < message.lines


def test_every_example_is_found() -> None:
    check_each(messages().values(), check_examples, name=lambda message: message.id)


def check_row(message: Message) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", message.id)
    assert message.role in ROLES
    assert message.checked in {"captured", "source", "public text"}
    assert message.source
    assert message.causes
    assert set(message.after) <= messages().keys()
    for text in (message.meaning, message.do):
        assert text.endswith("."), text
    for cause in message.causes:
        assert not cause.code or cause.code in CODES.values()
        assert not cause.text.endswith(".")
        assert all(
            re.fullmatch(r"!?(~?(--?[\w-]+|\$\w+|[\w./-]+)|\{\w+\}|=[\w.]+)", place)
            for place in cause.at
        ), cause.at
        named = {place.strip("!{}") for place in cause.at if "{" in place}
        assert named <= re.compile(message.pattern).groupindex.keys()


def test_every_row_is_complete() -> None:
    check_each(messages().values(), check_row, name=lambda message: message.id)


def test_a_name_is_no_rule_and_no_code() -> None:
    """`ptcompile explain NAME` asks for both."""
    assert not messages().keys() & CODES.keys()


def test_a_consequence_is_farther_from_the_cause_than_what_can_be_one() -> None:
    tiers = {
        role: {message.tier for message in messages().values() if message.role == role}
        for role in ROLES
    }
    assert max(tiers["first"]) < min(tiers["secondary"])
    assert max(tiers["secondary"]) < min(tiers["summary"] | tiers["notice"])


def test_the_nearest_message_of_a_line_comes_first() -> None:
    assert message_ids("Exit Code: 137, reason OOMKilled")[0] == "oomkilled"
    assert (
        message_ids("ValueError: invalid literal for int() with base 10: 'tcp://10.0.0.1:80'")[0]
        == "svc-env-port"
    )


def test_an_exception_is_the_script_s_if_nothing_else_is_known() -> None:
    assert message_ids("KeyError: 'lr'") == ["py-traceback"]
    assert message_ids("torch.distributed.DistStoreError: wait timeout after 3ms, keys: /a") == [
        "store-wait-timeout"
    ]
    assert message_ids("step 3: no Error here, all is well") == []


def test_a_message_of_two_lines_is_not_read_from_one() -> None:
    above = "You requested gpu: [0, 1]"
    assert message_ids(" But your machine only has: [0]", above) == []
    assert message_ids(
        "lightning_fabric: You requested gpu: [0, 1] But your machine only has: [0]"
    ) == ["lightning-gpus"]


def test_a_finder_stops_when_its_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptcompile.diagnosis.messages._MOST_WORK", 40)
    finder = Finder()
    assert finder.matches("KeyError: 'lr'")
    assert finder.matches("reason: OOMKilled " + "x" * 40)
    assert finder.is_spent
    assert finder.matches("reason: OOMKilled") == []
