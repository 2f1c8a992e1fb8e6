"""What the tests of a cluster may do that others may not."""

from __future__ import annotations

import pytest

from tests.conftest import allow_loopback


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow the connections to the stand-in and to `kubectl proxy`."""
    allow_loopback(monkeypatch)
