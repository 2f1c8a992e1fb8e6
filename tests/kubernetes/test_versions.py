from __future__ import annotations

import pytest

from ptcompile.kubernetes.versions import parse_version


@pytest.mark.parametrize(
    ("text", "expected"), [("1.36", (1, 36)), ("v1.9.4", (1, 9)), ("1.16.0-alpha.1", (1, 16)), ("v1.30+k3s1", (1, 30))]
)
def test_parse_version(text: str, expected: tuple[int, int]) -> None:
    assert parse_version(text) == expected


@pytest.mark.parametrize("text", ["", "1", "one.two", "1.x", "1.", ".5", "1.٣"])
def test_invalid_versions(text: str) -> None:
    with pytest.raises(ValueError, match="not a version"):
        parse_version(text)
