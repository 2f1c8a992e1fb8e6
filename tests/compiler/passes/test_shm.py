"""The pass `shm`: a memory volume at /dev/shm of the training container; the user's own volume is unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.passes.shm import shm
from tests import making

MOUNT = {"name": "shm", "mountPath": "/dev/shm"}  # noqa: S108
OWN = {"name": "mine", "mountPath": "/dev/shm"}  # noqa: S108
CACHE = {"name": "cache", "mountPath": "/dev/shmem"}  # noqa: S108


def run(size: bool | str, **fields: Any) -> tuple[list[Any], list[Any]]:
    before = making.job(making.template(**fields), shared_memory=size)
    after = shm(before, making.context())
    assert shm(after, making.context()) == after
    template = after.roles[0].template
    return list(template.main.mounts), list(template.volumes)


@pytest.mark.parametrize(
    ("size", "volume"),
    [
        # docs/facts/flyte.md#where-ptcompile-differs: sizeLimit is omitted if unset, not "0"
        (True, {"medium": "Memory"}),
        ("8Gi", {"medium": "Memory", "sizeLimit": "8Gi"}),
        ("0", {"medium": "Memory", "sizeLimit": "0"}),
    ],
)
def test_the_volume_is_an_empty_dir_in_memory(size: bool | str, volume: dict[str, str]) -> None:
    assert run(size) == ([MOUNT], [{"name": "shm", "emptyDir": volume}])


def test_false_adds_nothing() -> None:
    assert run(False) == ([], [])


@pytest.mark.parametrize("path", ["/dev/shm", "/dev/shm/"])  # noqa: S108
@pytest.mark.parametrize("size", [True, "8Gi"])
def test_the_user_s_volume_is_unchanged(path: str, size: bool | str) -> None:
    """Source: docs/facts/flyte.md#cases 15."""
    own = {**OWN, "mountPath": path}
    volumes = ({"name": "mine", "emptyDir": {}},)
    assert run(size, main={"mounts": (own,)}, volumes=volumes) == ([own], [*volumes])


def test_other_mounts_come_first() -> None:
    mounts, volumes = run(
        True, main={"mounts": (CACHE,)}, volumes=({"name": "cache", "emptyDir": {}},)
    )
    assert mounts == [CACHE, MOUNT]
    assert [volume["name"] for volume in volumes] == ["cache", "shm"]


@pytest.mark.parametrize(
    ("taken", "name"), [(["shm"], "shm-2"), (["shm", "shm-2"], "shm-3"), (["shm-2"], "shm")]
)
def test_a_name_that_is_taken_is_not_used_twice(taken: list[str], name: str) -> None:
    mounts, volumes = run(True, volumes=tuple({"name": one, "emptyDir": {}} for one in taken))
    assert mounts == [{"name": name, "mountPath": "/dev/shm"}]  # noqa: S108
    assert [volume["name"] for volume in volumes] == [*taken, name]


def test_only_the_training_container_gets_the_mount() -> None:
    """The volume belongs to the training container, not to the first one: docs/facts/flyte.md#defects 15."""
    sidecar = {"name": "log", "image": "log:1"}
    after = shm(making.job(making.template(sidecars=(sidecar,))), making.context())
    assert after.roles[0].template.sidecars == (sidecar,)


def test_every_role_gets_one() -> None:
    after = shm(making.job(making.template(), making.template()), making.context())
    assert [role.template.main.mounts for role in after.roles] == [(MOUNT,), (MOUNT,)]


@pytest.mark.parametrize("path", [1, None, True, ["/dev/shm"]])  # noqa: S108
def test_a_mount_path_of_a_wrong_type_is_no_path(path: object) -> None:
    """Imported manifests may have one: the API server's checks report it later."""
    mounts, _ = run(True, main={"mounts": ({"name": "x", "mountPath": path},)})
    assert [mount["mountPath"] for mount in mounts] == [path, "/dev/shm"]  # noqa: S108


@pytest.mark.parametrize(
    ("nulls", "mounts"),
    [
        ({"spec": {"volumes": ("spec", "volumes")}}, []),
        ({"spec": {"containers": {"pytorch": {"volumeMounts": ("spec", "volumeMounts")}}}}, []),
        ({"spec": {"containers": {"pytorch": {"args": ("spec", "args")}}}}, [MOUNT]),
    ],
)
def test_a_null_keeps_volumes_or_mounts_empty(nulls: Any, mounts: list[Any]) -> None:
    assert run(True, nulls=nulls)[0] == mounts
