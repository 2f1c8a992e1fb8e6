"""The golden case of the legacy decorator equals the front end's output, including the toleration."""

from __future__ import annotations

from pathlib import Path

from ptcompile import flyte
from ptcompile.flyte.convert import GPU_TAINT, to_yaml

GOLDEN = Path(__file__).parents[2] / "golden" / "flyte-legacy-decorator" / "spec.yaml"


def test_the_golden_spec_equals_the_front_end_s_output() -> None:
    spec = flyte.pytorch_task(
        name="flyte-legacy-decorator",
        image="registry.example.com/flyte-workflows:v3",
        command=["pyflyte-execute"],
        args=[
            "--task-module", "workflows.train", "--task-name", "my_pytorch_job", "--inputs", "s3://bucket/inputs.pb",
        ],
        workers_count=2,
        per_replica_cpu_request="500m",
        per_replica_memory_request="4Gi",
        per_replica_memory_limit="8Gi",
        per_replica_gpu_limit="1",
    )  # fmt: skip
    lines = GOLDEN.read_text(encoding="utf-8").splitlines(keepends=True)
    assert to_yaml(spec) == "".join(line for line in lines if not line.startswith("#"))
    assert spec.spec.tolerations == [GPU_TAINT]


def test_only_the_roles_with_gpus_tolerate_flyte_s_taint() -> None:
    """Source: docs/facts/flyte.md#gpu-tolerations."""
    config = flyte.PyTorch(worker=flyte.Worker(replicas=1, limits=flyte.Resources(gpu="1")))
    document = (
        flyte.task(GOLDEN.exists, task_config=config, image="i", script="t.py")
        .convert("job")
        .document["spec"]
    )
    assert "tolerations" not in document
    assert document["worker"]["tolerations"] == [GPU_TAINT]
    plain = flyte.task(GOLDEN.exists, image="i", script="t.py").convert("job").document["spec"]
    assert "tolerations" not in plain


def test_a_platform_replaces_the_default_tolerations() -> None:
    task = flyte.task(GOLDEN.exists, image="i", script="t.py", limits=flyte.Resources(gpu=1))
    assert "tolerations" not in task.convert("job", platform=flyte.platform({})).document["spec"]
