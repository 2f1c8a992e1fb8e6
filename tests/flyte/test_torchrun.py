"""Training by Flyte tasks: the pods of their manifests run as real torchrun processes on this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import ptcompile
from ptcompile import flyte

pytest.importorskip("torch")
pytest.importorskip("flytekit")
pytest.importorskip("flytekitplugins.kfpytorch")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(shutil.which("torchrun") is None, reason="torchrun is not on PATH"),
]

ROOT = Path(__file__).parents[2]
MOUNT = "/etc/ptcompile"


def tasks() -> Any:
    from tests.flyte import flyte_tasks

    return flyte_tasks


class Run:
    """A job whose pods run as processes, with their exit codes and what each call of the function received."""

    def __init__(self, result: ptcompile.Result, folder: Path, cwd: Path = ROOT) -> None:
        assert result.ok, result.diagnostics
        self.cwd = cwd
        self.mounted = folder / "mounted"
        for manifest in result.manifests:
            for name, text in manifest.get("data", {}).items():
                self.mounted.mkdir(exist_ok=True)
                (self.mounted / name).write_text(text)
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = str(free.getsockname()[1])
        pods = ptcompile.simulate(result.yaml()).pods
        processes = [
            self.start([*(pod.command or ()), *(pod.args or ())], dict(pod.env)) for pod in pods
        ]
        self.output = [process.communicate(timeout=300)[0] for process in processes]
        self.statuses = [process.returncode for process in processes]
        lines = [
            line
            for file in sorted(folder.glob("*.jsonl"))
            for line in file.read_text().splitlines()
        ]
        self.seen = [json.loads(line) for line in lines]

    def start(self, words: Sequence[str], env: dict[str, str]) -> subprocess.Popen[str]:
        """Start a container's process. All pods run on this machine, so it is also the first pod's host."""
        here = [word.replace(MOUNT, str(self.mounted)) for word in words]
        for i, word in enumerate(here):
            if word.startswith("--rdzv-endpoint="):
                here[i] = f"--rdzv-endpoint=127.0.0.1:{self.port}"
        if "MASTER_ADDR" in env:
            env |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": self.port}
        inherited = {
            name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")
        }
        environment = {**inherited, **env, "SEEN": str(self.folder)}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            here, cwd=self.cwd, env=environment, stdout=pipe, stderr=subprocess.STDOUT, text=True
        )


@pytest.mark.parametrize("target", ["pytorchjob", "volcano"])
def test_two_nodes_with_two_processes_form_a_world_of_four(target: str, tmp_path: Path) -> None:
    task = flyte.from_task(tasks().train, target=target)
    given = {
        "epochs": 7,
        "optim": tasks().Optim(0.1, [0.9]),
        "tags": ["a b", "$HOME", "$(PATH)", "$$", "'\""],
    }
    done = Run(task.compile(inputs=given), tmp_path)
    assert done.statuses == [0, 0], done.output
    expected = {"epochs": 7, "optim": [0.1, [0.9]], "tags": given["tags"], "fast": False}
    assert done.seen == [{"rank": rank, "world": 4, "counted": 4, **expected} for rank in range(4)]


@pytest.mark.parametrize("embed", [False, True])
def test_one_node_forms_a_world(embed: bool, tmp_path: Path) -> None:
    done = Run(flyte.from_task(tasks().alone, embed=embed).compile(), tmp_path)
    assert done.statuses == [0], done.output
    assert done.seen == [{"rank": rank, "world": 2, "counted": 2, "epochs": 3} for rank in (0, 1)]


def test_a_master_and_its_worker_meet_without_torchrun(tmp_path: Path) -> None:
    done = Run(flyte.from_task(tasks().plain).compile(inputs={"name": "a"}), tmp_path)
    assert done.statuses == [0, 0], done.output
    assert done.seen == [{"rank": rank, "world": 2, "counted": 2, "name": "a"} for rank in (0, 1)]


def test_the_legacy_task_runs_on_all_ranks(tmp_path: Path) -> None:
    done = Run(tasks().legacy.compile(inputs={"int_list": [1, 2]}), tmp_path)
    assert done.statuses == [0, 0, 0], done.output
    expected = {"world": 3, "counted": 3, "int_list": [1, 2], "result": 3}
    assert done.seen == [{"rank": rank, **expected} for rank in range(3)]


def test_a_function_that_raises_fails_the_job(tmp_path: Path) -> None:
    done = Run(flyte.from_task(tasks().fails).compile(inputs={"why": "the data is gone"}), tmp_path)
    assert done.statuses == [1, 1]
    for output in done.output:
        root_cause = output.partition("Root Cause")[2]
        assert "RuntimeError: the data is gone" in root_cause


def test_an_input_that_only_the_pod_rejects_fails_the_job(tmp_path: Path) -> None:
    result = flyte.from_task(tasks().alone).compile(inputs={"epochs": 1})
    result.manifests[0]["spec"]["containers"][0]["args"][-1] = "epochs=one"
    done = Run(result, tmp_path)
    assert (done.statuses, done.seen) == ([1], [])
    assert "input epochs: is not an int" in done.output[0]


def test_the_example_trains(tmp_path: Path) -> None:
    folder = ROOT / "examples" / "flyte"
    words = [
        "flyte",
        "train.py:digits",
        "--input",
        "epochs=4",
        "--image",
        "acme/digits:1",
        "--format",
        "json",
    ]
    made = subprocess.run(
        ["ptcompile", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    done = Run(ptcompile.Result((json.loads(made.stdout),), ()), tmp_path, folder)
    assert done.statuses == [0, 0], done.output
    losses = [
        float(one) for one in re.findall(r"of 4 on 4 ranks: loss ([0-9.]+)", "".join(done.output))
    ]
    assert len(losses) == 4
    assert losses == sorted(losses, reverse=True)
