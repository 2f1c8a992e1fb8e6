"""Fixtures for the pages under test and the browser, which all tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.explainer.page.browser import Browser, browser
from tests.explainer.page.making import HOSTILE, SIX, example, golden, text

Given = tuple[str, str | None]
CASES: dict[str, Given] = {
    "example": example(),
    "six": (SIX, None),
    "hostile": (HOSTILE, None),
    "bad-types": golden("bad-types"),
    "parameter-server": golden("parameter-server"),
}


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="package")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    out = {case: folder / f"{case}.html" for case in CASES}
    for case, path in out.items():
        path.write_text(text(*CASES[case]), encoding="utf-8")
    return out


@pytest.fixture
def show(chromium: Browser, files: dict[str, Path]) -> Any:
    """Return a function that opens the page of a case and returns the browser."""

    def opened(case: str, **how: Any) -> Browser:
        chromium.open(
            files[case],
            **{"prefers_reduced_motion": "reduce", "prefers_color_scheme": "light", **how},
        )
        return chromium

    return opened
