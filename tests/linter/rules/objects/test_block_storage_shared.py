"""Claims of single-attach disks, wherever they are written."""

from __future__ import annotations

import pytest

from tests.linter.asking import Json, fires, pod, problems_of

CLAIM = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}}


def _spec(name: str = "gp3", *modes: str, **fields: str) -> Json:
    return {"storageClassName": name, "accessModes": list(modes or ("ReadWriteMany",)), **fields}


def _class(provisioner: str, name: str = "gp3") -> Json:
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
    return {**kind, "metadata": {"name": name}, "provisioner": provisioner}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (_spec(), True),
        (_spec("ebs-sc"), True),
        (_spec("premium-rwo"), True),
        (_spec("managed-csi"), True),
        (_spec("gp3", "ReadWriteOnce"), False),
        (_spec(volumeMode="Block"), False),
        (_spec("efs-sc"), False),
        (_spec("standard-rwx"), False),
        (_spec("fast"), False),
        ({"accessModes": ["ReadWriteMany"]}, False),  # the cluster's default class
    ],
)
def test_a_class_s_name_tells_block_storage(spec: Json, expected: bool) -> None:
    problems = problems_of("block-storage-shared", {**CLAIM, "spec": spec})
    assert [problem.severity for problem in problems] == ["warning"] * expected


@pytest.mark.parametrize(
    ("provisioner", "expected"),
    [
        ("ebs.csi.aws.com", True),
        ("ebs.csi.eks.amazonaws.com", True),
        ("pd.csi.storage.gke.io", True),
        ("rook-ceph.rbd.csi.ceph.com", True),
        ("rook-ceph.cephfs.csi.ceph.com", False),
        ("efs.csi.aws.com", False),
        ("fsx.csi.aws.com", False),
        ("driver.longhorn.io", False),
    ],
)
def test_classes_of_the_stream_decide_about_block_storage(provisioner: str, expected: bool) -> None:
    problems = problems_of("block-storage-shared", {**CLAIM, "spec": _spec()}, _class(provisioner))
    assert [problem.severity for problem in problems] == ["error"] * expected


def test_claims_inside_other_objects_are_judged() -> None:
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": _spec()}}}
    assert fires("block-storage-shared", pod(volumes=[volume], containers=[{"name": "a"}]))
    volcano = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "t"}}
    assert fires(
        "block-storage-shared", {**volcano, "spec": {"volumes": [{"volumeClaim": _spec()}]}}
    )
