"""The files that tools of the MCP server read: YAML and JSON below the given folders, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ptcompile.mcp.inputs import CallError, read
from tests.mcp.calls import MANIFEST, call


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with a manifest, beside a folder of the same beginning with a secret."""
    folder = tmp_path / "repo"
    (folder / "jobs").mkdir(parents=True)
    (folder / "jobs" / "job.yaml").write_text(MANIFEST, encoding="utf-8")
    (folder / ".env").write_text("TOKEN=x", encoding="utf-8")
    (tmp_path / "repo-private").mkdir()
    (tmp_path / "repo-private" / "secret.yaml").write_text("token: x", encoding="utf-8")
    return folder


def test_a_path_is_relative_to_the_folders_or_absolute(root: Path) -> None:
    for path in ("jobs/job.yaml", "./jobs/../jobs/job.yaml", str(root / "jobs" / "job.yaml")):
        assert read(path, [str(root)]).content == MANIFEST.encode()
    assert read("job.yaml", [str(root), str(root / "jobs")]).content == MANIFEST.encode()


def test_findings_name_the_file_as_the_call_does(root: Path) -> None:
    (finding,) = call("lint", {"path": "jobs/job.yaml"}, [root])["diagnostics"]
    assert finding["filename"] == "jobs/job.yaml"


@pytest.mark.parametrize(
    "path",
    [
        "../repo-private/secret.yaml",
        "jobs/../../repo-private/secret.yaml",
        "{parent}/repo-private/secret.yaml",
        "../repo-private/missing.yaml",
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/stdin",
        "~/.kube/config.yaml",
        "link.yaml",
        "linked/secret.yaml",
        "hidden.yaml",
        "loop.yaml",
        "pipe.yaml",
        "jobs",
        ".env",
        "",
        ".",
        "-",
        "jobs/job.yaml\0",
        "jobs/\ud800.yaml",
        "a/" * 3000 + "b.yaml",
        "x" * 100_000 + ".yaml",
        "jobs/*.yaml",
    ],
)
def test_other_paths_are_not_read(root: Path, path: str) -> None:
    (root / "link.yaml").symlink_to(root.parent / "repo-private" / "secret.yaml")
    (root / "linked").symlink_to(root.parent / "repo-private")
    (root / "hidden.yaml").symlink_to(root / ".env")
    (root / "loop.yaml").symlink_to(root / "loop.yaml")
    os.mkfifo(root / "pipe.yaml")
    with pytest.raises(CallError) as raised:
        read(path.replace("{parent}", str(root.parent)), [str(root)])
    assert len(str(raised.value)) < 1000


def test_a_message_does_not_tell_what_exists_outside(root: Path) -> None:
    messages = []
    for name in ("secret.yaml", "missing.yaml"):
        with pytest.raises(CallError) as raised:
            read(f"../repo-private/{name}", [str(root)])
        messages.append(str(raised.value).replace(name, "NAME"))
    assert (
        messages[0]
        == messages[1]
        == f"../repo-private/NAME: not in {root}, the folders that this server may read"
    )


def test_a_link_inside_the_folders_is_followed(root: Path) -> None:
    (root / "current.yaml").symlink_to(root / "jobs" / "job.yaml")
    assert read("current.yaml", [str(root)]).content == MANIFEST.encode()
