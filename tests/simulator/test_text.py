"""Human-readable output: overview, single pod and env file."""

from __future__ import annotations

from typing import Any

from ptcompile.kubernetes.quantity import parse
from ptcompile.simulator.as_text import env_file, overview, pod_text
from ptcompile.simulator.world import simulate
from tests.simulator.worlds import EVIL, jobset, pod_of, pytorchjob, volcano


def test_wide_roles_are_folded() -> None:
    text = overview(simulate([pytorchjob(255)]))
    assert "llama-worker-1 .. llama-worker-254  likewise" in text
    assert (
        "  llama-worker-0 .. llama-worker-254: as llama-master-0 but RANK=1..255, PET_NODE_RANK=1..255"
        in text
    )
    assert "llama-worker-7" not in text
    assert "  +  RANK                0" in text
    assert "     NCCL_DEBUG          INFO" in text


def test_an_index_that_starts_again_is_not_a_run() -> None:
    assert "JOB_COMPLETION_INDEX=1, 0 .. 1" in overview(simulate([jobset(["torchrun", "t.py"])]))


def test_values_are_printed_with_the_text_as_written() -> None:
    env = [
        {"name": "A", "value": "x"},
        {"name": "B", "value": "$(A)/$(LATER)"},
        {"name": "LATER", "value": "y"},
        {"name": "NS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        {"name": "S", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}},
    ]
    container = {"env": env, "command": ["run", "$(A)"], "args": ["$(S)"]}
    text = pod_text(simulate([pod_of(container)]).pods[0])
    lines = [line.split() for line in text.splitlines()]
    assert ["B", "x/$(LATER)", "written", "$(A)/$(LATER)"] in lines
    assert ["NS", "default", "from", "metadata.namespace"] in lines
    assert "command      run x\n" in text
    assert "as written run '$(A)'" in text
    assert "<secret:hf/token>" in text


def test_the_text_of_a_pod_has_all_its_facts() -> None:
    text = pod_text(simulate([pytorchjob()]).pods[3])
    for line in (
        "Pod/llama-worker-2  (worker 2 of PyTorchJob/llama, namespace research)",
        "    ranks        24 to 31",
        "    endpoint     llama-master-0:23456 (llama-master-0)",
        "  init container init-pytorch",
        "  container pytorch  (trains)",
        "    ports        23456/TCP (pytorchjob-port)",
    ):
        assert line in text


def test_an_env_file_has_the_variables_that_can_be_written() -> None:
    env = [
        {"name": "A", "value": "x #y"},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}},
        {"name": "URL", "value": "https://$(TOKEN)@host"},
        {"name": "LINES", "value": "a\nb"},
        {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "mode"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "A", "value": "last"},
    ]
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings"},
        "data": {"mode": "fast"},
    }
    source = {"secretRef": {"name": "all"}}
    world = simulate([settings, pod_of({"env": env, "envFrom": [source]})])
    assert env_file(world.pods[0]).splitlines() == [
        "# alone: container main of Pod/alone",
        "# all of secret:all",
        "# TOKEN: secret:hf/token",
        "# URL: https://<secret:hf/token>@host",
        "# LINES: 'a\\nb' cannot be written to an env file",
        "MAP=fast",
        "# IP: status.podIP",
        "POD=alone",
        "A=last",
    ]


def test_env_file_knows_volcanos_own_configmap() -> None:
    lines = env_file(simulate([volcano()]).pods.named("vj-worker-1")[0]).splitlines()
    assert "VC_WORKER_HOSTS=vj-worker-0.vj,vj-worker-1.vj" in lines
    assert "RANK=2" in lines


def test_control_sequences_are_escaped() -> None:
    """Every user-chosen string in the manifest contains a control sequence."""
    world = simulate(
        [_poisoned(pytorchjob()), _poisoned(volcano()), _poisoned(pod_of({"env": [{"name": "A"}]}))]
    )
    pods = list(world.pods)
    assert pods
    for text in (
        overview(world),
        *(pod_text(pod) for pod in pods),
        *(env_file(pod) for pod in pods),
    ):
        assert all(line.isprintable() for line in text.split("\n"))
    assert "\\x1b" in overview(world)


def _poisoned(data: Any) -> Any:
    """Append a control sequence to every string except kinds and versions."""
    if isinstance(data, dict):
        kept = ("apiVersion", "kind", "restartPolicy")
        return {k: v if k in kept else _poisoned(v) for k, v in data.items()}
    if isinstance(data, list):
        return [_poisoned(v) for v in data]
    return data + EVIL if isinstance(data, str) and parse(data) is None else data


def test_variables_of_env_from_are_reported_as_unknown() -> None:
    sources = [{"configMapRef": {"name": "train-env"}}, {"secretRef": {"name": "s"}}]
    text = overview(simulate([pod_of({"envFrom": sources, "command": ["x"]})]))
    assert (
        "  envFrom adds the variables of configmap:train-env, secret:s, which only the cluster knows"
        in text
    )
    assert "envFrom" not in overview(simulate([pod_of({"command": ["x"]})]))
