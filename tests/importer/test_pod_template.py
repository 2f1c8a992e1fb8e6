"""Pod templates as spec fields, and what stays a patch."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.importer.pod_template import pod_fields
from ptcompile.kinds.reading import ReadRole
from ptcompile.kubernetes.pod_spec import SHM_PATH

GPU = "nvidia.com/gpu"
SIDECAR = {"name": "b", "image": "i"}


def fields(
    main: dict[str, Any] | None = None,
    pod: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Return the spec fields of a template whose main container has these fields."""
    spec = {
        **(pod or {}),
        "containers": [{"name": "main", **(main or {})}, *(pod or {}).get("containers", ())],
    }
    role = ReadRole(
        "node",
        1,
        {"metadata": metadata or {}, "spec": spec},
        options.pop("path", None),
        "main",
        None,
    )
    return pod_fields(role, GPU, **options)


SHM = {"name": "shm", "mountPath": SHM_PATH}
MEMORY = {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}
VOLUMES: list[tuple[list[Any], list[Any], dict[str, Any]]] = [
    ([], [], {"volumeMounts": [], "sharedMemory": False}),
    ([SHM], [MEMORY], {"sharedMemory": "8Gi"}),
    ([SHM], [{"name": "shm", "emptyDir": {"medium": "Memory"}}], {"sharedMemory": True}),
    (
        [SHM, {"name": "a", "mountPath": "/a"}],
        [{"name": "a", "emptyDir": {}}, MEMORY],
        {
            "sharedMemory": "8Gi",
            "volumeMounts": [{"name": "a", "mountPath": "/a"}],
            "volumes": [{"name": "a", "emptyDir": {}}],
        },
    ),
    *(
        (mounts, volumes, {"volumeMounts": mounts, "volumes": volumes})
        for mounts, volumes in (
            ([{**SHM, "mountPath": f"{SHM_PATH}/"}], [MEMORY]),
            ([{**SHM, "readOnly": True}], [MEMORY]),
            ([SHM, {"name": "shm", "mountPath": "/b"}], [MEMORY]),
            ([SHM], [{"name": "shm", "emptyDir": {"sizeLimit": "8Gi"}}]),
            ([SHM], [{"name": "shm", "emptyDir": {"medium": "Memory", "a": 1}}]),
            ([SHM], [{**MEMORY, "a": 1}]),
        )
    ),
]


@pytest.mark.parametrize(("mounts", "volumes", "expected"), VOLUMES)
def test_a_memory_volume_becomes_shared_memory(
    mounts: list[Any], volumes: list[Any], expected: dict[str, Any]
) -> None:
    assert fields({"volumeMounts": mounts}, {"volumes": volumes}) == expected


def test_a_volume_may_stay_a_volume() -> None:
    spec_fields = fields({"volumeMounts": [SHM]}, {"volumes": [MEMORY]}, shm=False)
    assert spec_fields == {"volumeMounts": [SHM], "volumes": [MEMORY], "sharedMemory": False}


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"limits": {"cpu": 1}}, {"cpu": 1}),
        ({"requests": {"cpu": 1}}, {"requests": {"cpu": 1}}),
        ({"requests": {"cpu": 1}, "limits": {"cpu": 1}}, {"cpu": 1}),
        (
            {"requests": {"cpu": 1}, "limits": {"cpu": 2}},
            {"requests": {"cpu": 1}, "limits": {"cpu": 2}},
        ),
        ({"requests": {GPU: 2}}, {"gpu": 2}),
        ({"limits": {"a.b/c": 2}}, {"devices": {"a.b/c": 2}}),
        (
            {"requests": {GPU: 1}, "limits": {GPU: 2}},
            {"requests": {"gpu": 1}, "limits": {"gpu": 2}},
        ),
        ({"limits": {"ephemeral-storage": "1Gi", "cpu": None}}, {"ephemeralStorage": "1Gi"}),
    ],
)
def test_requests_and_limits_become_resources(
    resources: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert fields({"resources": resources})["resources"] == expected


def test_variables_that_a_mapping_cannot_hold_are_patched() -> None:
    reference = {"fieldRef": {"fieldPath": "metadata.name"}}
    repeated = [{"name": "A", "value": "2"}, {"value": "3"}]
    entries = [{"name": "A", "value": "1"}, *repeated, {"name": "B", "valueFrom": reference}]
    spec_fields = fields({"env": entries})
    assert spec_fields["env"] == {"A": "1", "B": reference}
    assert spec_fields["podTemplate"]["spec"]["containers"] == [
        {"name": "pytorch", "env": repeated}
    ]


@pytest.mark.parametrize(
    ("pod", "metadata", "path", "patch"),
    [
        ({}, {"labels": {"a": "b"}, "creationTimestamp": None}, None, None),
        ({}, {"creationTimestamp": "2026-01-01"}, None, None),
        ({}, {"finalizers": ["a/b"]}, None, {"metadata": {"finalizers": ["a/b"]}}),
        ({"hostname": "a", "subdomain": "b"}, {}, None, None),
        ({"hostname": "a"}, {}, (), {"spec": {"hostname": "a"}}),
        ({"hostPID": True, "shareProcessNamespace": None}, {}, None, {"spec": {"hostPID": True}}),
        ({"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}, {}, None, None),
        ({"hostNetwork": True, "dnsPolicy": "None"}, {}, None, {"spec": {"dnsPolicy": "None"}}),
        (
            {"dnsPolicy": "ClusterFirstWithHostNet"},
            {},
            None,
            {"spec": {"dnsPolicy": "ClusterFirstWithHostNet"}},
        ),
        (
            {"containers": [{"name": "b", "image": "i"}]},
            {},
            None,
            {"spec": {"containers": [{"name": "b", "image": "i"}]}},
        ),
    ],
)
def test_other_fields_become_the_patch(
    pod: dict[str, Any], metadata: dict[str, Any], path: Any, patch: dict[str, Any] | None
) -> None:
    assert fields({}, pod, metadata, path=path).get("podTemplate") == patch
