"""Workflows and nodes of real flytekit: their jobs, with order, inputs and overrides."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import pytest

import ptcompile
from ptcompile import flyte

flytekit = pytest.importorskip("flytekit")
plugin = pytest.importorskip("flytekitplugins.kfpytorch")
pytest.importorskip("torch")  # flytekit requires torch for Elastic tasks
accelerators = pytest.importorskip("flytekit.extras.accelerators")
pytestmark = pytest.mark.filterwarnings("ignore")
warnings.simplefilter("ignore")

Elastic, PyTorch, Worker, Resources = (
    plugin.Elastic,
    plugin.PyTorch,
    plugin.Worker,
    flytekit.Resources,
)
IMAGE = "acme/train:1"


@dataclass
class Config:
    lr: float
    layers: list[int]


@flytekit.task(container_image=IMAGE)
def prepare(rows: int) -> str:
    return "s3://data"


@flytekit.task(
    task_config=Elastic(nnodes=2),
    container_image=IMAGE,
    requests=Resources(cpu="2", mem="4Gi"),
    limits=Resources(mem="8Gi"),
    retries=2,
)
def train(
    data: str,
    epochs: int,
    config: Config,
    tags: list[str],
    more: dict[str, int],
    lr: float = 0.1,
    k: int | None = None,
) -> str:
    return data


@flytekit.task(task_config=PyTorch(worker=Worker(replicas=1)), container_image=IMAGE)
def tune(model: str, trials: int) -> float:
    return 0.5


@flytekit.dynamic(container_image=IMAGE)
def plan(rows: int) -> str:
    return prepare(rows=rows)


@flytekit.workflow
def tuned(model: str, trials: int = 3) -> float:
    return tune(model=model, trials=trials)


@flytekit.workflow
def pipeline(epochs: int, team: str = "nlp") -> float:
    data = prepare(rows=1)
    plan(rows=2)
    model = train(
        data=data, epochs=epochs, config=Config(0.5, [1, 2]), tags=["a", team], more={"k": 1}
    )
    return tuned(model=model)


@flytekit.workflow
def overridden(data: str = "s3://d") -> str:
    call = train(data=data, epochs=1, config=Config(0.5, []), tags=[], more={})
    return call.with_overrides(
        name="Big_Train",
        requests=Resources(cpu="4"),
        limits=Resources(gpu="8"),
        retries=5,
        timeout=60,
        interruptible=True,
        container_image="acme/other:2",
        accelerator=accelerators.A100.partition_1g_5gb,
        shared_memory="2Gi",
    )


@flytekit.workflow
def twice(data: str = "s3://d") -> None:
    first = tune(model=data, trials=1)
    second = tune(model=data, trials=2)
    second >> first


@flytekit.workflow
def nothing() -> str:
    return prepare(rows=1)


@flytekit.workflow
def others(epochs: int = 1, models: list[str] = []) -> None:  # noqa: B006  flytekit keeps defaults as literals
    flytekit.map_task(score)(model=models)
    flytekit.conditional("big").if_(epochs > 5).then(tune(model="a", trials=1)).else_().then(
        tune(model="b", trials=1)
    )
    flytekit.LaunchPlan.get_or_create(tuned, "plan-of-tuned")(model="c")
    tune(model=prepare(rows=3), trials=epochs)


@flytekit.task(container_image=IMAGE)
def score(model: str) -> float:
    return 0.0


def args(made: dict[str, Any]) -> list[str]:
    """Return a job's inputs."""
    specs = made["spec"]["pytorchReplicaSpecs"]
    return [
        argument
        for argument in specs["Master"]["template"]["spec"]["containers"][0]["args"]
        if argument != "--input"
    ]


def messages_by_place(result: ptcompile.Result, severity: str) -> dict[str, str]:
    return {
        f"{(diagnostic.resource or '').rpartition('/')[2]}:{'.'.join(map(str, diagnostic.path))}": diagnostic.message
        for diagnostic in result.diagnostics
        if diagnostic.severity == severity and diagnostic.path != ("outputs",)
    }


def test_the_jobs_of_a_workflow_are_in_order() -> None:
    given = {"epochs": "9", "train.data": "s3://d", "tune.model": "s3://m"}
    result = flyte.from_workflow(pipeline, inputs=given).compile()
    assert [one["metadata"]["name"] for one in result.unwrap()] == ["train", "tune"]
    first, second = result.manifests
    assert args(first) == [
        f"{__name__}:train",
        "data=s3://d",
        "epochs=9",
        'config={"lr": 0.5, "layers": [1, 2]}',
        'tags=["a", "nlp"]',
        'more={"k": 1}',
        "lr=0.1",
        "k=null",
    ]
    assert args(second) == [f"{__name__}:tune", "model=s3://m", "trials=3"]


def test_other_tasks_are_named() -> None:
    messages = messages_by_place(
        flyte.from_workflow(pipeline, inputs={"epochs": 1}).compile(), "warning"
    )
    assert (
        messages[":n0"]
        == "n0: prepare is a task without PyTorch or Elastic, for which no manifest is written"
    )
    assert messages[":n1"] == "n1: plan is a dynamic task, for which no manifest is written"


