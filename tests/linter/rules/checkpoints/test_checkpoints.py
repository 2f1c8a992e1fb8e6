"""Folders for checkpoints and outputs: how they are named, and on what they are."""

from __future__ import annotations

import pytest

from tests.linter.asking import Json, fires, pod, problems_of

FOLDER = "/ckpt"
CLAIM = {"persistentVolumeClaim": {"claimName": "ckpt"}}


def _pod(
    *command: str, volume: Json | None = None, env: list[Json] | None = None, read_only: bool = True
) -> Json:
    mount = {"name": "v", "mountPath": FOLDER, **({"readOnly": True} if read_only else {})}
    container = {"name": "a", "image": "a:1", "command": list(command), "volumeMounts": [mount]}
    return pod(
        containers=[{**container, "env": env or []}], volumes=[{"name": "v", **(volume or CLAIM)}]
    )


@pytest.mark.parametrize(
    "option",
    [
        "--output_dir=/ckpt/a",
        "--output-dir /ckpt/a",
        "--out=/ckpt",
        "--out_dir=/ckpt",
        "--default_root_dir=/ckpt",
        "--trainer.default_root_dir=/ckpt",
        "trainer.default_root_dir=/ckpt/x",
        "++exp_manager.explicit_log_dir=/ckpt",
        "exp_manager.exp_dir=/ckpt",
        "hydra.run.dir=/ckpt/run",
        "trainer.default_local_dir=/ckpt",
        "--job.dump_folder=/ckpt",
        "--save-dir=/ckpt",
        "--save /ckpt/meg",
        "save_folder=/ckpt/mpt",
        "--checkpoint-dir=/ckpt",
        "--output_dir='/ckpt/a'",
    ],
)
def test_options_that_name_a_read_only_folder_are_errors(option: str) -> None:
    for manifest in (
        _pod("python", "train.py", *option.split()),
        _pod("bash", "-c", f"tune run lora {option} --x 1"),
    ):
        assert [problem.severity for problem in problems_of("read-only-checkpoint", manifest)] == [
            "error"
        ]


@pytest.mark.parametrize(
    "option",
    [
        "--resume_from_checkpoint=/ckpt/last",
        "--load /ckpt/meg",
        "--pretrained-checkpoint=/ckpt",
        "--model=/ckpt/base",
        "--data_dir=/ckpt",
        "--ref-output-dir=/ckpt",
        "checkpoint /ckpt",
        "--output=/ckpt/report.nsys-rep",
        "--checkpoint-dir=ckpt",
    ],
)
def test_options_for_what_the_training_reads_have_no_finding(option: str) -> None:
    assert not fires("read-only-checkpoint", _pod("torchrun", "train.py", *option.split()))


def test_a_checkpoint_that_may_only_be_read_is_a_warning() -> None:
    manifest = _pod("torchrun", "train.py", "--checkpoint=/ckpt/base.pt")
    assert [problem.severity for problem in problems_of("read-only-checkpoint", manifest)] == [
        "warning"
    ]
    assert not fires(
        "read-only-checkpoint", _pod("python", "eval.py", "--checkpoint=/ckpt/base.pt")
    )


def test_variables_that_hold_a_read_only_folder_are_errors() -> None:
    env = [{"name": "OUT", "value": "/ckpt/run"}]
    for option in (
        "--output_dir=$(OUT)",
        "--output_dir=$OUT/a",
        "--output_dir=${OUT}/a",
        "--output_dir $OUT",
    ):
        assert fires(
            "read-only-checkpoint", _pod("bash", "-c", f"torchrun train.py {option}", env=env)
        )
    assert fires(
        "read-only-checkpoint",
        _pod("python", "t.py", env=[{"name": "OUTPUT_DIR", "value": "/ckpt"}]),
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/mnt/nvme/ckpt", True),
        ("/mnt/disks/local-ssd0", True),
        ("/raid/ckpt", True),
        ("/var/lib/ckpt", True),
        ("/root/ckpt", True),
        ("/mnt/lustre/scratch", False),
        ("/shared/scratch", False),
        ("/data/ckpt", False),
        ("/localhome/me", False),
    ],
)
def test_checkpoints_on_a_folder_of_the_node_are_reported(path: str, expected: bool) -> None:
    job = _pod(
        "torchrun",
        "train.py",
        "--output_dir=/ckpt",
        volume={"hostPath": {"path": path}},
        read_only=False,
    )
    spec = {"parallelism": 2, "completions": 2, "template": {"spec": job["spec"]}}
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "t"}, "spec": spec}
    assert fires("checkpoint-on-node", manifest) is expected
    assert not fires("checkpoint-on-node", job)  # one pod that is not recreated


@pytest.mark.parametrize(
    ("spot", "policy", "expected"),
    [
        (
            True,
            [
                {
                    "action": "Ignore",
                    "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                }
            ],
            True,
        ),
        (
            True,
            [
                {
                    "action": "FailJob",
                    "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                }
            ],
            False,
        ),
        (
            False,
            [
                {
                    "action": "Ignore",
                    "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                }
            ],
            False,
        ),
    ],
)
def test_a_checkpoint_is_lost_with_a_spot_node(
    spot: bool, policy: list[Json], expected: bool
) -> None:
    """Without retries a failed pod is not recreated, but a preempted one may be."""
    template = _pod("torchrun", "t.py", "--output_dir=/elsewhere", read_only=False)
    template["spec"]["nodeSelector"] = {"cloud.google.com/gke-spot": "true"} if spot else {}
    spec = {
        "backoffLimit": 0,
        "podFailurePolicy": {"rules": policy},
        "template": {"spec": template["spec"]},
    }
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": spec}
    assert fires("checkpoint-not-kept", job) is expected
