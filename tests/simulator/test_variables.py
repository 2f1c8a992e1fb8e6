"""Variables from ConfigMaps: of the stream, and of the operator."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ptcompile import lint
from ptcompile.simulator.rendezvous import can_rendezvous, job_rendezvous
from ptcompile.simulator.world import World, simulate
from tests.linter.rules.launch.making import Json, container, jobset, names, role
from tests.linter.rules.launch.test_meeting import MEETING

COMMAND = [
    "torchrun",
    "--nnodes=$(NNODES)",
    "--rdzv-backend=c10d",
    "--rdzv-endpoint=$(MASTER):29400",
    "t.py",
]
VALUES = {"NNODES": "2", "MASTER": "train-node-0-0.train"}


def configmap(namespace: str = "default", **data: Any) -> Json:
    metadata = {"name": "settings", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def from_map(prefix: str = "") -> Json:
    return {
        "envFrom": [{"configMapRef": {"name": "settings"}} | ({"prefix": prefix} if prefix else {})]
    }


def from_keys() -> Json:
    keys = [
        {"name": name, "valueFrom": {"configMapKeyRef": {"name": "settings", "key": name}}}
        for name in VALUES
    ]
    return {"env": keys}


def written() -> Json:
    return {"env": [{"name": name, "value": value} for name, value in VALUES.items()]}


def can_meet(world: World) -> bool | None:
    (job,) = world.jobs
    rendezvous = job_rendezvous(job)
    assert rendezvous is not None
    return can_rendezvous(job, rendezvous)


@pytest.mark.parametrize("fields", [from_map(), from_keys(), written()])
def test_a_value_counts_wherever_it_is_written(fields: Json) -> None:
    manifest = jobset(role(*COMMAND, **fields))
    assert can_meet(simulate([manifest, configmap(**VALUES)])) is True
    assert names(manifest, others=[manifest, configmap(**VALUES)]) & MEETING == set()


@pytest.mark.parametrize("fields", [from_map(), from_keys()])
@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"NNODES": "8"}, "too-few-pods"),
        ({"MASTER": "train-gone-0-0.train"}, "unresolvable-endpoint"),
    ],
)
def test_a_wrong_value_is_found(fields: Json, changed: Json, rule: str) -> None:
    manifest, settings = jobset(role(*COMMAND, **fields)), configmap(**{**VALUES, **changed})
    assert names(manifest, others=[manifest, settings]) & MEETING == {rule}
    assert can_meet(simulate([manifest, settings])) is not True


def test_a_prefix_belongs_to_the_name() -> None:
    command = [word.replace("$(", "$(JOB_") for word in COMMAND]
    (pod, *_) = simulate([jobset(role(*command, **from_map("JOB_"))), configmap(**VALUES)]).pods
    assert pod.variables["JOB_NNODES"] == "2"
    assert pod.command is not None
    assert pod.command[1] == "--nnodes=2"
    assert "JOB_NNODES" not in pod.env  # the pod has no entry of that name


def test_an_entry_replaces_what_envfrom_gives_and_may_refer_to_it() -> None:
    entries = [{"name": "NNODES", "value": "3"}, {"name": "SIZE", "value": "$(MASTER)/$(NNODES)"}]
    manifest = jobset(role(*COMMAND, **from_map(), env=entries))
    (pod, *_) = simulate([manifest, configmap(**VALUES)]).pods
    assert (pod.variables["NNODES"], pod.variables["SIZE"]) == ("3", "train-node-0-0.train/3")


@pytest.mark.parametrize(
    "settings", [configmap("elsewhere", **VALUES), configmap(NNODES=2, MASTER=["a"])]
)
def test_a_text_that_no_file_of_the_namespace_has_stays_unknown(settings: Json) -> None:
    (pod, *_) = simulate([jobset(role(*COMMAND, **from_keys())), settings]).pods
    assert pod.variables["NNODES"] == "<configmap:settings/NNODES>"


def test_a_secret_of_a_configmap_is_masked() -> None:
    token = "hf_" + "a1B2c3D4e5" * 4
    data = {"NNODES": "2", "API_TOKEN": token, "MASTER": f"https://u:{token}@gone"}
    command = [word.replace("$(MASTER)", "$(API_TOKEN)") for word in COMMAND]
    for words in (command, COMMAND):
        manifest = jobset(role(*words, **from_map()))
        stream = [manifest, configmap(**data)]
        assert token not in str(simulate(stream).to_dict())
        assert token not in str(
            [diagnostic.to_dict() for diagnostic in lint(yaml.safe_dump_all(stream)).diagnostics]
        )


def test_volcano_names_the_hosts_of_other_tasks() -> None:
    line = 'torchrun --nnodes=2 --rdzv-backend=c10d --rdzv-endpoint="${VC_LEAD_0_HOSTS:-localhost}:29400" t.py'
    tasks = [
        {
            "name": name,
            "replicas": 1,
            "template": {"spec": {"containers": [container(["bash", "-c", line])]}},
        }
        for name in ("lead-0", "lead-1")
    ]
    metadata, spec = {"name": "train"}, {"minAvailable": 2, "plugins": {"svc": []}, "tasks": tasks}
    job: Json = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": metadata,
        "spec": spec,
    }
    assert can_meet(simulate([job])) is True
    assert names(job) & MEETING == set()