def test_every_other_kind_of_node_is_named() -> None:
    result = flyte.from_workflow(others, inputs={"tune.model": "m"}).compile()
    assert [one["metadata"]["name"] for one in result.unwrap()] == ["tune"]
    rest = ", for which no manifest is written"
    assert {
        message.partition(" is ")[2].removesuffix(rest)
        for message in messages_by_place(result, "warning").values()
    } == {
        "a map task, one pod per item",
        "a conditional, decided when the workflow runs",
        "a launch plan, which is a workflow of its own",
        "a task without PyTorch or Elastic",
    }


def test_the_output_of_another_node_needs_a_value() -> None:
    messages = messages_by_place(flyte.from_workflow(pipeline).compile(), "error")
    assert messages == {
        "train:inputs.data": "inputs.data: needs a value: it is the output of node n0 (prepare)",
        "train:inputs.epochs": "inputs.epochs: needs a value: it is the workflow's input 'epochs'",
        "tune:inputs.model": "inputs.model: needs a value: it is the output of node n2 (train)",
    }


@pytest.mark.parametrize(
    ("inputs", "path", "message"),
    [
        ({"epoch": 1}, "epoch", "inputs.epoch: unknown input; the workflow has epochs, team"),
        ({"epochs": "x"}, "epochs", "inputs.epochs: is not an int"),
        ({"trian.data": "x"}, "trian.data", "no job has this name; the jobs are train, tune"),
    ],
)
def test_wrong_inputs_of_a_workflow_are_reported(
    inputs: dict[str, Any], path: str, message: str
) -> None:
    (problem,) = [
        problem
        for problem in flyte.from_workflow(pipeline, inputs=inputs).problems
        if problem.severity == "error"
    ]
    assert problem.path == ("inputs", path)
    assert problem.message.endswith(message)


def test_overrides_replace_fields_of_the_task() -> None:
    (task,) = flyte.from_workflow(overridden).tasks
    assert task.job_name == "big-train"
    spec = task.convert().document["spec"]
    assert spec["resources"] == {
        "cpu": 4,
        "gpu": 8,
        "requests": {"memory": "4Gi"},
        "limits": {"memory": "8Gi"},
    }
    assert spec["runPolicy"] == {
        "cleanPodPolicy": "None",
        "backoffLimit": 5,
        "activeDeadlineSeconds": 60,
    }
    assert spec["image"] == "acme/other:2"
    assert spec["spot"] is True
    assert spec["sharedMemory"] == "2Gi"
    assert spec["accelerator"] == "nvidia-tesla-a100/1g.5gb"
    assert flyte.from_task(train).convert().document["spec"]["image"] == IMAGE


def test_a_node_alone_is_compiled_with_its_inputs() -> None:
    node = pipeline.nodes[2]
    task = flyte.from_node(node)
    messages = messages_by_place(task.compile(), "error")
    assert [*messages] == ["train:inputs.data", "train:inputs.epochs", "train:inputs.tags"]
    result = task.compile("other", inputs={"data": "d", "epochs": 2, "tags": []})
    assert result.unwrap()[0]["metadata"]["name"] == "other"
    assert args(result.manifests[0])[1:5] == [
        "data=d",
        "epochs=2",
        'config={"lr": 0.5, "layers": [1, 2]}',
        "tags=[]",
    ]


def test_a_repeated_task_gives_two_jobs_in_dependency_order() -> None:
    result = flyte.from_workflow(twice).compile()
    assert [(one["metadata"]["name"], args(one)[-1]) for one in result.unwrap()] == [
        ("tune", "trials=2"),
        ("tune-2", "trials=1"),
    ]


def test_with_overrides_replaces_the_task_config() -> None:
    @flytekit.workflow
    def bigger() -> float:
        return tune(model="m", trials=1).with_overrides(
            task_config=PyTorch(worker=Worker(replicas=7))
        )

    (made,) = flyte.from_workflow(bigger).compile().unwrap()
    assert made["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 7
    tune._task_config = PyTorch(worker=Worker(replicas=1))  # with_overrides changed the task itself


def test_a_custom_script_takes_no_inputs() -> None:
    result = flyte.from_workflow(twice, script="train.py").compile()
    container = result.unwrap()[0]["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"][
        "containers"
    ][0]
    assert container["command"] == ["python", "train.py"]


def test_other_objects_are_rejected() -> None:
    assert messages_by_place(flyte.from_workflow(nothing).compile(), "error") == {
        ":workflow": f"workflow: {__name__}.nothing has no PyTorch task"
    }
    with pytest.raises(TypeError, match="is not a flytekit workflow"):
        flyte.from_workflow(train)
    with pytest.raises(TypeError, match="is not a flytekit node"):
        flyte.from_node(train)
    with pytest.raises(TypeError, match="plan is a dynamic task"):
        flyte.from_task(plan)
    with pytest.raises(TypeError, match="is not a flytekit task"):
        flyte.from_task(pipeline)
