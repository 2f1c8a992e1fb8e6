"""The laws of one world (docs/maintaining/checks.md#the-laws-of-one-world): no text breaks one that it kept before."""

from __future__ import annotations

import pytest

from tests.conftest import PROFILE, thinned
from tests.laws import ratchets
from tests.laws.laws import LAWS
from tests.laws.texts import every_text

STEP = 4
"""All texts take two minutes on two cores, and the laws of each text cost alike."""


@pytest.mark.parametrize("law", LAWS)
def test_only_recorded_texts_break_the_law(law: str) -> None:
    verdicts = {text.id: LAWS[law](text) for text in thinned(every_text(), STEP)}
    assert not (why := ratchets.complaint(law, verdicts)), why
    if PROFILE == "long":
        assert (
            sum(lines is not None for lines in verdicts.values())
            == ratchets.recorded()[law].looked_at
        )


@pytest.mark.parametrize("law", ratchets.CODE_LAWS)
def test_only_recorded_code_breaks_the_law(law: str) -> None:
    _, names = ratchets.CODE_LAWS[law]()
    everything = sorted({*ratchets.recorded()[law].broken, *names})
    verdicts = {
        name: ["again: the question has an answer"] if name in names else [] for name in everything
    }
    assert not (why := ratchets.complaint(law, verdicts)), why


def test_each_ratchet_is_of_a_law_and_names_texts_that_exist() -> None:
    recorded = ratchets.recorded()
    ids = {text.id for text in every_text()}
    assert [*recorded] == [*LAWS, *ratchets.CODE_LAWS]
    assert {law: gone for law in LAWS if (gone := sorted(recorded[law].broken.keys() - ids))} == {}
    assert len(ids) == len(every_text())
