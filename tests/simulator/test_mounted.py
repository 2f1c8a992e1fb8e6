"""Files that a container sees from ConfigMaps and Secrets."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.simulator.mounted import MountedFile, mounted_path

SCRIPTS = {
    "kind": "ConfigMap",
    "metadata": {"name": "scripts"},
    "data": {"run.sh": "torchrun", "other": "x"},
}
TOKEN = {"kind": "Secret", "metadata": {"name": "token"}, "stringData": {"token": "s3cret"}}
OBJECTS = {("ConfigMap", "scripts"): SCRIPTS, ("Secret", "token"): TOKEN}
ITEM = {"key": "run.sh", "path": "bin/start", "mode": 0o755}


def file_at(
    path: str, source: dict[str, Any], **mount: Any
) -> tuple[MountedFile | None, int] | None:
    volume = {"name": "files", **source}
    container = {"volumeMounts": [{"name": "files", "mountPath": "/scripts/", **mount}]}
    mounted = mounted_path({"volumes": [volume]}, container, path)
    return (
        None
        if mounted is None
        else (mounted.file(lambda kind, name: OBJECTS.get((kind, name))), mounted.mode)
    )


@pytest.mark.parametrize(
    ("path", "source", "mount"),
    [
        ("/scripts/run.sh", {"configMap": {"name": "scripts"}}, {}),
        ("/scripts/bin/start", {"configMap": {"name": "scripts", "items": [ITEM]}}, {}),
        ("/scripts/run.sh", {"projected": {"sources": [{"configMap": {"name": "scripts"}}]}}, {}),
        (
            "/start.sh",
            {"configMap": {"name": "scripts"}},
            {"mountPath": "/start.sh", "subPath": "run.sh"},
        ),
        ("/scripts/start", {"configMap": {"name": "scripts", "items": [ITEM]}}, {"subPath": "bin"}),
    ],
)
def test_a_file_of_a_configmap_is_found_by_its_path(
    path: str, source: dict[str, Any], mount: dict[str, Any]
) -> None:
    mounted = file_at(path, source, **mount)
    assert mounted is not None
    assert mounted[0] == MountedFile(SCRIPTS, "run.sh")
    assert mounted[0].text == "torchrun"
    assert mounted[1] == (0o755 if "items" in str(source) else 0o644)


def test_paths_that_no_object_has_are_not_found() -> None:
    assert file_at("/scripts/missing", {"configMap": {"name": "scripts"}}) == (None, 0o644)
    assert file_at(
        "/scripts/run.sh", {"configMap": {"name": "elsewhere", "defaultMode": 0o500}}
    ) == (None, 0o500)
    assert file_at("/scripts/run.sh", {"projected": {"sources": [{"downwardAPI": {}}]}}) == (
        None,
        0o644,
    )
    assert file_at("/scripts/run.sh", {"emptyDir": {}}) is None
    assert file_at("/scripts-2/run.sh", {"configMap": {"name": "scripts"}}) is None


def test_the_text_of_a_secret_is_never_read() -> None:
    mounted = file_at("/scripts/token", {"secret": {"secretName": "token"}})
    assert mounted is not None
    assert mounted[0] == MountedFile(TOKEN, "token")
    assert mounted[0].text is None
