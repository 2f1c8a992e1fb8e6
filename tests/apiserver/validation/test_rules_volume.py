"""Rules for volumes (numbers 74 to 101), and for volume sources without a number."""

from __future__ import annotations

from typing import Any

import pytest

INV, R, NS, D, F, NF, TL = (
    "invalid-value",
    "required-value",
    "unsupported-value",
    "duplicate-value",
    "forbidden-value",
    "not-found-value",
    "too-long-value",
)
ISCSI = {"targetPortal": "p", "lun": 0, "iqn": "iqn.2001-04.com.example:disk.1"}
V, M, C = "spec.volumes[0]", "spec.containers[0].volumeMounts[0]", "spec.containers[0]"


def source(**fields: Any) -> dict[str, Any]:
    return {"spec.volumes": [{"name": "v", **fields}]}


def mount(**fields: Any) -> dict[str, Any]:
    return {
        "spec.volumes": [{"name": "v"}],
        "C.volumeMounts": [{"name": "v", "mountPath": "/v", **fields}],
    }


def projected(**fields: Any) -> dict[str, Any]:
    return source(projected={"sources": [fields]})


ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("74", {"spec.volumes": [{"emptyDir": {}}]}, [f"{V}.name {R}"]),
    ("75", {"spec.volumes": [{"name": "a.b"}]}, [f"{V}.name {INV}"]),
    ("76", {"spec.volumes": [{"name": "a"}, {"name": "a"}]}, [f"spec.volumes[1].name {D}"]),
    ("77 the server's order", source(hostPath={"path": "/x"}, emptyDir={}), [f"{V}.hostPath {F}"]),
    ("78 ok", source(), []),
    ("79", source(emptyDir={"sizeLimit": "-1"}), [f"{V}.emptyDir.sizeLimit {F}"]),
    ("80 ok", source(emptyDir={"medium": "memory"}), []),
    ("81", source(hostPath={}), [f"{V}.hostPath.path {R}"]),
    ("82", source(hostPath={"path": "/a/../b"}), [f"{V}.hostPath.path {INV}"]),
    ("82 ok", source(hostPath={"path": "/a..b", "type": ""}), []),
    ("83", source(hostPath={"path": "/a", "type": "directory"}), [f"{V}.hostPath.type {NS}"]),
    ("84", source(persistentVolumeClaim={}), [f"{V}.persistentVolumeClaim.claimName {R}"]),
    ("84 ok", source(persistentVolumeClaim={"claimName": "A_b"}), []),
    ("85", source(configMap={}), [f"{V}.configMap.name {R}"]),
    ("85", source(secret={}), [f"{V}.secret.secretName {R}"]),
    (
        "86",
        source(configMap={"name": "a", "defaultMode": 755}),
        [f"{V}.configMap.defaultMode {INV}"],
    ),
    (
        "86",
        source(secret={"secretName": "a", "items": [{"key": "k", "path": "p", "mode": 512}]}),
        [f"{V}.secret.items[0].mode {INV}"],
    ),
    (
        "87",
        source(configMap={"name": "a", "items": [{"path": "p"}]}),
        [f"{V}.configMap.items[0].key {R}"],
    ),
    (
        "88",
        source(configMap={"name": "a", "items": [{"key": "k", "path": "/p"}]}),
        [f"{V}.configMap.items[0].path {INV}"],
    ),
    (
        "88",
        source(configMap={"name": "a", "items": [{"key": "k", "path": "a/../b"}]}),
        [f"{V}.configMap.items[0].path {INV}"],
    ),
    ("89", source(nfs={"path": "x"}), [f"{V}.nfs.server {R}", f"{V}.nfs.path {INV}"]),
    ("90", source(ephemeral={}), [f"{V}.ephemeral.volumeClaimTemplate {R}"]),
    (
        "90 inside",
        source(ephemeral={"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}),
        [f"{V}.ephemeral.volumeClaimTemplate.spec.resources[storage] {R}"],
    ),
    (
        "91",
        projected(serviceAccountToken={"path": "t", "expirationSeconds": 599}),
        [f"{V}.projected.sources[0].serviceAccountToken.expirationSeconds {INV}"],
    ),
    ("92", {"C.volumeMounts": [{"name": "x", "mountPath": "/x"}]}, [f"{M}.name {NF}"]),
    (
        "92 no cascade",
        {"spec.volumes": [{"name": "A_"}], "C.volumeMounts": [{"name": "A_", "mountPath": "/x"}]},
        [f"{V}.name {INV}"],
    ),
    ("93 one cause", {"C.volumeMounts": [{"name": "", "mountPath": "/x"}]}, [f"{M}.name {R}"]),
    ("94", mount(mountPath=""), [f"{M}.mountPath {R}"]),
    (
        "95",
        {"spec.volumes": [{"name": "v"}], "C.volumeMounts": [{"name": "v", "mountPath": "/v"}] * 2},
        [f"{C}.volumeMounts[1].mountPath {INV}"],
    ),
    (
        "96 ok",
        {
            "spec.volumes": [{"name": "v"}],
            "C.volumeMounts": [
                {"name": "v", "mountPath": "/v"},
                {"name": "v", "mountPath": "/v/"},
                {"name": "v", "mountPath": "a:b"},
            ],
        },
        [],
    ),
    ("97", mount(subPath="/x"), [f"{C}.volumeMounts.subPath {INV}"]),
    ("97", mount(subPath="a/.."), [f"{C}.volumeMounts.subPath {INV}"]),
    ("98", mount(subPath="x", subPathExpr="y"), [f"{M}.subPathExpr {INV}"]),
    ("99", mount(mountPropagation="x"), [f"{C}.volumeMounts.mountPropagation {NS}"]),
    ("99", mount(mountPropagation="Bidirectional"), [f"{C}.volumeMounts.mountPropagation {F}"]),
    (
        "99 ok",
        {**mount(mountPropagation="Bidirectional"), "C.securityContext": {"privileged": True}},
        [],
    ),
    (
        "100",
        {**source(), "C.volumeDevices": [{"name": "v", "devicePath": "/d"}]},
        [f"{C}.volumeDevices[0].name {INV}"],
    ),
    ("101 ok", source(emptyDir={}), []),
    (
        "devices",
        {"C.volumeDevices": [{"name": "x", "devicePath": "/d"}]},
        [f"{C}.volumeDevices[0].name {NF}"],
    ),
    (
        "devices",
        {**source(persistentVolumeClaim={"claimName": "c"}), "C.volumeDevices": [{"name": "v"}]},
        [f"{C}.volumeDevices[0].devicePath {R}"],
    ),
    (
        "devices",
        {
            **source(persistentVolumeClaim={"claimName": "c"}),
            "C.volumeDevices": [{"name": "v", "devicePath": "/a/../d"}],
        },
        [f"{C}.volumeDevices[0].devicePath {INV}"],
    ),
    (
        "recursiveReadOnly",
        mount(recursiveReadOnly="Enabled"),
        [f"{C}.volumeMounts.recursiveReadOnly {F}"],
    ),
    (
        "recursiveReadOnly",
        mount(recursiveReadOnly="x"),
        [f"{C}.volumeMounts.recursiveReadOnly {NS}"],
    ),
    ("csi", source(csi={}), [f"{V}.csi.driver {R}"]),
    ("csi", source(csi={"driver": "a" * 64}), [f"{V}.csi.driver {TL}"]),
    ("csi ok", source(csi={"driver": "Csi.Example.io"}), []),
    (
        "csi",
        source(csi={"driver": "a", "nodePublishSecretRef": {}}),
        [f"{V}.csi.nodePublishSecretRef.name {R}"],
    ),
    ("fc", source(fc={}), [f"{V}.fc.targetWWNs {R}"]),
    ("fc", source(fc={"targetWWNs": ["a"]}), [f"{V}.fc.lun {R}"]),
    ("fc", source(fc={"targetWWNs": ["a"], "lun": 256}), [f"{V}.fc.lun {INV}"]),
    (
        "fc",
        source(fc={"targetWWNs": ["a"], "lun": 1, "wwids": ["b"]}),
        [f"{V}.fc.targetWWNs {INV}"],
    ),
    ("iscsi", source(iscsi={"targetPortal": "p", "lun": 0}), [f"{V}.iscsi.iqn {R}"]),
    ("iscsi", source(iscsi={"targetPortal": "p", "lun": 0, "iqn": "x"}), [f"{V}.iscsi.iqn {INV}"]),
    (
        "iscsi ok",
        source(iscsi={"targetPortal": "p", "lun": 0, "iqn": "iqn.2001-04.com.example:disk.1"}),
        [],
    ),
    (
        "iscsi",
        source(
            iscsi={
                "targetPortal": "p",
                "lun": 0,
                "iqn": "eui.0123456789abcdef",
                "chapAuthSession": True,
            }
        ),
        [f"{V}.iscsi.secretRef {R}"],
    ),
    ("iscsi", source(iscsi={**ISCSI, "chapAuthDiscovery": True}), [f"{V}.iscsi.secretRef {R}"]),
    ("iscsi ok", source(iscsi={**ISCSI, "chapAuthDiscovery": False, "chapAuthSession": False}), []),
    (
        "iscsi ok",
        source(iscsi={**ISCSI, "chapAuthDiscovery": True, "secretRef": {"name": "s"}}),
        [],
    ),
    (
        "iscsi",
        source(iscsi={**ISCSI, "secretRef": {"name": ""}}),
        [f"{V}.iscsi.secretRef.name {R}"],
    ),
    (
        "iscsi ok",
        source(iscsi={**ISCSI, "iqn": "naa.0123456789abcdef0123456789abcdef", "lun": 255}),
        [],
    ),
    ("iscsi", source(iscsi={**ISCSI, "lun": 256}), [f"{V}.iscsi.lun {INV}"]),
    ("iscsi", source(iscsi={**ISCSI, "initiatorName": "x"}), [f"{V}.iscsi.initiatorName {INV}"]),
    ("iscsi", source(iscsi={**ISCSI, "targetPortal": ""}), [f"{V}.iscsi.targetPortal {R}"]),
    ("flocker ok", source(flocker={"datasetName": "a"}), []),
    ("flocker ok", source(flocker={"datasetUUID": "a/b"}), []),
    ("flocker", source(flocker={}), [f"{V}.flocker {R}"]),
    ("flocker", source(flocker={"datasetName": "a/b"}), [f"{V}.flocker.datasetName {INV}"]),
    ("flocker", source(flocker={"datasetName": "a", "datasetUUID": "b"}), [f"{V}.flocker {INV}"]),
    ("azureFile", source(azureFile={"secretName": "a"}), [f"{V}.azureFile.shareName {R}"]),
    (
        "awsElasticBlockStore",
        source(awsElasticBlockStore={"partition": 256}),
        [
            f"{V}.awsElasticBlockStore.volumeID {R}",
            f"{V}.awsElasticBlockStore.partition {INV}",
        ],
    ),
    (
        "gitRepo",
        source(gitRepo={"repository": "r", "directory": "../x"}),
        [f"{V}.gitRepo.directory {INV}"],
    ),
    ("image", source(image={}), [f"{V}.image.reference {R}"]),
    ("image", source(image={"reference": "i", "pullPolicy": "x"}), [f"{V}.image.pullPolicy {NS}"]),
    ("cephfs", source(cephfs={"monitors": []}), [f"{V}.cephfs.monitors {R}"]),
    (
        "downwardAPI",
        source(downwardAPI={"items": [{"path": "p"}]}),
        [f"{V}.downwardAPI.items[0] {R}"],
    ),
    (
        "downwardAPI ok",
        source(
            downwardAPI={"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.labels"}}]}
        ),
        [],
    ),
    (
        "downwardAPI",
        source(downwardAPI={"items": [{"path": "p", "fieldRef": {"fieldPath": "status.podIP"}}]}),
        [f"{V}.downwardAPI.items[0].fieldRef.fieldPath {NS}"],
    ),
    (
        "downwardAPI",
        source(
            downwardAPI={"items": [{"path": "p", "resourceFieldRef": {"resource": "limits.cpu"}}]}
        ),
        [f"{V}.downwardAPI.items[0].resourceFieldRef.containerName {R}"],
    ),
    ("projected", projected(secret={}), [f"{V}.projected.sources[0].secret.name {R}"]),
    (
        "projected",
        projected(secret={"name": "a"}, configMap={"name": "b"}),
        [f"{V}.projected.sources[0].configMap {F}"],
    ),
    (
        "projected",
        source(
            projected={
                "sources": [
                    {"secret": {"name": "a", "items": [{"key": "k", "path": "p"}]}},
                    {
                        "downwardAPI": {
                            "items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]
                        }
                    },
                ]
            }
        ),
        [f"{V}.projected.sources[1].downwardAPI.items[0].path {INV}"],
    ),
    (
        "projected",
        projected(serviceAccountToken={}),
        [f"{V}.projected.sources[0].serviceAccountToken.path {R}"],
    ),
    (
        "projected",
        projected(clusterTrustBundle={"path": "p"}),
        [f"{V}.projected.sources[0].clusterTrustBundle {R}"],
    ),
]


@pytest.mark.parametrize(("rule", "changes", "expected"), ROWS)
def test_the_rule_rejects_exactly_these_fields(
    rule: str, changes: dict[str, Any], expected: list[str], verdict: Any
) -> None:
    assert verdict("pod", changes) == expected, rule
