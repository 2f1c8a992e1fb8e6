"""ResourceSlice, as kube-apiserver 1.36 validates it."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.apiserver.validation.small_kinds import Row, check_row, kind, messages
from tests.differ.applying.test_updates import changed

POOL = {"name": "p", "resourceSliceCount": 1}
SHARED = {
    "name": "d",
    "allowMultipleAllocations": True,
    "capacity": {
        "memory": {
            "value": "80Gi",
            "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "max": "80Gi", "step": "1Gi"}},
        }
    },
}
COUNTERS = [{"name": "c", "counters": {"m": {"value": "1"}}}]
GOOD = {
    "slice": kind(
        "resource.k8s.io/v1",
        "ResourceSlice",
        spec={
            "driver": "d.io",
            "pool": POOL,
            "nodeName": "n",
            "devices": [{"name": "d", "attributes": {"a.io/x": {"string": "s"}}, "capacity": {"m": {"value": "1Gi"}}}],
        },
    ),
    "shared": kind(
        "resource.k8s.io/v1",
        "ResourceSlice",
        spec={"driver": "d.io", "pool": POOL, "nodeName": "n", "devices": [SHARED]},
    ),
    "taints": kind(
        "resource.k8s.io/v1beta2",
        "DeviceTaintRule",
        spec={"deviceSelector": {"driver": "d.io"}, "taint": {"key": "a", "effect": "NoExecute"}},
    ),
    "counters": kind(
        "resource.k8s.io/v1",
        "ResourceSlice",
        spec={"driver": "d.io", "pool": POOL, "nodeName": "n", "sharedCounters": COUNTERS},
    ),
}
DEVICE, POLICY = "spec.devices.0", "spec.devices.0.capacity.memory.requestPolicy"
TERM = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
ROWS: list[Row] = [
    ("slice", "spec.driver", "", "spec.driver: Required value"),
    ("slice", "spec.driver", "a" * 64, "spec.driver: Too long"),
    ("slice", "spec.pool.name", "a/b", ""),
    ("slice", "spec.pool.name", "a//b", "spec.pool.name: Invalid value"),
    ("slice", "spec.pool.name", "", "spec.pool.name: Required value"),
    ("slice", "spec.pool.name", "a" * 254, "spec.pool.name: Too long"),
    ("slice", "spec.nodeName", "N", "spec.nodeName: Invalid value"),
    ("slice", "spec.pool.resourceSliceCount", 0, "spec.pool.resourceSliceCount: Invalid value: 0"),
    ("slice", "spec.pool.generation", -1, "spec.pool.generation: Invalid value: -1"),
    ("slice", "spec.nodeName", "", 'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty'),
    ("slice", "spec.nodeName", None, "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `p"),
    ("slice", "spec.allNodes", True, 'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of'),
    ("slice", "spec.allNodes", False, "spec.allNodes: Invalid value: false: must be either unset or set to true"),
    ("slice", "spec.nodeSelector", {"nodeSelectorTerms": [TERM, TERM]}, "spec.nodeSelector.nodeSelectorTerms: Invalid"),
    ("slice", "spec.sharedCounters", COUNTERS, 'spec: Invalid value: "": only one of `sharedCounters` or `devices`'),
    ("slice", "spec.devices", [{"name": f"d{n}"} for n in range(129)], "spec.devices: Too many: 129"),
    ("slice", "spec.devices", [{"name": "d"}] * 2, 'spec.devices[1]: Duplicate value: "d"'),
    ("slice", f"{DEVICE}.name", "D", "spec.devices[0].name: Invalid value"),
    ("slice", f"{DEVICE}.attributes", {"a/b/c": {"int": 1}}, ""),  # the server does not look at these names
    ("slice", f"{DEVICE}.attributes", {"1a": {"int": 1}}, "spec.devices[0].attributes[1a]: Invalid value"),
    ("slice", f"{DEVICE}.attributes", {"/a": {"int": 1}}, "spec.devices[0].attributes[/a]: Invalid value"),
    ("slice", f"{DEVICE}.attributes", {"a/": {"int": 1}}, "spec.devices[0].attributes[a/]: Invalid value"),
    ("slice", f"{DEVICE}.attributes", {"A b/a": {"int": 1}}, "spec.devices[0].attributes[A b/a]: Invalid value"),
    (
        "slice",
        f"{DEVICE}.attributes",
        {f"{'a' * 64}/a": {"int": 1}},
        f"spec.devices[0].attributes[{'a' * 64}/a]: Too long",
    ),
    (
        "slice",
        f"{DEVICE}.attributes",
        {"a": {"version": "1.2.3-" + "a" * 60}},
        "spec.devices[0].attributes.a.version: T",
    ),
    ("slice", f"{DEVICE}.attributes", {"a" * 33: {"int": 1}}, f"spec.devices[0].attributes[{'a' * 33}]: Too long"),
    ("slice", f"{DEVICE}.attributes", {"a": {}}, 'spec.devices[0].attributes[a]: Invalid value: "": exactly one'),
    ("slice", f"{DEVICE}.attributes", {"a": {"int": 1, "bool": False}}, "spec.devices[0].attributes[a]: Invalid value"),
    ("slice", f"{DEVICE}.attributes", {"a": {"version": "1.2"}}, "spec.devices[0].attributes.a.version: Invalid"),
    ("slice", f"{DEVICE}.attributes", {"a": {"version": "1.2.3-rc.1+b"}}, ""),
    ("slice", f"{DEVICE}.attributes", {"a": {"string": "s" * 65}}, "spec.devices[0].attributes.a.string: Too long"),
    ("slice", f"{DEVICE}.attributes", {f"a{n}": {"int": 1} for n in range(32)}, "spec.devices[0]: Invalid value: 33"),
    ("slice", f"{DEVICE}.taints", [{"key": "a", "effect": "None"}], ""),
    ("slice", f"{DEVICE}.taints", [{"key": "a", "effect": "x"}], "spec.devices[0].taints[0].effect: Unsupported value"),
    ("slice", f"{DEVICE}.taints", [{"key": "", "effect": "None"}], "spec.devices[0].taints[0].key: Invalid value"),
    (
        "slice",
        f"{DEVICE}.taints",
        [{"key": "a", "value": "a b", "effect": "None"}],
        "spec.devices[0].taints[0].value: Invalid value",
    ),
    (
        "slice",
        f"{DEVICE}.consumesCounters",
        [{"counterSet": name, "counters": {"m": {"value": "1"}}} for name in "abc"],
        "spec.devices[0].consumesCounters: Too many: 3: must have at most 2",
    ),
    ("slice", f"{DEVICE}.consumesCounters", [{"counterSet": "c"}], "spec.devices[0].consumesCounters[0].counters: Req"),
    ("slice", f"{DEVICE}.nodeName", "n", "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and"),
    ("slice", f"{DEVICE}.bindingConditions", ["a"], "spec.devices[0].bindingFailureConditions: Invalid value: null"),
    ("slice", f"{DEVICE}.bindingFailureConditions", ["a"], "spec.devices[0].bindingConditions: Invalid value: null"),
    ("slice", f"{DEVICE}.capacity", SHARED["capacity"], "spec.devices[0].capacity.memory.requestPolicy: Forbidden"),
    (
        "slice",
        f"{DEVICE}.bindingConditions",
        ["a", "a"],
        "spec.devices[0].bindingConditions[1]: Duplicate value",
    ),
    ("slice", f"{DEVICE}.bindingConditions", ["a b"], "spec.devices[0].bindingConditions[0]: Invalid value"),
    ("slice", f"{DEVICE}.bindingConditions", list("abcde"), "spec.devices[0].bindingConditions: Too many: 5"),
    ("shared", "spec.devices.0.capacity.memory.requestPolicy", {"default": "1Gi"}, ""),
    (
        "shared",
        f"{POLICY}.default",
        "81Gi",
        "spec.devices[0].capacity.memory.requestPolicy.validRange.max: Invalid value",
    ),
    ("shared", f"{POLICY}.validRange.min", "81Gi", "spec.devices[0].capacity.memory.requestPolicy.validRange.min: Inv"),
    ("shared", f"{POLICY}.validRange.step", "80Gi", "spec.devices[0].capacity.memory.requestPolicy.validRange.step: I"),
    (
        "shared",
        POLICY,
        {"default": "1Gi", "validValues": ["1Gi", "1024Mi"]},
        "spec.devices[0].capacity.memory.requestPo",
    ),
    (
        "shared",
        POLICY,
        {"default": "1Gi", "validValues": ["1Gi", "90Gi"]},
        "spec.devices[0].capacity.memory.requestPoli",
    ),
    (
        "shared",
        POLICY,
        {"default": "1", "validValues": [str(n) for n in range(1, 12)]},
        "spec.devices[0].capacity.memory.requestPolicy.validValues: Too many: 11",
    ),
    ("shared", f"{POLICY}.default", None, "spec.devices[0].capacity.memory.requestPolicy.default: Required value"),
    ("shared", f"{POLICY}.default", "512Mi", "spec.devices[0].capacity.memory.requestPolicy.validRange.min: Invalid"),
    ("shared", f"{POLICY}.validRange.max", "90Gi", "spec.devices[0].capacity.memory.requestPolicy.validRange.max: Inv"),
    ("shared", f"{POLICY}.validRange.step", "3Ki", "spec.devices[0].capacity.memory.requestPolicy.validRange.step: In"),
    ("shared", f"{POLICY}.validRange.min", None, "spec.devices[0].capacity.memory.requestPolicy.validRange.min: Req"),
    ("shared", f"{POLICY}.validValues", ["1Gi"], "spec.devices[0].capacity.memory.requestPolicy: Forbidden: exactly"),
    ("shared", POLICY, {"default": "1Gi", "validValues": ["1Gi", "2Gi"]}, ""),
    ("shared", POLICY, {"default": "3Gi", "validValues": ["1Gi"]}, "spec.devices[0].capacity.memory.requestPolicy.val"),
    ("shared", POLICY, {"default": "1Gi", "validValues": ["2Gi", "1Gi"]}, "spec.devices[0].capacity.memory.requestPol"),
    ("taints", "spec.deviceSelector", {}, ""),
    ("taints", "spec.deviceSelector.driver", "", "spec.deviceSelector.driver: Required value"),
    ("taints", "spec.deviceSelector.pool", "a//b", "spec.deviceSelector.pool: Invalid value"),
    ("taints", "spec.deviceSelector.device", "D", "spec.deviceSelector.device: Invalid value"),
    ("taints", "spec.taint.key", "a b", "spec.taint.key: Invalid value"),
    ("taints", "spec.taint.effect", "", "spec.taint.effect: Required value"),
    ("counters", "spec.sharedCounters.0.name", "", "spec.sharedCounters[0].name: Required value"),
    ("counters", "spec.sharedCounters.0.name", "A", "spec.sharedCounters[0].name: Invalid value"),
    (
        "counters",
        "spec.sharedCounters.0.counters",
        {f"c{n}": {"value": "1"} for n in range(33)},
        "spec.sharedCounters[0].counters: Too many: 33",
    ),
    ("counters", "spec.sharedCounters", COUNTERS * 2, 'spec.sharedCounters[1]: Duplicate value: "c"'),
    ("counters", "spec.sharedCounters.0.counters", {"A": {"value": "1"}}, "spec.sharedCounters[0].counters.A: Invalid"),
    ("counters", "spec.sharedCounters.0.counters", {}, "spec.sharedCounters[0].counters: Required value"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]}-{row[2]}"[:60])
def test_rule(row: Row) -> None:
    check_row(GOOD, row)


def test_nodes_of_single_devices() -> None:
    spec = {"driver": "d.io", "pool": POOL, "perDeviceNodeSelection": True}
    one, two = {"name": "d", "nodeName": "n"}, {"name": "d", "nodeName": "n", "allNodes": True}
    terms = {"name": "d", "nodeSelector": {"nodeSelectorTerms": []}}
    for device, expected in (
        (one, []),
        (two, ["spec.devices[0]"]),
        ({"name": "d"}, ["spec.devices[0]"]),
        (terms, ["spec.devices[0].nodeSelector.nodeSelectorTerms"]),
    ):
        found = messages(kind("resource.k8s.io/v1", "ResourceSlice", spec={**spec, "devices": [device]}))
        assert [message.partition(": ")[0] for message in found] == expected


def test_older_servers_drop_newer_fields_and_nest_devices() -> None:
    assert messages(changed(GOOD["slice"], f"{DEVICE}.bindingConditions", ["a"]), "1.35") == []
    spec = {
        "driver": "d.io",
        "pool": POOL,
        "nodeName": "n",
        "devices": [{"name": "d", "basic": {"attributes": {"a": {}}}}],
    }
    nested = kind("resource.k8s.io/v1beta1", "ResourceSlice", spec=spec)
    assert messages(nested)[0].startswith("spec.devices[0].basic.attributes[a]: Invalid value")
    bare = changed(nested, "spec.devices", [{"name": "d"}])
    assert messages(bare) == []
    assert messages(bare, "1.33") == ["spec.devices[0].basic: Required value"]
    assert messages(kind("resource.k8s.io/v1alpha2", "ResourceSlice", nodeName="n", driverName="d"), "1.30") == []


def test_both_lists_of_conditions_are_apart() -> None:
    device = {"name": "d", "bindingConditions": ["a"], "bindingFailureConditions": ["a"]}
    (found,) = messages(changed(GOOD["slice"], "spec.devices", [device]))
    assert found == (
        'spec.devices[0].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap '
        "with bindingConditions"
    )


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.driver", "e.io", ["spec.driver"]),
        ("spec.pool.name", "q", ["spec.pool.name"]),
        ("spec.pool.generation", 2, []),
    ],
)
def test_update(path: str, value: Any, expected: list[str]) -> None:
    report = ptcompile.diff(GOOD["slice"], changed(GOOD["slice"], path, value))
    found = [d.message for d in report.diagnostics if d.stage == "apply" and d.severity == "error"]
    assert [message.partition(": ")[0] for message in found] == expected
