"""Cloud Storage volumes, direct or through a claim that the stream defines."""

from __future__ import annotations

import pytest

import ptcompile

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train%s}
spec:
  restartPolicy: Never
  volumes: [{name: data, %s}]
  containers:
    - name: pytorch
      image: ghcr.io/acme/train:1.0
      command: [python, train.py]
      resources: {limits: {cpu: 8, memory: 64Gi}}
      volumeMounts: [{name: data, mountPath: /data}]
"""
INLINE = "csi: {driver: gcsfuse.csi.storage.gke.io, volumeAttributes: {bucketName: b}}"
CLAIM = "persistentVolumeClaim: {claimName: data}"
DRIVER = "csi: {driver: gcsfuse.csi.storage.gke.io, volumeHandle: b}"
BASE = "accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}"
PVC = f"---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: data}}\nspec: {{{BASE}, %s}}\n"
PV = f"""---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: bucket}}
spec: {{capacity: {{storage: 1Gi}}, accessModes: [ReadWriteMany], {DRIVER}%s}}
"""
ASKS = ", annotations: {gke-gcsfuse/volumes: 'true'}"


def findings_of(text: str) -> list[str]:
    return [
        diagnostic.name
        for diagnostic in ptcompile.lint(text).diagnostics
        if diagnostic.name == "missing-sidecar-annotation"
    ]


@pytest.mark.parametrize(
    "text",
    [
        POD % ("", INLINE),
        POD % (", annotations: {gke-gcsfuse/volumes: 'false'}", INLINE),
        POD % ("", CLAIM) + PVC % "volumeName: bucket" + PV % "",
        POD % ("", CLAIM)
        + PVC % "storageClassName: ''"
        + PV % ", claimRef: {name: data, namespace: default}",
    ],
)
def test_pods_without_the_annotation_are_reported(text: str) -> None:
    assert len(findings_of(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        POD % (ASKS, INLINE),
        POD % (ASKS, CLAIM) + PVC % "volumeName: bucket" + PV % "",
        POD % ("", CLAIM),
        POD % ("", CLAIM) + PVC % "volumeName: other" + PV % "",
        POD % ("", INLINE.replace("gcsfuse.csi.storage.gke.io", "efs.csi.aws.com")),
        POD % ("", INLINE) + "    - {name: gke-gcsfuse-sidecar, image: example.com/mounter:1}\n",
    ],
)
def test_pods_that_need_no_annotation_are_not_reported(text: str) -> None:
    assert findings_of(text) == []


def test_the_fix_is_safe() -> None:
    fixed = ptcompile.fix(POD % ("", INLINE))
    assert 'gke-gcsfuse/volumes: "true"' in fixed.text
    assert findings_of(fixed.text) == []
