"""Endpoints and EndpointSlice, as kube-apiserver 1.36 validates them."""

from __future__ import annotations

import pytest

from tests.apiserver.validation.small_kinds import Row, check_row, kind, messages
from tests.differ.applying.test_updates import changed

GOOD = {
    "endpoints": kind(
        "v1", "Endpoints", subsets=[{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80, "name": "a"}]}]
    ),
    "slice": kind(
        "discovery.k8s.io/v1",
        "EndpointSlice",
        addressType="IPv4",
        endpoints=[{"addresses": ["10.0.0.1"]}],
        ports=[{"name": "a", "port": 80}],
    ),
}
ADDRESS, SLICED = "subsets.0.addresses.0", "endpoints.0.addresses"
ROWS: list[Row] = [
    ("endpoints", "subsets.0", {"ports": [{"port": 80}]}, "subsets[0]: Required value: must specify `addresses` or"),
    ("endpoints", f"{ADDRESS}.ip", "x", "subsets[0].addresses[0].ip: Invalid value"),
    ("endpoints", f"{ADDRESS}.ip", "127.0.0.1", 'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be'),
    ("endpoints", f"{ADDRESS}.ip", "224.0.0.1", 'subsets[0].addresses[0].ip: Invalid value: "224.0.0.1": may not be'),
    ("endpoints", f"{ADDRESS}.ip", "224.0.1.1", ""),
    ("endpoints", f"{ADDRESS}.ip", "::ffff:0102:0304", "subsets[0].addresses[0].ip: Invalid value"),
    ("endpoints", f"{ADDRESS}.hostname", "a.b", "subsets[0].addresses[0].hostname: Invalid value"),
    ("endpoints", f"{ADDRESS}.nodeName", "N", "subsets[0].addresses[0].nodeName: Invalid value"),
    ("endpoints", "subsets.0.ports", [{"port": 80}], ""),
    ("endpoints", "subsets.0.ports", [{"port": 80}, {"port": 81, "name": "b"}], "subsets[0].ports[0].name: Required"),
    ("endpoints", "subsets.0.ports.0.name", "A", "subsets[0].ports[0].name: Invalid value"),
    ("endpoints", "subsets.0.ports.0.port", 0, "subsets[0].ports[0].port: Invalid value: 0"),
    ("endpoints", "subsets.0.ports.0.protocol", "x", "subsets[0].ports[0].protocol: Unsupported value"),
    ("endpoints", "subsets.0.ports.0.appProtocol", "a/b/c", "subsets[0].ports[0].appProtocol: Invalid value"),
    ("slice", "addressType", "", "addressType: Required value"),
    ("slice", "addressType", "IP", "addressType: Unsupported value"),
    ("slice", "addressType", "IPv6", 'endpoints[0].addresses[0]: Invalid value: "10.0.0.1": must be a valid IPv6'),
    ("slice", SLICED, [], "endpoints[0].addresses: Required value: must contain at least 1 address"),
    ("slice", SLICED, [f"10.0.0.{n}" for n in range(1, 102)], "endpoints[0].addresses: Too many: 101"),
    ("slice", SLICED, ["0.0.0.00"], "endpoints[0].addresses[0]: Invalid value"),
    ("slice", SLICED, ["::"], 'endpoints[0].addresses[0]: Invalid value: "::": must be a valid IPv4 address'),
    ("slice", "endpoints.0.nodeName", "", "endpoints[0].nodeName: Invalid value"),
    ("slice", "endpoints.0.hostname", "", "endpoints[0].hostname: Invalid value"),
    ("slice", "endpoints.0.hints", {"forZones": [{"name": "a"}, {"name": "a"}]}, "endpoints[0].hints.forZones[1].name"),
    ("slice", "endpoints.0.hints", {"forNodes": [{"name": "N"}]}, "endpoints[0].hints.forNodes[0].name: Invalid"),
    (
        "slice",
        "endpoints.0.hints",
        {"forZones": [{"name": f"z{n}"} for n in range(9)]},
        "endpoints[0].hints.forZones: T",
    ),
    ("slice", "endpoints.0.deprecatedTopology", {"/": "x"}, ""),  # v1 drops it
    ("slice", "endpoints", [{"addresses": ["10.0.0.1"]}] * 1001, "endpoints: Too many: 1001: must have at most 1000"),
    ("slice", "ports", [{"name": "a"}] * 20_001, "ports: Too many: 20001: must have at most 20000 items"),
    ("slice", "ports", [{"port": 80}, {"port": 81}], 'ports[1].name: Duplicate value: ""'),
    ("slice", "ports.0.name", "A", "ports[0].name: Invalid value"),
    ("slice", "ports.0.port", 70000, ""),  # the server accepts any port here
    ("slice", "ports.0.protocol", "", "ports[0].protocol: Unsupported value"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]}-{row[2]}")
def test_rule(row: Row) -> None:
    check_row(GOOD, row)


@pytest.mark.parametrize(
    ("name", "why"),
    [("a.example.com", ""), ("a.example.com.", ""), ("a", "at least two segments"), ("A.b", "must"), ("", "must")],
)
def test_a_full_domain_name(name: str, why: str) -> None:
    found = messages({**changed(GOOD["slice"], SLICED, [name]), "addressType": "FQDN"})
    assert (why in "".join(found)) if why else found == []


def test_older_servers_accept_mapped_addresses_and_drop_hints_for_nodes() -> None:
    assert messages(changed(GOOD["endpoints"], f"{ADDRESS}.ip", "::ffff:0102:0304"), "1.35") == []
    (message,) = messages(changed(GOOD["slice"], "endpoints.0.hints", {"forNodes": [{"name": "N"}]}), "1.33")
    assert "drops this field: the feature gate PreferSameTrafficDistribution is alpha" in message
