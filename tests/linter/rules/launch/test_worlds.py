"""The world that a script expects, compared with the one that its launcher starts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.rules.launch.making import jobset, messages, names, pod, pytorchjob, role

Json = dict[str, Any]
GPUS: Json = {"resources": {"limits": {"cpu": 64, "memory": "512Gi", "nvidia.com/gpu": 8}}}
OURS = {
    "parallel-sizes",
    "script-nodes-differ",
    "one-process-for-gpus",
    "nccl-path-disabled",
    "nccl-errors-ignored",
} | {
    "idle-gpus",
    "more-processes-than-gpus",
}


def our_names(manifest: Json) -> set[str]:
    return names(manifest) & OURS


def two_nodes(*script: str) -> Json:
    words = (
        "--nnodes=2",
        "--nproc-per-node=8",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=train-node-0-0.train:1",
    )
    return jobset(role("torchrun", *words, *script, **GPUS))


@pytest.mark.parametrize(
    ("script", "is_reported"),
    [
        (["--tensor-model-parallel-size", "8", "--pipeline-model-parallel-size", "4"], True),
        (["--tensor-model-parallel-size", "8", "--pipeline-model-parallel-size", "2"], False),
        (["--tensor_model_parallel_size=4", "--context-parallel-size=3"], True),
        (["model.tensor_model_parallel_size=32"], True),
        (["trainer.strategy.pipeline_model_parallel_size=16"], False),
        (
            ["--parallelism.tensor_parallel_degree=8", "--parallelism.pipeline_parallel_degree=3"],
            True,
        ),
        (["--tensor-model-parallel-size=8", "--micro-batch-size=2", "--global-batch-size=3"], True),
        (
            ["--tensor-model-parallel-size=8", "--micro-batch-size=2", "--global-batch-size=8"],
            False,
        ),
        (
            [
                "--tensor-model-parallel-size=8",
                "--micro-batch-size=2",
                "--global-batch-size=3",
                "--rampup-batch-size",
            ],
            False,
        ),
        (["--tensor-model-parallel-size=$TP"], False),
        (["--tensor-model-parallel-size=1"], False),
    ],
)
def test_parallel_sizes_must_divide_the_world(script: list[str], is_reported: bool) -> None:
    assert ("parallel-sizes" in our_names(two_nodes("pretrain_gpt.py", *script))) == is_reported


def test_parallel_sizes_are_read_from_an_array_of_a_script() -> None:
    script = (
        'P=(--tensor-model-parallel-size 3)\ntorchrun --nproc_per_node=8 pretrain_gpt.py "${P[@]}"'
    )
    manifest = pod("bash", "-c", script, **GPUS)
    assert messages(manifest, "parallel-sizes") == [
        "spec.containers[0].command[2]: "
        "the model-parallel sizes (tensor 3 = 3) do not divide the 8 processes of the job"
    ]


@pytest.mark.parametrize(
    ("script", "is_reported"),
    [
        (["trainer.num_nodes=4"], True),
        (["trainer.num_nodes=2"], False),
        (["--trainer.num_nodes", "4"], True),
        (["--num_nodes=4"], True),
        (["num_nodes", "4"], False),
        (["trainer.devices=4"], True),
        (["trainer.devices=8"], False),
        (["trainer.devices=auto"], False),
    ],
)
def test_nodes_and_devices_of_a_script_must_agree_with_the_job(
    script: list[str], is_reported: bool
) -> None:
    assert ("script-nodes-differ" in our_names(two_nodes("train.py", *script))) == is_reported


def test_an_elastic_range_has_no_number_of_nodes() -> None:
    words = (
        "--nnodes=1:2",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=train-node-0-0.train:1",
        "t.py",
    )
    assert "script-nodes-differ" not in our_names(
        jobset(role("torchrun", *words, "trainer.num_nodes=1"))
    )


@pytest.mark.parametrize(
    ("command", "is_reported"),
    [
        (["python", "train.py", "--backend=nccl"], True),
        (["python", "-u", "train.py"], True),
        (["python", "train.py", "--trainer.devices=8"], False),
        (["python", "train.py", "--multiprocessing-distributed"], False),
        (["python", "-m", "launcher"], False),
        (["torchrun", "--nproc-per-node=8", "train.py"], False),
    ],
)
def test_one_process_on_eight_gpus_is_reported(command: list[str], is_reported: bool) -> None:
    manifest = pytorchjob(
        master=command, worker=command, workers=1, nprocPerNode=None, container=GPUS
    )
    assert ("one-process-for-gpus" in our_names(manifest)) == is_reported


def test_one_process_in_a_lone_pod_may_use_all_gpus() -> None:
    assert "one-process-for-gpus" not in our_names(pod("python", "train.py", **GPUS))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("NCCL_P2P_DISABLE", "1", {"nccl-path-disabled"}),
        ("NCCL_P2P_DISABLE", "0", set()),
        ("NCCL_SHM_DISABLE", "1", {"nccl-path-disabled"}),
        ("NCCL_P2P_LEVEL", "LOC", {"nccl-path-disabled"}),
        ("NCCL_P2P_LEVEL", "NVL", set()),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", {"nccl-errors-ignored"}),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1", set()),
    ],
)
def test_switches_that_slow_nccl_are_reported(name: str, value: str, expected: set[str]) -> None:
    env = {"env": [{"name": name, "value": value}]}
    assert our_names(pod("torchrun", "--nproc-per-node=8", "train.py", **GPUS, **env)) == expected
    script = f"export {name}={value}\ntorchrun --nproc-per-node=8 train.py"
    assert our_names(pod("bash", "-c", script, **GPUS)) == expected


def test_a_pod_with_one_gpu_has_no_paths_between_gpus() -> None:
    env = {"env": [{"name": "NCCL_P2P_DISABLE", "value": "1"}]}
    assert our_names(pod("torchrun", "train.py", **env)) == set()


@pytest.mark.parametrize(
    ("processes", "expected"),
    [
        ("16", set()),
        ("8", {"idle-gpus"}),
        ("12", {"idle-gpus"}),
        ("32", {"more-processes-than-gpus"}),
    ],
)
def test_processes_of_accelerate_must_fit_the_machines(processes: str, expected: set[str]) -> None:
    words = (
        *(
            "accelerate",
            "launch",
            "--num_machines=2",
            f"--num_processes={processes}",
            "--machine_rank=$(RANK)",
        ),
        *("--main_process_ip=$(MASTER_ADDR)", "--main_process_port=$(MASTER_PORT)", "t.py"),
    )
    assert (
        our_names(
            pytorchjob(master=words, worker=words, workers=1, nprocPerNode=None, container=GPUS)
        )
        == expected
    )


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["accelerate", "launch", "--num_processes=4", "t.py"], {"idle-gpus"}),
        (["accelerate", "launch", "--num_processes=16", "t.py"], {"more-processes-than-gpus"}),
        (["accelerate", "launch", "t.py"], set()),
        (["deepspeed", "--num_gpus=4", "t.py"], {"idle-gpus"}),
        (["llamafactory-cli", "train", "a.yml"], set()),
    ],
)
def test_processes_of_one_pod_are_compared_with_its_gpus(
    command: list[str], expected: set[str]
) -> None:
    assert our_names(pod(*command, **GPUS)) == expected


def train_job(*command: str, nodes: int = 3) -> Json:
    trainer = {"image": "i:1", "numNodes": nodes, "command": [*command]}
    spec = {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "a"},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("manifest", "is_reported"),
    [
        (train_job("python", "train.py"), True),
        (train_job("bash", "-c", "python train.py"), True),
        (train_job("python", "train.py", nodes=1), False),
        (train_job("python", "-m", "torch.distributed.run", "train.py"), False),
        (
            train_job(
                "bash", "-c", "MASTER_ADDR=$PET_MASTER_ADDR WORLD_SIZE=$PET_NNODES python train.py"
            ),
            False,
        ),
    ],
)
def test_python_reads_no_variables_of_torchrun(manifest: Json, is_reported: bool) -> None:
    assert ("launcher-alone" in names(manifest)) == is_reported
