"""A TorchX AppDef as a spec. The AppDefs match what the components of TorchX 0.7 return, attribute by attribute."""

from __future__ import annotations

import tomllib
from types import SimpleNamespace
from typing import Any

import pytest

import ptcompile
from ptcompile.adapters.torchx_spec import spec_of
from tests.conftest import ROOT

DDP = (
    "torchrun --rdzv_backend c10d --rdzv_endpoint $${${rank0_env}:=localhost}:29500 --rdzv_id '${app_id}' --nnodes 2 "
    "--nproc_per_node 8 --tee 3 --role '' train.py --epochs 3 --name 'a b'"
)


def app(*args: str, entrypoint: str = "bash", **given: Any) -> Any:
    role = {
        "name": "train",
        "image": "img:1",
        "entrypoint": entrypoint,
        "args": list(args) or ["-c", DDP],
        "env": {"LOGLEVEL": "WARNING"},
        "num_replicas": 2,
        "min_replicas": None,
        "max_retries": 0,
        "retry_policy": SimpleNamespace(value="APPLICATION"),
        "resource": SimpleNamespace(cpu=4, gpu=8, memMB=1000, devices={}),
        "mounts": [],
        **given,
    }
    return SimpleNamespace(name="train", roles=[SimpleNamespace(**role)])


def words(described: Any) -> Any:
    return spec_of(described, "run-1")["spec"]


def test_dist_ddp_is_a_script_with_elastic() -> None:
    assert words(app()) == {
        "image": "img:1",
        "nodes": 2,
        "script": "train.py",
        "args": ["--epochs", "3", "--name", "a b"],
        "elastic": {"nprocPerNode": 8, "rdzvBackend": "c10d"},
        "resources": {"cpu": 4, "memory": "1000M", "gpu": 8},
        "env": {"PET_TEE": "3", "LOGLEVEL": "WARNING"},
    }


def test_torchrun_without_a_number_of_processes_starts_one() -> None:
    fields = words(app("--nnodes=2", "train.py", entrypoint="torchrun"))
    assert fields["elastic"]["nprocPerNode"] == 1


@pytest.mark.parametrize("target", ["job", "pytorchjob", "volcano", "jobset", "trainjob"])
def test_a_torchx_job_compiles_with_the_target_s_rendezvous_address(target: str) -> None:
    result = ptcompile.compile(spec_of(app(), "run-1"), target=target)
    assert result.ok, result.diagnostics
    assert "rank0_env" not in result.yaml()
    assert "29500" not in result.yaml()
    world = ptcompile.simulate(result.yaml())
    assert len(world.pods) == 2
    assert "localhost" not in str([(pod.command, pod.env) for pod in world.pods])


def test_torchrun_s_options_become_elastic_fields() -> None:
    line = (
        DDP.replace("--nnodes 2", "--nnodes 1:4")
        .replace("train.py", "-m pkg.train")
        .replace("--tee 3", "--tee=1")
    )
    line = line.replace("--role", "--max_restarts 2 --rdzv_conf timeout=5,x=y --role")
    fields = words(app("-c", line, num_replicas=4, min_replicas=1))
    assert (fields["module"], fields["nodes"], fields["elastic"]["nnodes"]) == (
        "pkg.train",
        4,
        "1:4",
    )
    assert fields["elastic"]["maxRestarts"] == 2
    assert fields["elastic"]["rdzvConfigs"] == {"timeout": "5", "x": "y"}
    assert fields["env"]["PET_TEE"] == "1"


def test_one_node_has_no_rendezvous() -> None:
    fields = words(app("-c", DDP.replace("--nnodes 2", "--nnodes 1"), num_replicas=1))
    assert "nodes" not in fields
    assert fields["elastic"] == {"nprocPerNode": 8}


def test_other_commands_are_unchanged() -> None:
    fields = words(app("-c", "echo $$HOME ${app_id}", entrypoint="sh", num_replicas=1))
    assert fields["command"] == ["sh", "-c", "echo $HOME run-1"]
    assert "elastic" not in fields


@pytest.mark.parametrize(
    ("policy", "word"), [("APPLICATION", "RestartJob"), ("REPLICA", "RestartPod")]
)
def test_a_retry_policy_becomes_a_run_policy(policy: str, word: str) -> None:
    fields = words(app(max_retries=3, retry_policy=SimpleNamespace(value=policy)))
    assert fields["runPolicy"] == {"backoffLimit": 3, "onPodFailure": word}


def test_unset_resources_are_left_out() -> None:
    nothing = SimpleNamespace(cpu=-1, gpu=-1, memMB=-1, devices={})
    assert "resources" not in words(app(resource=nothing))
    devices = SimpleNamespace(cpu=1, gpu=0, memMB=0, devices={"vpc.amazonaws.com/efa": 4})
    assert words(app(resource=devices))["resources"] == {"cpu": 1, "vpc.amazonaws.com/efa": 4}


def test_mounts_become_volumes() -> None:
    claim = SimpleNamespace(src="data", dst_path="/data", read_only=True)
    bind = SimpleNamespace(src_path="/mnt", dst_path="/scratch", read_only=False)
    device = SimpleNamespace(src_path="/dev/x", dst_path="/dev/x", permissions="rwm")
    fields = words(app(mounts=[claim, bind, device]))
    assert fields["volumes"] == [
        {"name": "mount-0", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "mount-1", "hostPath": {"path": "/mnt"}},
        {"name": "mount-2", "hostPath": {"path": "/dev/x"}},
    ]
    assert fields["volumeMounts"] == [
        {"name": "mount-0", "mountPath": "/data", "readOnly": True},
        {"name": "mount-1", "mountPath": "/scratch"},
        {"name": "mount-2", "mountPath": "/dev/x"},
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"env": {"ID": "${replica_id}"}}, r"env.ID has \$\{replica_id\}"),
        ({"args": ["-c", "echo ${rank0_env}"]}, r"command.2 has \$\{rank0_env\}"),
    ],
)
def test_unsupported_placeholders_are_rejected(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        words(app(**given))


def test_several_roles_are_not_one_job() -> None:
    two = app()
    two.roles *= 2
    with pytest.raises(ValueError, match="an AppDef with 2 roles is not one training job"):
        words(two)


def test_the_package_with_the_entry_point_has_this_version() -> None:
    project = tomllib.loads(
        (ROOT / "integrations" / "torchx" / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    assert project["version"] == ptcompile.__version__
    assert (
        project["entry-points"]["torchx.schedulers"]["ptcompile"]
        == "ptcompile.adapters.torchx:create_scheduler"
    )
