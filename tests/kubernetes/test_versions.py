from __future__ import annotations

import pytest

from ptcompile.kubernetes.versions import Versions, parse_version
from tests.recordings import recorded


@pytest.mark.parametrize(
    ("text", "expected"), [("1.36", (1, 36)), ("v1.9.4", (1, 9)), ("1.16.0-alpha.1", (1, 16)), ("v1.30+k3s1", (1, 30))]
)
def test_parse_version(text: str, expected: tuple[int, int]) -> None:
    assert parse_version(text) == expected


@pytest.mark.parametrize("text", ["", "1", "one.two", "1.x", "1.", ".5", "1.٣"])
def test_invalid_versions(text: str) -> None:
    with pytest.raises(ValueError, match="not a version"):
        parse_version(text)


def test_the_switched_gates_of_one_software() -> None:
    gates = (("kubernetes", "AllAlpha", True), ("jobset", "InPlaceRestart", True), ("kubernetes", "ImageVolume", False))
    assert Versions(gates=gates).gates_of("kubernetes") == (("AllAlpha", True), ("ImageVolume", False))
    assert Versions(gates=gates).gates_of("kueue") == Versions().gates_of("kubernetes") == ()


def test_the_defaults_are_the_newest_releases_that_are_modeled() -> None:
    lines = recorded("operators/records.txt").partition("\n\n")[0].splitlines()
    newest = {name: parse_version(version) for name, version in map(str.split, lines)}
    assert {name: value for name, value in Versions()._asdict().items() if value} == newest
