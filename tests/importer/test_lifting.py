"""import emits `podSecurity: restricted` if the object has exactly the fields that it sets."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.registry.targets import TARGETS
from tests.making import smallest

HARDENED = smallest(
    "podSecurity: restricted\nresources: {cpu: 1, memory: 1Gi}\n"
    "securityContext: {capabilities: {add: [NET_BIND_SERVICE]}, readOnlyRootFilesystem: true}\n"
    "podSecurityContext: {fsGroup: 2000}\n"
    "podTemplate: {spec: {initContainers: [{name: i, image: i}], containers: [{name: side, image: s}]}}"
)
FIELDS = ("allowPrivilegeEscalation", "runAsNonRoot", "seccompProfile", "automountServiceAccountToken", "drop")


def imported(manifests: list[dict[str, Any]]) -> dict[str, Any]:
    done = ptcompile.import_manifests(manifests)
    assert done.ok, done.diagnostics
    (spec,) = done.specs
    read: dict[str, Any] = yaml.safe_load(yaml.safe_dump(spec))["spec"]
    assert list(ptcompile.compile({**spec}).unwrap()) == manifests
    return read


@pytest.mark.parametrize("target", TARGETS)
def test_pod_security_replaces_its_fields(target: str) -> None:
    spec = imported(list(ptcompile.compile(HARDENED, target=target).unwrap()))
    assert spec["podSecurity"] == "restricted"
    assert not [one for one in FIELDS if one in str(spec)]
    assert spec["securityContext"] == {
        "capabilities": {"add": ["NET_BIND_SERVICE"]},
        "readOnlyRootFilesystem": True,
    }
    assert spec["podSecurityContext"] == {"fsGroup": 2000}


def test_pod_security_replaces_fields_of_roles() -> None:
    roles = HARDENED + "  nodes: 2\n  roles: {loader: {command: [x], image: l}}\n"
    spec = imported(list(ptcompile.compile(roles, target="jobset").unwrap()))
    assert spec["podSecurity"] == "restricted"
    assert not [one for one in FIELDS if one in str(spec)]


@pytest.mark.parametrize("missing", FIELDS)
def test_fields_stay_if_one_is_missing(missing: str) -> None:
    (manifest,) = ptcompile.compile(HARDENED, target="pod").unwrap()

    def without(value: Any) -> Any:
        if isinstance(value, list):
            return [without(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {key: without(inner) for key, inner in value.items() if key != missing}

    spec = imported([without(manifest)])
    assert "podSecurity" not in spec
    assert all((one in str(spec)) == (one != missing) for one in FIELDS)
