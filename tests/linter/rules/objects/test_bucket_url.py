"""Buckets of Cloud Storage volumes, in pods and PersistentVolumes."""

from __future__ import annotations

import json

import pytest

import ptcompile
from tests.linter.asking import Json, pod, problems_of

DRIVER = "gcsfuse.csi.storage.gke.io"


def _pod(bucket: str, driver: str = DRIVER) -> Json:
    volume = {"name": "data", "csi": {"driver": driver, "volumeAttributes": {"bucketName": bucket}}}
    return pod(volumes=[volume])


def _volume(handle: str, driver: str = DRIVER) -> Json:
    spec = {"capacity": {"storage": "1Gi"}, "csi": {"driver": driver, "volumeHandle": handle}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "bucket"},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("gs://imagenet", "write imagenet"),
        ("gs://imagenet/", "write imagenet"),
        ("s3://imagenet", "write imagenet"),
        ("gs://", "write the bucket's name"),
        (
            "gs://imagenet/train/a",
            "write imagenet, and mount its folder with the mount option only-dir=train/a",
        ),
        (
            "imagenet/train",
            "write imagenet, and mount its folder with the mount option only-dir=train",
        ),
    ],
)
def test_urls_and_paths_in_bucket_names_are_errors(name: str, help: str) -> None:
    for manifest in (_pod(name), _volume(name)):
        (finding,) = problems_of("bucket-url", manifest)
        assert (finding.severity, finding.help) == ("error", help)


@pytest.mark.parametrize("name", ["imagenet", "_", "a.b_c-1", "imagenet:train", ""])
def test_names_are_no_urls(name: str) -> None:
    assert problems_of("bucket-url", _pod(name)) == problems_of("bucket-url", _volume(name)) == []


def test_other_drivers_accept_urls_and_paths() -> None:
    """Mountpoint for S3 is not known to refuse s3:// URIs."""
    assert problems_of("bucket-url", _pod("s3://b", "s3.csi.aws.com")) == []
    assert problems_of("bucket-url", _volume("fs-1:/a", "efs.csi.aws.com")) == []


@pytest.mark.parametrize(
    ("name", "is_fixed"), [("gs://imagenet", True), ("gs://imagenet/train", False)]
)
def test_the_fix_loses_nothing(name: str, is_fixed: bool) -> None:
    text = ptcompile.fix(json.dumps(_volume(name))).text
    assert ('"imagenet"' in text) is is_fixed
