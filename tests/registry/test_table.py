"""The table of changes between releases: complete, with sources, and queried by name."""

from __future__ import annotations

import pytest

from ptcompile.kubernetes.versions import Versions
from ptcompile.registry.table import FEATURES, has_feature


@pytest.mark.parametrize("name", FEATURES)
def test_a_row_names_an_operator_and_its_source(name: str) -> None:
    change = FEATURES[name]
    assert change.operator in Versions._fields
    assert change.what
    assert change.source
    assert change.until is None or change.since <= change.until


@pytest.mark.parametrize(
    ("trainer", "words"),
    [
        ((1, 9), []),
        ((2, 0), ["pod-spec-overrides", "nproc-words"]),
        ((2, 1), ["pod-template-overrides", "nproc-words", "trainer-volcano"]),
        ((2, 2), ["runtime-patches", "trainjob-deadline", "trainer-volcano"]),
        (
            (2, 3),
            ["runtime-patches", "trainjob-deadline", "trainer-volcano", "resources-merged", "trainjob-managed-by"],
        ),
    ],
)
def test_trainer_by_release(trainer: tuple[int, int], words: list[str]) -> None:
    """Source: docs/facts/trainer.md#what-releases-changed."""
    rows = [name for name, change in FEATURES.items() if change.operator == "trainer" and name != "trainjob"]
    assert sorted(name for name in rows if has_feature(name, Versions(trainer=trainer))) == sorted(words)


def test_newest_release_has_all_fields_that_were_not_removed() -> None:
    assert [name for name in FEATURES if not has_feature(name, Versions())] == [
        name for name, change in FEATURES.items() if change.until is not None
    ]
