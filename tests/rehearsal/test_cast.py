"""Rehearsed pods: their command lines, their environment, and the differences from the cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile
from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS
from ptcompile.operators.targets import TARGETS
from ptcompile.rehearsal import stand_in
from ptcompile.rehearsal.cast import MAX_PODS, cast, scale_conf, with_fields
from ptcompile.rehearsal.places import Places, RehearsalSettings, names_in_dns
from ptcompile.rehearsal.settings import RehearsalError
from ptcompile.simulator.job import SimulatedJob
from tests.making import smallest
from tests.rehearsal.jobs import C10D, RANGE, job

WAIT = str(JOIN_TIMEOUT_SECONDS)


def test_a_pod_starts_torchrun_with_its_own_options_and_our_script() -> None:
    first = cast(job(RANGE + "\nargs: [--epochs, '3']"), max_processes=2).actors[0]
    assert first.argv == (
        "torchrun", "--nnodes=2:3", "--nproc-per-node=2", "--rdzv-backend=c10d", "--rdzv-endpoint=train-0.train:23456",
        "--rdzv-id=train", f"--rdzv-conf=timeout={WAIT},join_timeout={WAIT},read_timeout={WAIT}", "--max-restarts=3",
        "--monitor-interval=5", "stand_in.py", "--epochs", "3",
    )  # fmt: skip
    assert (first.hostname, first.rank, first.processes) == ("train-0", None, 2)
    assert first.own_names == ("train-0.train.default.svc.cluster.local", "train-0")
    assert {"train-0.train", "train"} <= set(first.names)


@pytest.mark.parametrize("target", [name for name in TARGETS if name != "pod"])
def test_every_target_s_node_0_is_found_where_its_torchrun_looks(target: str) -> None:
    for body in (C10D, "nodes: 3"):
        played = job(body, target)
        actors = cast(played, max_processes=1).actors
        options = played.pod(played.roles[0], 0).rendezvous
        assert options.host in (*actors[0].names, *actors[0].own_names), (target, options.host)
        assert len(actors) == 3
        assert [actor.rank for actor in actors] == ([None] * 3 if body is C10D else ["0", "1", "2"])


def test_processes_are_capped_in_options_and_variables() -> None:
    played = cast(job("elastic: {nnodes: '2:3', nprocPerNode: 8}", "pytorchjob"), max_processes=3)
    assert {actor.env["PET_NPROC_PER_NODE"] for actor in played.actors} == {"3"}
    assert "processes per node: 3 instead of 8" in played.stand_ins
    assert (
        cast(job("nodes: 2\nelastic: {nprocPerNode: 1}"), max_processes=3).actors[0].processes == 1
    )


def test_modules_and_shells_are_replaced_by_the_stand_in() -> None:
    shell = 'nodes: 2\ncommand: [bash, -c, "cd /x && torchrun --nnodes=2 --nproc_per_node 4 -m pkg.train --lr 1"]'
    spec = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: t}\nspec:\n  image: i\n"
    body = "".join(f"  {line}\n" for line in shell.split("\n"))
    world = ptcompile.simulate(spec + body, target="job")
    argv = cast(world.jobs[0], max_processes=1).actors[0].argv
    assert argv == ("torchrun", "--nnodes=2", "--nproc-per-node=1", "stand_in.py", "--lr", "1")


def test_own_command_runs_the_command_of_the_manifest() -> None:
    first = cast(job("nodes: 2"), max_processes=1, own_command=True).actors[0]
    assert (first.argv[0], first.argv[-1]) == ("torchrun", "train.py")


def test_other_launchers_are_rejected() -> None:
    spec = ptcompile.simulate(
        "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: t}\n"
        "spec: {image: i, nodes: 2, command: [deepspeed, train.py]}\n",
        target="job",
    )
    with pytest.raises(RehearsalError, match="deepspeed"):
        cast(spec.jobs[0], max_processes=1)
    with pytest.raises(RehearsalError, match="too many"):
        cast(job(f"nodes: {MAX_PODS + 1}"), max_processes=1)


def test_differences_from_the_cluster_are_named() -> None:
    body = (
        RANGE
        + "\nenv: {GLOO_SOCKET_IFNAME: ib0, T: {secretKeyRef: {name: hf, key: token}}}\nroles: {loader: {}}"
    )
    company = cast(job(body, "jobset"), max_processes=2)
    text = "\n".join(company.stand_ins)
    for part in (
        "script that checks",
        "processes per node: 2 instead of 4",
        "loader",
        " T:",
        "IFNAME",
    ):
        assert part in text, (part, text)
    assert "GLOO_SOCKET_IFNAME" not in company.actors[0].env


@pytest.mark.parametrize("own_command", [False, True])
def test_a_manifest_chooses_no_code_to_load(own_command: bool) -> None:
    """A file of its repository would run on this machine."""
    names = ("BASH_ENV", "LD_PRELOAD", "PATH", "PYTHONPATH")
    env = ", ".join(f"{name}: /repository/evil" for name in names)
    company = cast(
        job(RANGE + f"\nenv: {{KEPT: a, {env}}}"), max_processes=2, own_command=own_command
    )
    for actor in company.actors:
        assert actor.env["KEPT"] == "a"
        assert actor.env.keys().isdisjoint(names)
    assert "BASH_ENV, LD_PRELOAD, PATH, PYTHONPATH is dropped" in "\n".join(company.stand_ins)


def test_a_pod_on_its_node_s_network_has_the_node_s_name_and_address() -> None:
    actor = cast(job(C10D + "\nhostNetwork: true"), max_processes=1).actors[1]
    assert (actor.hostname, actor.own_names) == ("node-1", ("node-1",))
    assert "train-1.train" in actor.names, "DNS leads to the node's address"
    assert with_fields(actor.env["PET_LOCAL_ADDR"], actor, "10.0.0.1") == "10.0.0.1"


def test_timeouts_are_scaled_including_defaults() -> None:
    assert scale_conf("timeout=900,read_timeout=900,x=y", 10) == (
        "timeout=90,read_timeout=90,x=y,join_timeout=60,last_call_timeout=3,keep_alive_interval=1"
    )


def _launched(*command: str, **env: str) -> SimulatedJob:
    spec = {
        "image": "i", "nodes": 2, "command": [*command], "env": env, "resources": {"gpu": 2},
    }  # fmt: skip
    document = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "t"},
        "spec": spec,
    }
    return ptcompile.simulate(document, target="job").jobs[0]


ACCELERATE = (
    "accelerate", "launch", "--num_machines=2", "--num_processes=4", "--machine_rank=$(JOB_COMPLETION_INDEX)",
    "--main_process_ip=t-0.t", "--main_process_port=29500",
)  # fmt: skip


def test_accelerate_gets_its_machines_and_the_capped_processes() -> None:
    company = cast(_launched(*ACCELERATE, "--mixed_precision=bf16", "train.py"), max_processes=1)
    argv = company.actors[1].argv
    assert argv[0] == "accelerate"
    assert {
        "--multi_gpu",
        "--num_processes=2",
        "--num_machines=2",
        "--main_process_port=29500",
    } <= {*argv}
    assert company.actors[1].processes == 1
    assert (
        "accelerate gets --multi_gpu and only the options with which pods meet" in company.stand_ins
    )
    assert "accelerate's config file is missing" not in company.stand_ins


def test_a_single_process_of_accelerate_is_no_multi_gpu_run() -> None:
    spec = {"image": "i", "command": ["accelerate", "launch", "--num_processes=1", "t.py"]}
    document = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "t"},
        "spec": spec,
    }
    (actor,) = cast(ptcompile.simulate(document, target="job").jobs[0], max_processes=4).actors
    assert "--num_processes=1" in actor.argv
    assert "--multi_gpu" not in actor.argv


def test_accelerate_s_config_file_is_missing() -> None:
    company = cast(_launched(*ACCELERATE, "--config_file=c.yaml", "train.py"), max_processes=1)
    assert "accelerate's config file is missing" in company.stand_ins
    assert not any("config" in word for word in company.actors[0].argv)
    with pytest.raises(RehearsalError, match="use --own-command"):
        cast(_launched("accelerate", "launch", "--config_file=c.yaml", "train.py"), max_processes=1)


def test_deepspeed_starts_without_ssh() -> None:
    deepspeed = ("deepspeed", "--hostfile=/h", "--num_nodes=2", "--num_gpus=2", "--no_ssh",
                 "--node_rank=$(JOB_COMPLETION_INDEX)", "--master_addr=t-0.t")  # fmt: skip
    company = cast(_launched(*deepspeed, "train.py"), max_processes=1)
    argv = company.actors[0].argv
    assert "--no_ssh" in argv
    assert "--hostfile=/h" not in argv
    assert "a host file with all pods replaces deepspeed's" in company.stand_ins


def test_a_full_name_in_dns_may_end_in_a_dot() -> None:
    names = ["train-0.train", "train-0.train.default.svc.cluster.local"]
    assert [*names_in_dns(names)] == [*names, f"{names[1]}."]


def test_the_stand_in_needs_no_numpy() -> None:
    """Collectives of objects need it, and torch does not install it."""
    assert "_object" not in Path(stand_in.__file__).read_text(encoding="utf-8")


def test_a_service_with_a_cluster_ip_has_an_address_of_its_own(tmp_path: Path) -> None:
    service = (
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: door}\n"
        "spec: {selector: {batch.kubernetes.io/job-completion-index: '0'}, ports: [{port: 29400}]}\n"
    )
    compiled = ptcompile.compile(smallest(C10D, "train"), target="job").yaml()
    first, second, _ = actors = cast(
        ptcompile.simulate(compiled + service).jobs[0], max_processes=1
    ).actors
    assert "door.default" in first.service_names
    assert second.service_names == ()
    assert {"train", "train-0.train"} <= set(first.names) - set(first.service_names)

    for in_containers, address in ((False, "10.9.128.3"), (True, "10.9.0.3")):
        settings = RehearsalSettings()
        places = Places(
            str(tmp_path),
            actors,
            settings,
            python="python",
            network="10.9",
            env={},
            in_containers=in_containers,
        )
        for pod in (0, 1):
            places.assign_address(pod)
            places.resolvable.add(pod)
        places.write_hosts()
        lines = (tmp_path / "hosts1").read_text(encoding="utf-8").splitlines()
        (line,) = [line for line in lines if "door" in line.split()]
        assert line.split()[0] == address
        assert places.config(0, 0.0, "log")["service_address"] == f"{address}/16"
        assert places.config(1, 0.0, "log")["service_address"] is None
