"""The analyses of open texts: kept while a text and what is around it are as they were."""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.server.surroundings import File, Settings
from ptcompile.server.texts import Texts

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: main, image: 'a:1'}]}\n"

KEPT = 64


class Nothing:
    """A workspace with no other file."""

    def settings(self, path: str) -> Settings:
        return Settings()

    def files(self) -> Sequence[File]:
        return ()

    def changed(self) -> None:
        return


def _uri(number: int) -> str:
    return f"file:///work/{number}.yaml"


def _get(kept: Texts, number: int, text: str = POD) -> object:
    return kept.get(_uri(number), f"/work/{number}.yaml", text, lambda: None)


def test_a_text_that_did_not_change_is_not_analysed_again() -> None:
    kept = Texts(Nothing(), "utf-16")
    before = [_get(kept, number) for number in range(3)]
    assert all(_get(kept, number) is one for number, one in enumerate(before))
    assert _get(kept, 1, POD + "# more\n") is not before[1]
    assert _get(kept, 0) is before[0]


def test_what_is_around_it_changed() -> None:
    kept = Texts(Nothing(), "utf-16")
    before = _get(kept, 0)
    kept.forget()
    assert _get(kept, 0) is not before


def test_the_texts_asked_for_last_are_kept() -> None:
    kept = Texts(Nothing(), "utf-16")
    first, second = _get(kept, 0), _get(kept, 1)
    for number in range(2, KEPT):
        _get(kept, number)
    assert _get(kept, 0) is first
    _get(kept, KEPT)
    assert _get(kept, 0) is first
    assert _get(kept, 1) is not second
