"""Endpoints, as kube-apiserver 1.36 validates them."""

from __future__ import annotations

import pytest

from tests.apiserver.validation.small_kinds import Row, check_row, kind, messages
from tests.differ.applying.test_updates import changed

GOOD = {
    "endpoints": kind(
        "v1",
        "Endpoints",
        subsets=[{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80, "name": "a"}]}],
    ),
}
ADDRESS = "subsets.0.addresses.0"
ROWS: list[Row] = [
    (
        "endpoints",
        "subsets.0",
        {"ports": [{"port": 80}]},
        "subsets[0]: Required value: must specify `addresses` or",
    ),
    ("endpoints", f"{ADDRESS}.ip", "x", "subsets[0].addresses[0].ip: Invalid value"),
    (
        "endpoints",
        f"{ADDRESS}.ip",
        "127.0.0.1",
        'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be',
    ),
    (
        "endpoints",
        f"{ADDRESS}.ip",
        "224.0.0.1",
        'subsets[0].addresses[0].ip: Invalid value: "224.0.0.1": may not be',
    ),
    ("endpoints", f"{ADDRESS}.ip", "224.0.1.1", ""),
    ("endpoints", f"{ADDRESS}.ip", "::ffff:0102:0304", "subsets[0].addresses[0].ip: Invalid value"),
    ("endpoints", f"{ADDRESS}.hostname", "a.b", "subsets[0].addresses[0].hostname: Invalid value"),
    ("endpoints", f"{ADDRESS}.nodeName", "N", "subsets[0].addresses[0].nodeName: Invalid value"),
    ("endpoints", "subsets.0.ports", [{"port": 80}], ""),
    (
        "endpoints",
        "subsets.0.ports",
        [{"port": 80}, {"port": 81, "name": "b"}],
        "subsets[0].ports[0].name: Required",
    ),
    ("endpoints", "subsets.0.ports.0.name", "A", "subsets[0].ports[0].name: Invalid value"),
    ("endpoints", "subsets.0.ports.0.port", 0, "subsets[0].ports[0].port: Invalid value: 0"),
    (
        "endpoints",
        "subsets.0.ports.0.protocol",
        "x",
        "subsets[0].ports[0].protocol: Unsupported value",
    ),
    (
        "endpoints",
        "subsets.0.ports.0.appProtocol",
        "a/b/c",
        "subsets[0].ports[0].appProtocol: Invalid value",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]}-{row[2]}")
def test_the_rule_rejects_exactly_these_fields(row: Row) -> None:
    check_row(GOOD, row)


def test_older_servers_accept_mapped_addresses() -> None:
    assert messages(changed(GOOD["endpoints"], f"{ADDRESS}.ip", "::ffff:0102:0304"), "1.35") == []
