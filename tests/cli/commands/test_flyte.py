"""`ptcompile flyte`: manifests of a task in a user's file, findings at their lines, and the exit status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.running import here, process
from tests.flyte.making import forgetting

Capture = pytest.CaptureFixture[str]

HELLO = """
print("imported")
from ptcompile import flyte

@flyte.task(
    task_config=flyte.Elastic(nnodes=2, nproc_per_node=8),
    limits=flyte.Resources(cpu=8, mem="32Gi", gpu=8),
    container_image="{{.image.trainer}}",
)
def train(epochs: int, name: str = "x") -> float:
    return 0.5

@flyte.task(task_config=flyte.Elastic(nproc_per_node=8), limits=flyte.Resources(gpu=4))
def bare(): ...

def plain(): ...

@flyte.task(task_config=flyte.Elastic(), container_image="a/b:1")
def configured(config: dict[str, float], name: str = "x"): ...
"""


@pytest.fixture(autouse=True)
def _forget(tmp_path: Path) -> Iterator[None]:
    with forgetting(tmp_path):
        yield


@pytest.fixture
def hello(tmp_path: Path) -> Path:
    file = tmp_path / "hello_task.py"
    file.write_text(HELLO, encoding="utf-8")
    return file


IMAGE = ("--image", "trainer=acme/train:1")


def test_the_manifests_call_the_function_with_its_inputs(hello: Path, capsys: Capture) -> None:
    ran = here(capsys, "flyte", f"{hello}:train", "--input", "epochs=7", *IMAGE, "--namespace", "lab", "--name", "big")
    assert ran.status == 0
    (made,) = yaml.safe_load_all(ran.out)
    assert made["metadata"] == {"name": "big", "namespace": "lab"}
    container = made["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    assert container["image"] == "acme/train:1"
    assert container["command"][-2:] == ["-m", "ptcompile.flyte.run"]
    assert container["args"] == ["hello_task:train", "--input", "epochs=7"]
    assert ran.err.startswith("imported\n")
    assert "0 errors, 1 warning, " in ran.err
    assert (
        "note[PTC672 image-contents]: container_image: the image needs torch, ptcompile and the module hello_task"
        in ran.err
    )


def test_other_forms_of_the_same(hello: Path, tmp_path: Path, capsys: Capture) -> None:
    words = ("flyte", f"{hello}:train", "--input", "epochs=7", *IMAGE)
    ran = here(capsys, *words, "--target", "jobset", "--module", "acme.train", "--embed", "--format", "json")
    kinds = {one["kind"]: one for one in json.loads(ran.out)["items"]}
    assert [*kinds] == ["ConfigMap", "JobSet"]
    assert kinds["ConfigMap"]["metadata"]["name"] == "train-runner"
    assert "acme.train:train" in ran.out
    assert here(capsys, *words, "-o", tmp_path / "out.yaml").out == ""
    assert (tmp_path / "out.yaml").read_text("utf-8") == here(capsys, *words).out


@pytest.mark.parametrize(
    ("file", "text", "status", "said"),
    [
        ("config.json", '{"lr": 0.1}', 0, 'config={"lr": 0.1}'),
        ("config.yaml", "lr: 0.1\n", 0, 'config={"lr": 0.1}'),
        ("config.yml", "lr: fast\n", 1, "inputs.config: ['lr'] is not a float"),
        ("config.json", "lr: 0.1", 1, "inputs.config: is not JSON"),
        ("config.yaml", "a: [", 2, "must be a single YAML document with a mapping"),
        ("missing.yaml", None, 2, "no such file or directory"),
    ],
)
def test_an_input_may_be_a_file(
    file: str, text: str | None, status: int, said: str, hello: Path, tmp_path: Path, capsys: Capture
) -> None:
    if text is not None:
        (tmp_path / file).write_text(text, encoding="utf-8")
    words = ("--input", f"config={tmp_path / file}", "--input", "name=x.json")
    ran = here(capsys, "flyte", f"{hello}:configured", *words)
    assert ran.status == status
    made = yaml.safe_load(ran.out)["spec"]["containers"][0]["args"] if status == 0 else [ran.err]
    assert any(said in one for one in made)


def test_a_missing_input_is_reported_at_its_parameter(hello: Path, capsys: Capture) -> None:
    ran = here(capsys, "flyte", f"{hello}:train", *IMAGE, "--output-format", "json")
    assert (ran.status, ran.out) == (1, "")
    report = ran.err.removeprefix("imported\n").rpartition("ptcompile: ")[0]
    found = {".".join(map(str, one["path"])): one for one in json.loads(report)["diagnostics"]}
    assert {one["filename"] for one in found.values()} == {str(hello)}
    assert found["inputs.epochs"]["message"] == "inputs.epochs: is missing, an int"
    assert found["inputs.epochs"]["span"] == {"line": 10, "column": 11, "end_line": 10, "end_column": 22}
    assert found["outputs"]["span"]["column"] == 44


def test_a_rejected_value_is_reported_at_the_decorator(hello: Path, capsys: Capture) -> None:
    ran = here(capsys, "flyte", f"{hello}:bare", "--output-format", "concise")
    assert ran.status == 1
    assert f"{hello}:13:2: error PTC022 spec-missing-field: container_image: is missing" in ran.err
    assert "PTC672" not in ran.err  # there is no job yet, so no image of its own
    with_image = here(capsys, "flyte", f"{hello}:bare", "--image", "a/b:1", "--output-format", "concise")
    assert f"{hello}:13:54: error PTC103" in with_image.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere.py:train",), "ptcompile: no such file: nowhere.py\n"),
        (("{hello}",), "does not name a task: write FILE.py:TASK or MODULE:TASK\n"),
        (("{hello}:nothing",), "has no 'nothing'\n"),
        (("{hello}:plain",), "hello_task.py:plain: function is not a flytekit task\n"),
        (("{hello}:train", "--input", "epochs"), "--input epochs: write NAME=VALUE\n"),
        (("{hello}:train", "--target", "slurm"), "no target 'slurm'"),
    ],
)
def test_an_impossible_request_has_status_2(words: tuple[str, ...], said: str, hello: Path, capsys: Capture) -> None:
    ran = here(capsys, "flyte", *(word.format(hello=hello) for word in words))
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err


WORKFLOW = """
from flytekit import task, workflow
from flytekitplugins.kfpytorch import Elastic

