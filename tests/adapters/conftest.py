"""An API server, and a client of the package `kubernetes` connected to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.fake_api import FakeApi, serving
from tests.conftest import allow_loopback


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow connections to loopback, where the server runs; the fixture of the same name above allows none."""
    allow_loopback(monkeypatch)


@pytest.fixture
def fake() -> Iterator[FakeApi]:
    with serving() as server:
        yield server


@pytest.fixture
def api(fake: FakeApi) -> Iterator[Any]:
    client = pytest.importorskip("kubernetes.client")
    configuration = client.Configuration(host=fake.url)
    configuration.proxy = configuration.no_proxy = None
    with client.ApiClient(configuration) as connected:
        yield connected
        connected.rest_client.pool_manager.clear()  # closes its sockets
