"""Command lines that start the stand-in script, for each launcher."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile
from ptcompile.rehearsal import RehearsalError, RehearsalSettings, rehearse
from ptcompile.rehearsal.cast import Cast, cast
from ptcompile.rehearsal.settings import fault
from ptcompile.rehearsal.verdict import predict_end
from ptcompile.simulator.job import SimulatedJob
from tests.making import text
from tests.rehearsal.playing import Scripted, fake_python

ACCELERATE = (
    "[accelerate, launch, --num_machines=2, --num_processes=8, --machine_rank=$(RANK), "
    "--main_process_ip=$(MASTER_ADDR), --main_process_port=$(MASTER_PORT), --mixed_precision=bf16%s, train.py, --lr=1]"
)
DEEPSPEED = "[sh, -c, 'exec deepspeed --hostfile=/job/hosts%s --node_rank=$RANK --master_addr=$MASTER_ADDR train.py']"


def job(command: str, nodes: int = 2) -> SimulatedJob:
    world = ptcompile.simulate(text(f"image: i\nnodes: {nodes}\ncommand: {command}"), target="job")
    assert world.jobs, world.diagnostics
    return world.jobs[0]


def played(command: str, nodes: int = 2) -> Cast:
    return cast(job(command, nodes), max_processes=2)


def test_accelerate_gets_only_rendezvous_options() -> None:
    rehearsal = played(ACCELERATE % "")
    assert rehearsal.actors[1].argv == (
        "accelerate", "--multi_gpu", "--num_processes=4", "--num_machines=2", "--machine_rank=1",
        "--main_process_ip=train-0.train", "--main_process_port=23456", "stand_in.py",
    )  # fmt: skip
    assert [(actor.processes, actor.rank) for actor in rehearsal.actors] == [(2, "0"), (2, "1")]
    assert (
        "accelerate gets --multi_gpu and only the options with which pods meet"
        in rehearsal.stand_ins
    )
    assert (
        "accelerate's config file is missing"
        in played(ACCELERATE % ", --config_file=/etc/a.yaml").stand_ins
    )


def test_a_single_machine_starts_as_many_processes_as_allowed() -> None:
    assert played("[accelerate, launch, --num_processes=4, --num_machines=1, train.py]", nodes=1).actors[0].argv == (
        "accelerate", "--multi_gpu", "--num_processes=2", "--num_machines=1", "stand_in.py",
    )  # fmt: skip


def test_machines_of_a_missing_config_file_are_not_guessed() -> None:
    with pytest.raises(RehearsalError, match="config file, which is missing"):
        played("[accelerate, launch, --config_file=/etc/a.yaml, --machine_rank=$(RANK), train.py]")


def test_deepspeed_gets_a_host_file_of_all_pods() -> None:
    rehearsal = played(DEEPSPEED % " --no_ssh")
    assert rehearsal.actors[1].argv == (
        "deepspeed", "--hostfile=hostfile", "--no_ssh", "--node_rank=1", "--master_addr=train-0.train", "stand_in.py",
    )  # fmt: skip
    assert "a host file with all pods replaces deepspeed's" in rehearsal.stand_ins
    assert played("[deepspeed, --num_gpus=8, train.py]", nodes=1).actors[0].argv == (
        "deepspeed", "--num_gpus=2", "stand_in.py",
    )  # fmt: skip


def test_deepspeed_over_ssh_is_rejected() -> None:
    with pytest.raises(
        RehearsalError, match="over ssh, which a rehearsal does not provide: add --no_ssh"
    ):
        played(DEEPSPEED % "")


def test_accelerate_is_played(tmp_path: Path) -> None:
    settings = RehearsalSettings(fake_python(tmp_path), limit=10.0)
    rehearsal = rehearse(
        job(ACCELERATE % ""), settings=settings, opening=Scripted().opening(), max_processes=1
    )
    assert rehearsal.verdict.passed, rehearsal.verdict


def test_faults_of_accelerate_are_predicted_like_torchrun() -> None:
    meets = job(ACCELERATE % "")
    assert predict_end(meets, []).end == "all"
    assert predict_end(meets, [fault("kill", "1@3s,back=8s")]).end == "fail"
    apart = job(ACCELERATE.replace("num_machines=2", "num_machines=3") % "")
    assert predict_end(apart, []).end == "fail"
