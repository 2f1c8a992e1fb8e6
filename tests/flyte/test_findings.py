"""Locations of findings about a task: the decorator's keyword, the parameter or the return type.

Also notes about effects of ranges, spot nodes, retries and restart policies that the task does not mention.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ptcompile import flyte
from ptcompile.diagnostics import Path as Keys
from ptcompile.flyte.findings import call_span, checkpoint_warnings, file_of, in_flyte_terms
from tests.flyte.making import OURS as F, roles


@flyte.task(
    task_config=flyte.Elastic(nnodes=2, rdzv_configs={"timeout": 5}),
    secret_requests=[flyte.Secret(group="a"), flyte.Secret(group="ü", key="k")],
    environment={"ü": "1", "A": "2"},
)
def train(epochs: int, *, lr: float = 0.1) -> float:
    return lr * epochs


def bare(n: int) -> None: ...


TEXT = Path(__file__).read_text("utf-8")


@pytest.mark.parametrize(
    ("function", "path", "message"),
    [
        (train, ("task_config", "nnodes"), "2"),
        (train, ("task_config", "rdzv_configs", "timeout"), "5"),
        (train, ("task_config", "worker"), 'flyte.Elastic(nnodes=2, rdzv_configs={"timeout": 5})'),
        (train, ("secret_requests", 1, "key"), '"k"'),
        (train, ("environment", "A"), '"2"'),
        (train, ("inputs", "lr"), "lr: float"),
        (train, ("outputs",), "float"),
        (train, ("container_image",), "flyte.task("),
        (bare, ("container_image",), "def bare(n: int) -> None: ..."),
        (bare, ("outputs",), "None"),
    ],
)
def test_the_nearest_expression_is_found(function: Any, path: Keys, message: str) -> None:
    function = getattr(function, "function", function)
    assert file_of(function) == __file__
    at = call_span(function, TEXT, path)
    assert at is not None
    assert at.line == at.end_line
    assert TEXT.split("\n")[at.line - 1][at.column - 1 : at.end_column - 1] == message


def test_builtin_functions_have_no_location() -> None:
    assert file_of(len) is None
    assert call_span(len, TEXT, ("inputs", "x")) is None


SPOT = {
    "apiVersion": "ptcompile/v1",
    "kind": "ClusterProfile",
    "spec": {"spot": {"nodeLabels": {"spot": "true"}}},
}


def compiled(config: Any, **knobs: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the PyTorchJob and its notes by path."""
    task = flyte.task(
        compiled, task_config=config, container_image="acme/t:1", script="t.py", **knobs
    )
    result = task.compile("job", cluster=SPOT)
    notes = [diagnostic for diagnostic in result.diagnostics if diagnostic.name == "unlike-flyte"]
    assert {note.severity for note in notes} <= {"note"}
    return dict(result.unwrap()[0]), {".".join(map(str, note.path)): note.message for note in notes}


LIMIT, RESTARTS = "task_config.run_policy.backoff_limit", "task_config"
FAILURE = F.RestartPolicy.FAILURE


@pytest.mark.parametrize(
    ("config", "knobs", "paths", "why"),
    [
        (F.Elastic(nnodes="2:4"), {}, {LIMIT, RESTARTS}, "nnodes 2:4 lets pods come and go"),
        (
            F.PyTorch(worker=F.Worker(replicas=1)),
            {"interruptible": True},
            {LIMIT, RESTARTS},
            "interruptible pods are lost and restarted",
        ),
        (
            F.PyTorch(worker=F.Worker(replicas=1)),
            {"retries": 2},
            {RESTARTS},
            "retries and backoff_limit count only",
        ),
        (
            F.PyTorch(worker=F.Worker(replicas=1), run_policy=F.RunPolicy(backoff_limit=1)),
            {},
            {RESTARTS},
            "retries and backoff_limit",
        ),
        (
            F.PyTorch(worker=F.Worker(replicas=1, restart_policy=FAILURE)),
            {},
            {LIMIT, RESTARTS},  # the master, without a policy, restarts too
            "a restart policy other than Never restarts pods",
        ),
        (
            F.PyTorch(
                master=F.Master(restart_policy=FAILURE),
                worker=F.Worker(replicas=1, restart_policy=FAILURE),
            ),
            {"retries": 1},
            set(),
            "",
        ),
    ],
)
def test_each_policy_missing_from_the_task_gets_a_note(
    config: Any, knobs: dict[str, Any], paths: set[str], why: str
) -> None:
    made, notes = compiled(config, **knobs)
    assert "OnFailure" in {role["restartPolicy"] for role in roles(made).values()}
    assert set(notes) - {"retries"} == paths
    assert ("retries" in notes) == ("retries" in knobs)
    notes.pop("retries", None)
    assert all(why in message for message in notes.values())


