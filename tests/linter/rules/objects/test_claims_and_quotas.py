"""Claims and the volumes that are meant for them, volumes in another zone, and keys of quotas that count nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, pod, problems_of

ZONE = "topology.kubernetes.io/zone"


def volume(**spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "data"},
        "spec": {
            "capacity": {"storage": "1Ti"},
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "nfs": {"server": "10.0.0.5", "path": "/"},
            **spec,
        },
    }


def claim(**spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "resources": {"requests": {"storage": "1Ti"}},
            **spec,
        },
    }


NAMES_VOLUME = {"volumeName": "data"}
LARGE = {"resources": {"requests": {"storage": "2Ti"}}}
REFERS = {"claimRef": {"name": "data", "namespace": "default"}}


@pytest.mark.parametrize(
    ("of_claim", "of_volume", "paths"),
    [
        ({**NAMES_VOLUME}, {}, []),
        ({**NAMES_VOLUME, **LARGE}, {}, ["storage"]),
        ({**NAMES_VOLUME, **LARGE}, REFERS, []),
        (LARGE, REFERS, ["storage"]),
        (LARGE, {}, []),
        ({**NAMES_VOLUME}, {"claimRef": {"name": "other", "namespace": "default"}}, ["volumeName"]),
        ({**NAMES_VOLUME}, {"claimRef": {"name": "data", "namespace": "other"}}, ["volumeName"]),
        ({**NAMES_VOLUME, "storageClassName": "nfs"}, {}, ["storageClassName"]),
        ({"storageClassName": "nfs"}, REFERS, []),
        ({**NAMES_VOLUME, "volumeMode": "Block"}, {}, ["volumeMode"]),
        ({**NAMES_VOLUME, "accessModes": ["ReadWriteOnce"]}, {}, ["accessModes"]),
        (
            {**NAMES_VOLUME, "accessModes": ["ReadWriteOnce"], **LARGE},
            {},
            ["storage", "accessModes"],
        ),
    ],
)
def test_a_claim_must_fit_its_volume(of_claim: Json, of_volume: Json, paths: list[str]) -> None:
    problems = problems_of("unbound-claim", claim(**of_claim), volume(**of_volume))
    assert [problem.path[-1] for problem in problems] == paths


def test_a_claim_without_a_class_gets_the_default_one() -> None:
    without_class = claim(**NAMES_VOLUME)
    del without_class["spec"]["storageClassName"]
    [problem] = problems_of("unbound-claim", without_class, volume())
    assert (problem.severity, problem.path) == ("warning", ("spec", "volumeName"))


def mounting(zone: str = "", claims: tuple[str, ...] = ("data",)) -> Json:
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    selector = {"nodeSelector": {ZONE: zone}} if zone else {}
    return pod(containers=[{"name": "t", "image": "a:1"}], volumes=volumes, **selector)


def in_zones(*zones: str) -> Json:
    expression = {"key": ZONE, "operator": "In", "values": [*zones]}
    return {
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    }


@pytest.mark.parametrize(
    ("zone", "zones", "is_reported"),
    [("a", ("b",), True), ("a", ("a", "b"), False), ("", ("b",), False)],
)
def test_a_disk_in_another_zone_is_reported(
    zone: str, zones: tuple[str, ...], is_reported: bool
) -> None:
    problems = problems_of(
        "volume-elsewhere", mounting(zone), claim(**NAMES_VOLUME), volume(**in_zones(*zones))
    )
    assert bool(problems) is is_reported


def test_zone_labels_of_a_volume_decide_its_zones() -> None:
    labelled = volume()
    labelled["metadata"]["labels"] = {ZONE: "a__b"}
    assert not problems_of("volume-elsewhere", mounting("a"), claim(**NAMES_VOLUME), labelled)
    assert problems_of("volume-elsewhere", mounting("c"), claim(**NAMES_VOLUME), labelled)


def test_a_storage_class_for_other_zones_is_reported() -> None:
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "zonal"},
        "provisioner": "ebs.csi.aws.com",
        "allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}],
    }
    assert problems_of(
        "volume-elsewhere", mounting("a"), claim(storageClassName="zonal"), storage_class
    )
    assert not problems_of(
        "volume-elsewhere", mounting("b"), claim(storageClassName="zonal"), storage_class
    )


def test_two_disks_need_a_common_zone() -> None:
    other_claim = claim(volumeName="other")
    other_claim["metadata"]["name"] = "other"
    other_volume = volume(**in_zones("b"))
    other_volume["metadata"]["name"] = "other"
    objects = (claim(**NAMES_VOLUME), volume(**in_zones("a")), other_claim, other_volume)
    [problem] = problems_of("volume-elsewhere", mounting(claims=("data", "other")), *objects)
    assert "the volume other is in b" in problem.message


@pytest.mark.parametrize(
    ("size", "spec", "of_volume", "is_noted"),
    [
        ("2Ti", {}, {}, True),
        ("100Gi", {}, {}, False),
        ("2Ti", {"fsGroupChangePolicy": "OnRootMismatch"}, {}, False),
        ("2Ti", {}, {"csi": {"driver": "fsx.csi.aws.com", "volumeHandle": "fs-1"}}, False),
    ],
)
def test_a_large_volume_with_another_group_is_noted(
    size: str, spec: Json, of_volume: Json, is_noted: bool
) -> None:
    mounted = claim(**NAMES_VOLUME, resources={"requests": {"storage": size}})
    manifest = mounting()
    manifest["spec"]["securityContext"] = {"fsGroup": 1000, **spec}
    problems = problems_of("slow-ownership", manifest, mounted, volume(**of_volume))
    assert [problem.severity for problem in problems] == (["note"] if is_noted else [])


@pytest.mark.parametrize(
    ("key", "counted"),
    [
        ("nvidia.com/gpu", "requests.nvidia.com/gpu"),
        ("limits.nvidia.com/gpu", "requests.nvidia.com/gpu"),
        ("requests.nvidia.com/gpus", "requests.nvidia.com/gpu"),
        ("vpc.amazonaws.com/efa", "requests.vpc.amazonaws.com/efa"),
        ("requests.nvidia.com/gpu", None),
        ("requests.vpc.amazonaws.com/efa", None),
        ("requests.nvidia.com/mig-1g.10gb", None),
        ("count/jobs.batch", None),
        ("gold.storageclass.storage.k8s.io/requests.storage", None),
        ("gpu.deviceclass.resource.k8s.io/devices", None),
        ("requests.cpu", None),
        ("pods", None),
    ],
)
def test_uncounted_keys_of_a_quota_are_reported(key: str, counted: str | None) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q"},
        "spec": {"hard": {key: 8}},
    }
    problems = problems_of("uncounted-quota", quota)
    assert [problem.help for problem in problems] == ([f"write {counted}"] if counted else [])


@pytest.mark.parametrize(
    ("kind", "field"),
    [("PriorityClass", "priorityClassName"), ("RuntimeClass", "runtimeClassName")],
)
def test_a_class_whose_name_is_nearly_right_is_reported(kind: str, field: str) -> None:
    groups = {"PriorityClass": "scheduling.k8s.io/v1", "RuntimeClass": "node.k8s.io/v1"}
    other = {"apiVersion": groups[kind], "kind": kind, "metadata": {"name": "training"}}
    assert problems_of("misspelt-reference", pod(**{field: "trainig"}), other)
    assert not problems_of("misspelt-reference", pod(**{field: "training"}), other)
    assert not problems_of("misspelt-reference", pod(**{field: "serving"}), other)


def test_nearly_right_service_accounts_and_storage_classes_are_reported() -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "trainer"}}
    assert problems_of("misspelt-reference", pod(serviceAccountName="trainr"), account)
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "filestore"},
    }
    assert problems_of("misspelt-reference", claim(storageClassName="filestor"), storage_class)
