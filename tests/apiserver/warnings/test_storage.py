"""Warnings about PersistentVolumes, claims, storage classes and CSI (Kubernetes 1.36)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.warnings.conftest import Warned

CLASS = "volume.beta.kubernetes.io/storage-class"
CLASS_TEXT = f'metadata.annotations[{CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead'
ARCH = "beta.kubernetes.io/arch"
ARCH_TEXT = 'deprecated since v1.14; use "kubernetes.io/arch" instead'
STORAGE = "storage.k8s.io/v1"


@pytest.mark.parametrize("kind", ["PersistentVolume", "PersistentVolumeClaim"])
def test_the_class_annotation_is_warned_about(warned: Warned, kind: str) -> None:
    assert warned("v1", kind, {"metadata": {"annotations": {CLASS: "fast"}}}) == [CLASS_TEXT]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"persistentVolumeReclaimPolicy": "Retain"}, []),
        (
            {"persistentVolumeReclaimPolicy": "Recycle"},
            [
                "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the "
                "recommended "
                "approach is to use dynamic provisioning."
            ],
        ),
        (
            {
                "nodeAffinity": {
                    "required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": ARCH}]}]}
                }
            },
            [
                f"spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: {ARCH} is {ARCH_TEXT}"
            ],
        ),
        ({"rbd": {}}, ["spec.rbd: deprecated in v1.28, non-functional in v1.31+"]),
        ({"storageos": {}}, ["spec.storageOS: deprecated in v1.22, non-functional in v1.25+"]),
    ],
)
def test_deprecated_settings_of_persistent_volumes_are_warned_about(
    warned: Warned, spec: dict[str, Any], expected: list[str]
) -> None:
    assert warned("v1", "PersistentVolume", {"spec": spec}) == expected


def test_fractional_amounts_of_claims_are_warned_about(warned: Warned) -> None:
    resources = {"requests": {"storage": "1500m"}, "limits": {"storage": "2Gi"}}
    assert warned("v1", "PersistentVolumeClaim", {"spec": {"resources": resources}}) == [
        'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer'
    ]


def test_deprecated_labels_of_classes_and_capacities_are_warned_about(warned: Warned) -> None:
    topologies = [{"matchLabelExpressions": [{"key": ARCH, "values": ["amd64"]}]}]
    assert warned(STORAGE, "StorageClass", {"allowedTopologies": topologies}) == [
        f"allowedTopologies[0].matchLabelExpressions[0].key: {ARCH_TEXT}"
    ]
    topology = {
        "matchLabels": {ARCH: "amd64"},
        "matchExpressions": [{"key": ARCH, "operator": "Exists"}],
    }
    assert warned(STORAGE, "CSIStorageCapacity", {"nodeTopology": topology}) == [
        f"nodeTopology.matchExpressions[0].key: {ARCH} is {ARCH_TEXT}",
        f"nodeTopology.matchLabels.{ARCH}: {ARCH_TEXT}",
    ]


def test_tokens_of_csi_drivers_need_a_choice_of_their_place(warned: Warned) -> None:
    spec = {"tokenRequests": [{"audience": "a"}]}
    [text] = warned(STORAGE, "CSIDriver", {"spec": spec})
    assert text.startswith("spec.serviceAccountTokenInSecrets is unset; ")
    assert warned(STORAGE, "CSIDriver", {"spec": spec}, "1.34") == []
    assert (
        warned(STORAGE, "CSIDriver", {"spec": {**spec, "serviceAccountTokenInSecrets": False}})
        == []
    )
    assert warned(STORAGE, "CSIDriver", {"spec": {}}) == []


@pytest.mark.parametrize(("kubernetes", "count"), [("1.34", 0), ("1.35", 1)])
def test_since_1_35_tokens_of_a_driver_are_warned_about(
    warned: Warned, kubernetes: str, count: int
) -> None:
    spec: dict[str, Any] = {"tokenRequests": [{"audience": "a"}]}
    assert len(warned(STORAGE, "CSIDriver", {"spec": spec}, kubernetes)) == count
    assert (
        warned(
            STORAGE,
            "CSIDriver",
            {"spec": {**spec, "serviceAccountTokenInSecrets": False}},
            kubernetes,
        )
        == []
    )
