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


def launched(*options: str) -> dict[str, Any]:
    """Return the spec of a Job with one pod that torchrun starts with these options."""
    container = {"name": "c", "image": "i:1", "command": ["torchrun", *options, "t.py"]}
    pod = {"restartPolicy": "Never", "containers": [container]}
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": {"spec": pod}}}
    spec: dict[str, Any] = ptcompile.import_manifests(manifest).specs[0]["spec"]
    return spec


@pytest.mark.parametrize(
    ("options", "elastic"),
    [
        (("--nproc-per-node=4",), {"nprocPerNode": 4}),
        (("--nproc-per-node=3", "--max-restarts=2"), {"nprocPerNode": 3, "maxRestarts": 2}),
        (("--nproc-per-node=2", "--monitor-interval=7"), {"nprocPerNode": 2, "monitorInterval": 7}),
        (("--nproc-per-node=2", "--start-method=fork"), {"nprocPerNode": 2, "startMethod": "fork"}),
    ],
)
def test_options_of_torchrun_become_fields(options: tuple[str, ...], elastic: dict[str, Any]) -> None:
    spec = launched("--standalone", *options)
    assert spec["script"] == "t.py"
    assert {key: value for key, value in spec["elastic"].items() if key in elastic} == elastic


@pytest.mark.parametrize(
    "options",
    [("--nproc-per-node=x",), ("--monitor-interval=0.5",), ("--nnodes=2",), ("--nnodes=2", "--nproc-per-node=1")],
)
def test_launches_that_no_field_expresses_stay(options: tuple[str, ...]) -> None:
    assert launched(*options)["command"] == ["torchrun", *options, "t.py"]
