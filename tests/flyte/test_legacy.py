"""A task with the legacy decorator, as documented: the snippet imports, compiles and runs as printed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ptcompile import flyte
from ptcompile.flyte import Types, inputs, outputs, pytorch_task, run
from tests.flyte.making import forgetting

PRINTED = """
from ptcompile.flyte import *

@inputs(int_list=[Types.Integer])
@outputs(result=Types.Integer)
@pytorch_task(
     workers_count=2,
     per_replica_cpu_request="500m",
     per_replica_memory_request="4Gi",
     per_replica_memory_limit="8Gi",
     per_replica_gpu_limit="1",
)
def my_pytorch_job(wf_params, int_list, result):
    pass
"""


@pytest.fixture(autouse=True)
def _forget(tmp_path: Path) -> Iterator[None]:
    with forgetting(tmp_path):
        yield


def test_the_snippet_compiles_as_printed(tmp_path: Path) -> None:
    (tmp_path / "document_000.py").write_text(PRINTED, encoding="utf-8")
    task = run.load_task(f"{tmp_path / 'document_000.py'}:my_pytorch_job")
    missing = task.compile(image="acme/mnist:1").diagnostics
    assert [one.message for one in missing if one.severity == "error"] == [
        "inputs.int_list: is missing, a list[int]"
    ]
    made = task.compile(image="acme/mnist:1", inputs={"int_list": [1, 2]}).unwrap()[0]
    roles = made["spec"]["pytorchReplicaSpecs"]
    assert {key: role["replicas"] for key, role in roles.items()} == {"Master": 1, "Worker": 2}
    container = roles["Worker"]["template"]["spec"]["containers"][0]
    assert container["args"] == ["document_000:my_pytorch_job", "--input", "int_list=[1, 2]"]
    assert container["resources"]["limits"]["memory"] == "8Gi"
    assert (
        run.main([f"{tmp_path / 'document_000.py'}:my_pytorch_job", "--input", "int_list=[1]"]) == 0
    )


@inputs(
    numbers=[Types.Integer], scale=Types.Float, names=Types.List(Types.String), extra=Types.Generic
)
@outputs(total=Types.Float, first=Types.String)
@pytorch_task(image="acme/mnist:1")
def adds(
    wf_params: Any, numbers: Any, scale: Any, names: Any, extra: Any, total: Any, first: Any
) -> None:
    wf_params.logging.info("adding")
    total.set(sum(numbers) * scale)
    first.set(names[0] + extra["suffix"])


GIVEN: dict[str, Any] = {
    "numbers": [1, 2],
    "scale": 2,
    "names": ["a", "b"],
    "extra": {"suffix": "!"},
}


def test_a_call_passes_context_inputs_and_outputs() -> None:
    assert adds(**GIVEN) == {"total": 6.0, "first": "a!"}
    words = {"numbers": "[1, 2]", "scale": "2", "names": '["a", "b"]', "extra": '{"suffix": "!"}'}
    assert run.parse_arguments(adds.function, words) == (GIVEN, {})
    lost = [
        diagnostic
        for diagnostic in adds.compile(inputs=GIVEN).diagnostics
        if diagnostic.path == ("outputs",)
    ]
    assert len(lost) == 1


@pytorch_task(image="acme/mnist:1")
def alone(wf_params: Any) -> None:
    wf_params.stats.incr("started")


def test_a_call_without_inputs_passes_only_the_context() -> None:
    assert alone.compile().ok
    with pytest.raises(AttributeError, match=r"wf_params\.stats comes from Flyte's engine"):
        alone()


def test_undeclared_parameters_are_errors() -> None:
    @inputs(a=Types.Integer, b=Types.Integer)
    @outputs(c=Types.Integer)
    @pytorch_task(image="acme/mnist:1")
    def job(wf_params: Any, a: Any, d: Any) -> None: ...

    found = {
        ".".join(map(str, problem.path)): problem.message
        for problem in job.convert(inputs={"a": 1, "b": 2}).problems
    }
    assert found["inputs.d"] == "inputs.d: neither @inputs nor @outputs declares it"
    assert found["inputs.b"] == "inputs.b: the function has no such parameter"
    assert found["outputs.c"] == "outputs.c: the function has no such parameter"


def test_flyte_storage_types_are_rejected_as_inputs() -> None:
    for kind in (Types.Blob, Types.CSV, Types.MultiPartBlob, Types.MultiPartCSV, Types.Schema):
        with pytest.raises(
            run.TaskCallError, match=f"is a {kind.__name__}, which only Flyte can pass"
        ):
            run.value_of("s3://b/x", kind)


def test_the_order_of_the_decorators_is_as_documented() -> None:
    def bare(wf_params: Any) -> None: ...

    with pytest.raises(TypeError, match="go above @pytorch_task"):
        inputs(a=Types.Integer)(bare)  # type: ignore[arg-type]
    assert isinstance(flyte.outputs(a=Types.Integer)(pytorch_task(bare)), flyte.Task)
