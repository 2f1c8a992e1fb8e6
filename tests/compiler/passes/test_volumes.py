"""The pass `volumes`: the pod annotation that a CSI driver's webhook requires; the user's annotation is unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.passes.volumes import volumes
from tests import making

BUCKET = {"name": "data", "csi": {"driver": "gcsfuse.csi.storage.gke.io"}}
KEY = "gke-gcsfuse/volumes"


def run(*found: Any, **annotations: str) -> Any:
    before = making.job(making.template(volumes=found, annotations=annotations))
    after = volumes(before, making.context())
    assert volumes(after, making.context()) == after
    return after.roles[0].template.annotations


def test_a_bucket_gets_the_annotation() -> None:
    assert run(BUCKET) == {KEY: "true"}


@pytest.mark.parametrize(
    "volume", [{"csi": {"driver": "efs.csi.aws.com"}}, {"csi": None}, {"emptyDir": {}}]
)
def test_other_volumes_get_none(volume: dict[str, Any]) -> None:
    assert run({"name": "data", **volume}) == {}


def test_the_user_s_annotation_is_unchanged() -> None:
    assert run(BUCKET, **{KEY: "false"}) == {KEY: "false"}


def test_other_annotations_stay() -> None:
    assert run(BUCKET, other="x") == {KEY: "true", "other": "x"}
    assert run(BUCKET, **{KEY: "false", "other": "x"}) == {KEY: "false", "other": "x"}
    assert run(BUCKET, BUCKET) == {KEY: "true"}
    assert run(other="x") == {"other": "x"}


def test_a_template_that_has_the_annotation_is_the_same_object() -> None:
    template = making.template(volumes=(BUCKET,), annotations={KEY: "true", "other": "x"})
    job = making.job(template)
    assert volumes(job, making.context()).roles[0].template is template


def test_each_driver_has_its_annotation() -> None:
    template = making.template(
        volumes=(BUCKET, {"name": "x", "csi": {"driver": "other"}}), annotations={"a": "b"}
    )
    assert volumes(making.job(template), making.context()).roles[0].template.annotations == {
        KEY: "true",
        "a": "b",
    }