@task(task_config=Elastic(nnodes=2), container_image="a/b:1")
def train(data: str, epochs: int = 1) -> None: ...

@task
def prepare() -> str:
    return "s3://b"

@workflow
def whole(epochs: int):
    train(data=prepare(), epochs=epochs)

@workflow
def broken():
    train(epochs=whole)
"""


def test_a_workflow_of_flytekit(tmp_path: Path) -> None:
    pytest.importorskip("flytekit")
    pytest.importorskip("flytekitplugins.kfpytorch")
    pytest.importorskip("torch")
    file = tmp_path / "whole_flow.py"
    file.write_text(WORKFLOW, encoding="utf-8")
    words = ("flyte", f"{file}:whole", "--input", "epochs=3", "--output-format", "concise")
    missing = process(*words)
    assert (missing.status, missing.out) == (1, "")
    assert f"{file}:6:11: error PTC022 spec-missing-field: inputs.data: needs a value" in missing.err
    assert f"{file}:12:2: warning PTC601 not-carried-over: n0: prepare is a task without" in missing.err
    ran = process(*words, "--input", "train.data=s3://b")
    assert ran.status == 0
    container = yaml.safe_load(ran.out)["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    assert container["args"] == ["whole_flow:train", "--input", "data=s3://b", "--input", "epochs=3"]
    broken = process("flyte", f"{file}:broken")
    assert (broken.status, broken.out) == (2, "")
    assert f"ptcompile: {file}:broken cannot be compiled by flytekit (line 18): " in broken.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import no_such_module_at_all\n", "(line 1): ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("\nraise ValueError('no data')\n", "(line 2): ValueError: no data"),
        ("import sys\nsys.exit(3)\n", "(line 2): SystemExit: 3"),
        ("def (\n", "SyntaxError: "),
    ],
)
def test_a_file_that_cannot_be_imported_is_one_line(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "broken_task.py"
    file.write_text(text, encoding="utf-8")
    ran = process("flyte", f"{file}:train")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"ptcompile: {file} cannot be imported")
    assert why in ran.err
    assert len(ran.err.splitlines()) == 1
