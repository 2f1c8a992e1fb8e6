"""The way of a Slurm user, from the batch script to a rehearsal with a kill, with the files of docs/guide/slurm.md.

Without torch for this interpreter, the rehearsal itself is left out, and the steps before it run.
"""

from __future__ import annotations

import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import ptcompile
from ptcompile.cli import main

PAGE = (Path(__file__).parents[2] / "docs/guide/slurm.md").read_text(encoding="utf-8")
RETRIES = ["--set", "spec.runPolicy.backoffLimit=3"]


def page_file(name: str) -> str:
    """Return the text of a file of the page."""
    match = re.search(rf'title="{re.escape(name)}"\n(.*?)```', PAGE, re.DOTALL)
    assert match is not None, name
    return match[1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the files of the page, and with the spec of its script, to which an image is added."""
    for name in ("train.sbatch", "train.py", "cluster.yaml"):
        (tmp_path / name).write_text(page_file(name), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["import", "train.sbatch", "--set", "1=8b.yaml", "-o", "spec.yaml"]) == 0
    match = re.search(r"<<'END'\n(.*?)END\n", PAGE, re.DOTALL)
    assert match is not None
    with (tmp_path / "spec.yaml").open("a", encoding="utf-8") as file:
        file.write(match[1])
    return tmp_path


def test_the_spec_of_a_batch_script_is_that_of_the_page(folder: Path) -> None:
    spec = yaml.safe_load((folder / "spec.yaml").read_text(encoding="utf-8"))["spec"]
    assert (spec["script"], spec["nodes"]) == ("train.py", 2)
    assert spec["args"] == ["--config", "8b.yaml", "--ckpt-dir", "/ckpt"]
    assert spec["runPolicy"] == {"activeDeadlineSeconds": 86400, "onDisruption": "Ignore"}


def test_the_manifests_of_a_batch_script_meet(folder: Path) -> None:
    options = ["--cluster", "cluster.yaml", "--target", "jobset", *RETRIES]
    assert main(["spec.yaml", *options, "-o", "jobset.yaml"]) == 0
    world = ptcompile.simulate((folder / "jobset.yaml").read_text(encoding="utf-8"))
    limits = [pod.resources["limits"] for pod in world.pods]
    assert limits == [{"cpu": "96", "memory": "900Gi", "nvidia.com/gpu": "8"}] * 2


@pytest.mark.skipif(
    find_spec("torch") is None or shutil.which("unshare") is None, reason="torch and namespaces"
)
def test_a_killed_pod_resumes_from_its_checkpoint(folder: Path) -> None:
    (folder / "ckpt").mkdir()
    options = [
        "--cluster",
        "cluster.yaml",
        "--target",
        "jobset",
        *RETRIES,
        "--mount",
        "llama-ckpt=ckpt",
    ]
    run = [
        "--kill",
        "1@5s,back=5s",
        "--script",
        "train.py",
        "--keep-logs",
        "logs",
        "--python",
        sys.executable,
    ]
    assert main(["rehearse", "spec.yaml", *options, *run]) == 0

    assert (folder / "ckpt/step").read_text(encoding="utf-8") == "40"
    log = (folder / "logs/pod0.log").read_text(encoding="utf-8")
    starts = [int(step) for step in re.findall(r"starts at step (\d+)", log)]
    assert min(starts) == 0
    assert max(starts) > 0
