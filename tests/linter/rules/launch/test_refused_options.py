"""Options, modules and shell scripts that keep a launcher from starting."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.rules.launch.making import names, pod

Json = dict[str, Any]


def shell(script: str, **fields: Any) -> Json:
    return pod("bash", "-c", script, **fields)


def env(name: str, value: str) -> Json:
    return {"env": [{"name": name, "value": value}]}


REFUSED = "refused-launch-option"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # each was given to torchrun 2.15
        (["--numa-binding=foo"], {REFUSED}),
        (["--numa_binding", "node"], set()),
        (["--start-method=thread"], {REFUSED}),
        (["--start-method=fork"], set()),
        (["--shutdown-timeout=x"], {REFUSED}),
        (["--shutdown-timeout=30"], set()),
        (["--tee=9"], {REFUSED}),
        (["--tee", "stdout"], {REFUSED}),
        (["-t9"], {REFUSED}),
        (["-r", "0:3,1:2"], set()),
        (["--tee=3"], set()),
        (["--tee=$LEVEL"], set()),
        (["--local-ranks-filter=a"], {REFUSED}),
        (["--local_ranks_filter=0,1"], set()),
        (["--logs-specs=nope"], {REFUSED}),
        (["--logs-specs=default"], set()),
        (["--standalone=true"], {REFUSED}),
        (["--standalone"], set()),
        (["--use-env"], {REFUSED}),
        (["--nproc=1"], {REFUSED}),
        (["--nproc_per=1"], set()),
        (["--nnode=1"], set()),
    ],
)
def test_options_that_torchrun_rejects_are_reported(words: list[str], expected: set[str]) -> None:
    assert names(pod("torchrun", *words, "train.py")) == expected


def test_torch_distributed_launch_has_use_env() -> None:
    assert names(pod("python", "-m", "torch.distributed.launch", "--use_env", "train.py")) == set()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("PET_TEE", "all", {REFUSED}),
        ("PET_TEE", "3", set()),
        ("PET_SHUTDOWN_TIMEOUT", "5s", {REFUSED}),
        ("PET_START_METHOD", "thread", set()),  # argparse compares no choices with a default
        ("PET_NUMA_BINDING", "node", {"unknown-pet-variable"}),
        ("PET_LOGS_SPECS", "default", {"unknown-pet-variable"}),
        ("PET_MODULE", "1", {"script-as-module"}),
    ],
)
def test_variables_that_torchrun_rejects_are_reported(
    name: str, value: str, expected: set[str]
) -> None:
    assert names(pod("torchrun", "train.py", **env(name, value))) == expected


@pytest.mark.parametrize("nproc", ["all", "cuda", "gpus"])
def test_numbers_of_processes_that_name_no_device_are_reported(nproc: str) -> None:
    assert names(pod("torchrun", f"--nproc-per-node={nproc}", "train.py")) == {"bad-nproc"}


@pytest.mark.parametrize("nproc", ["npu", "hpu", "musa"])
def test_devices_of_plugins_are_accepted(nproc: str) -> None:
    assert "bad-nproc" not in names(pod("torchrun", f"--nproc-per-node={nproc}", "train.py"))


@pytest.mark.parametrize(
    ("words", "is_reported"),
    [
        (["torchrun", "-m", "train.py"], True),
        (["torchrun", "-m", "scripts/train"], True),
        (["torchrun", "-m", "pkg.train", "train.py"], False),
        (["torchrun", "train.py", "-m", "x.py"], False),
        (["accelerate", "launch", "-m", "train.py"], True),
        (["accelerate", "launch", "--num_processes=1", "-m", "pkg.train"], False),
        (["deepspeed", "--module", "train.py"], True),
        (["composer", "-m", "train.py"], True),
        (["torchrun", "-m", "$MODULE.py"], False),
    ],
)
def test_a_file_cannot_run_as_a_module(words: list[str], is_reported: bool) -> None:
    assert ("script-as-module" in names(pod(*words))) == is_reported


def test_python_starts_no_file_as_a_module() -> None:
    rank = {"env": [{"name": "MASTER_ADDR", "value": "train-0"}]}
    assert "script-as-module" in names(pod("python", "-u", "-m", "train.py", **rank))
    assert "script-as-module" not in names(pod("python", "train.py", "-m", "x.py", **rank))


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("torchrun --nproc_per_node=1 \\ \n  train.py", {"broken-continuation"}),
        ("torchrun --nproc_per_node=1 \\\n  train.py", set()),
        ("torchrun --node_rank='$RANK' train.py", {"quoted-variable"}),
        ('torchrun --node_rank="$RANK" train.py', set()),
        ("torchrun --log-line-prefix-template '$role_name: ' train.py", set()),
        ("bash -c 'torchrun --node_rank=$RANK train.py'", set()),
        (
            "accelerate launch --num_machines 2 --machine_rank '$RANK' --main_process_ip x train.py",
            {"quoted-variable"},
        ),
    ],
)
def test_broken_words_of_scripts_are_reported(script: str, expected: set[str]) -> None:
    reported = names(shell(script, **env("RANK", "0")))
    assert reported & {"broken-continuation", "quoted-variable"} == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("torchrun train.py --backend nccl", True),
        ("set -e\nexec torchrun train.py \\\n  --backend=nccl", True),
        ("torchrun train.py --backend gloo", False),
        ("echo nccl; torchrun train.py", False),
        (
            "cat > t.py <<EOF\nimport torch.distributed as dist\ndist.init_process_group('nccl')\nEOF\npython t.py",
            True,
        ),
        ("python -c 'dist.init_process_group(backend = \"nccl\")'", True),
    ],
)
def test_nccl_in_a_script_needs_gpus(script: str, expected: bool) -> None:
    manifest = shell(script, resources={"limits": {"cpu": 8, "memory": "64Gi"}})
    assert ("nccl-without-gpu" in names(manifest)) == expected
