"""The worlds that are recorded for each operator (tests/operators/worlds.py), as simulate shows them."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.simulator.as_text import overview
from tests.making import smallest
from tests.operators.worlds import BODIES, TARGETS, recorded


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("folder", TARGETS)
def test_overviews_are_as_recorded(folder: str, body: str) -> None:
    expected = recorded(folder)[body].get("overview")
    compiled = ptcompile.compile(smallest(body), target=TARGETS[folder])
    assert (expected is None) == (not compiled.manifests)
    if expected is not None:
        assert overview(ptcompile.simulate(compiled.manifests)).splitlines() == expected
