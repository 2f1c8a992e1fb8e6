"""Flyte configuration as a TrainingJob file: `python examples/flyte_to_spec.py > spec.yaml`.

The task and the platform are written as in a Flyte project. Objects of flytekit may stand in the same places; nothing
of flytekit is needed. What is not carried over is said on stderr.
"""

from __future__ import annotations

import sys

from ptcompile import flyte
from ptcompile.flyte import CleanPodPolicy, Elastic, Resources, RunPolicy

PLATFORM = flyte.platform(
    """
    plugins:
      k8s:
        default-env-vars:
        - NCCL_DEBUG: INFO
        resource-tolerations:
          nvidia.com/gpu:
          - {key: flyte/gpu, operator: Equal, value: dedicated, effect: NoSchedule}
        interruptible-node-selector-requirement: {key: spot, operator: In, values: ["true"]}
    """
)


@flyte.task(
    task_config=Elastic(
        nnodes="2:4",
        nproc_per_node=8,
        max_restarts=3,
        run_policy=RunPolicy(CleanPodPolicy.RUNNING, 600),
    ),
    container_image="ghcr.io/acme/llama:2.1",
    script="train.py",
    requests=Resources(cpu=32, mem="256Gi", gpu=8),
    accelerator="H100",
    interruptible=True,
    retries=2,
    cache=True,
    platform=PLATFORM,
)
def llama_sft(epochs: int) -> None:
    """Train. In the pod `train.py` is started by torchrun; this function is what Flyte called."""


def main() -> int:
    """Print the spec; the platform's profile is `PLATFORM.document`."""
    converted = llama_sft.convert()
    for problem in (*PLATFORM.problems, *converted.problems):
        print(f"{problem.severity}: {problem.message}", file=sys.stderr)
    if not converted.ok:
        return 1
    print(converted.yaml(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
