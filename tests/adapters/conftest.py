"""An API server, and a client of the package `kubernetes` connected to it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.fake_api import FakeApi, serving


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow connections to loopback, where the server runs; the fixture of the same name above allows none."""
    connect = socket.socket.connect

    def local(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1"):
            raise AssertionError(f"a test opened a connection to {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local)


@pytest.fixture
def fake() -> Iterator[FakeApi]:
    with serving() as server:
        yield server


@pytest.fixture
def api(fake: FakeApi) -> Iterator[Any]:
    client = pytest.importorskip("kubernetes.client")
    configuration = client.Configuration(host=fake.url)
    configuration.proxy = configuration.no_proxy = None
    with client.ApiClient(configuration) as found:
        yield found
        found.rest_client.pool_manager.clear()  # closes its sockets