def test_policies_that_flyte_writes_too_get_no_note() -> None:
    for config in (F.PyTorch(worker=F.Worker(replicas=1)), F.Elastic()):
        assert compiled(config)[1] == {}


def test_fixed_nodes_have_another_shape_than_flyte_s() -> None:
    (note,) = compiled(F.Elastic(nnodes=2))[1].items()
    assert note == (
        "task_config.nnodes",
        "task_config.nnodes: the job has a Master and Workers, with pods job-master-0 and job-worker-0, and torchrun's "
        "options on its command line; Flyte writes Workers only, and an elasticPolicy",
    )


@pytest.mark.parametrize(
    ("device", "end"),
    [
        ("A100", "by default k8s.amazonaws.com/accelerator"),
        (
            "A100/1g.5gb",
            "and nvidia.com/gpu with k8s.amazonaws.com/gpu-partition-size: 1g.5gb instead of nvidia.com/mig-1g.5gb",
        ),
    ],
)
def test_nodes_without_a_platform_are_selected_by_nvidia_s_label(device: str, end: str) -> None:
    task = flyte.task(bare, container_image="i:1", accelerator=device, requests=F.Resources(gpu=1))
    notes = [
        item
        for item in task.compile("train", inputs={"n": 1}).diagnostics
        if item.path == ("accelerator",)
    ]
    assert [item.name for item in notes] == ["unlike-flyte"]
    assert notes[0].message.endswith(end)


def test_retries_are_reported_at_the_task_s_keyword() -> None:
    task = flyte.task(bare, container_image="i:1", retries=2)
    result = task.compile("train", inputs={"n": 1}, target="pod")
    assert [item.path for item in result.diagnostics if item.severity == "error"] == [("retries",)]


def test_helps_name_flyte_s_parameters() -> None:
    text = "set spec.elastic.maxRestarts, or runPolicy.backoffLimit, resources.requests.memory or sharedMemory; spec.x"
    assert in_flyte_terms(text, ((("spec", "runPolicy", "backoffLimit"), ("retries",)),)) == (
        "set task_config.max_restarts, or retries, requests.mem or shared_memory; spec.x"
    )
    assert (
        in_flyte_terms("write nprocPerNode: 4 (maxRestarts 0)")
        == "write nproc_per_node=4 (max_restarts 0)"
    )


flyte_module: Any = None


def current_context() -> Any:
    """Stand in for flytekit's function."""


def uses_checkpoint() -> None:
    context = current_context()
    print(context.checkpoint)


def uses_checkpoint_at_once() -> None:
    flyte_module.current_context().checkpoint.write(b"1")


def has_a_checkpoint_of_its_own(model: Any) -> None:
    print(model.checkpoint, current_context().execution_id)


def test_a_use_of_flyte_s_checkpoint_is_a_warning_at_its_line() -> None:
    text = Path(__file__).read_text("utf-8")
    for function in (uses_checkpoint, uses_checkpoint_at_once):
        (warning,) = checkpoint_warnings(function)
        assert (warning.name, warning.severity) == ("not-carried-over", "warning")
        span = call_span(function, text, warning.path)
        assert span is not None
        assert ".checkpoint" in text.split("\n")[span.line - 1]
    assert checkpoint_warnings(has_a_checkpoint_of_its_own) == checkpoint_warnings(len) == []


def test_interruptible_without_a_platform_is_a_warning() -> None:
    """Without configuration, Flyte runs such a task on any node."""
    task = flyte.task(
        bare, task_config=F.Elastic(nnodes=1), container_image="i:1", interruptible=True
    )
    result = task.compile("train", inputs={"n": 1})
    assert result.ok
    (warning,) = [item for item in result.diagnostics if item.path == ("interruptible",)]
    assert (warning.name, warning.severity) == ("spec-invalid-value", "warning")
    assert warning.message == (
        "interruptible: the profile 'default' defines no spot nodes, so interruptible=True has no effect"
    )
    assert "interruptible-tolerations" in (warning.help or "")
