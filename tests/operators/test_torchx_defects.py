"""The eleven defects of TorchX, tested on every target for multi-node jobs.

Source: docs/facts/torchx.md#defects-of-torchx.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.kinds.pods import PodView
from ptcompile.kubernetes.names import is_dns_label, is_label_value
from ptcompile.operators.table import expand
from ptcompile.operators.targets import TARGETS, target_named
from ptcompile.simulator.kubelet import environment, expand_vars
from tests.making import text

SEVERAL = tuple(name for name in TARGETS if name != "pod")
GPU_JOB = "image: img:1\nscript: my-train.py\nnodes: 3\nresources: {cpu: 4, memory: 8Gi, gpu: 2}"
ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.parametrize("target", SEVERAL)


def made(
    body: str, target: str, name: str = "my-train", **cluster: Any
) -> tuple[dict[str, Any], ...]:
    result = ptcompile.compile(text(body, name), target=target, cluster=cluster or None)
    assert result.ok, result.diagnostics
    return result.manifests


def refusals(body: str, target: str, name: str = "train") -> list[tuple[str, str]]:
    result = ptcompile.compile(text(body, name), target=target)
    assert not result.manifests
    return [
        (diagnostic.name, diagnostic.message)
        for diagnostic in result.diagnostics
        if diagnostic.severity == "error"
    ]


def pods(manifests: tuple[dict[str, Any], ...]) -> list[PodView]:
    return [pod for manifest in manifests for pod in expand(manifest, related=manifests).pods]


def containers(target: str, body: str) -> Iterator[dict[str, Any]]:
    for pod in pods(made(body, target)):
        yield next(
            dict(c)
            for c in pod.spec["containers"]
            if c["name"] == target_named(target).main_container
        )


def address(target: str, pod: PodView) -> tuple[str, list[str]]:
    """Return the master address that torchrun gets, and the expanded command line."""
    main = next(c for c in pod.containers if c.name == target_named(target).main_container)
    env = environment(main, pod)
    words = [expand_vars(word, env) for word in main.command or ()]
    options = dict(
        word[2:].split("=", 1) for word in words if word.startswith("--") and "=" in word
    )
    return options.get("master-addr") or env["PET_MASTER_ADDR"], words


def test_a_hyphen_in_a_name_changes_no_address(target: str) -> None:
    """The address is a name of node 0, the script is unchanged, and neither a shell nor a variable is involved.

    Source: defect 1 of docs/facts/torchx.md#defects-of-torchx.
    """
    all_pods = pods(made(GPU_JOB, target))
    for pod in all_pods:
        master, words = address(target, pod)
        assert "my-train.py" in words
        assert not any(re.search(r"[$`]|sh$", word) for word in words)
        assert any(f"{one.dns}.".startswith(f"{master}.") for one in all_pods)


def test_all_workers_meet_the_master(target: str) -> None:
    """All pods use one address, which is never localhost and has no fallback to it.

    Source: defect 2 of docs/facts/torchx.md#defects-of-torchx.
    """
    addresses = {address(target, pod)[0] for pod in pods(made(GPU_JOB, target))}
    assert len(addresses) == 1
    assert "localhost" not in yaml.safe_dump_all(made(GPU_JOB, target))


def test_platform_settings_are_kept_and_lost_fields_reported(target: str) -> None:
    """Defect 3 of docs/facts/torchx.md#defects-of-torchx."""
    taint = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    profile: dict[str, Any] = {"kind": "ClusterProfile", "spec": {"gpu": {"tolerations": [taint]}}}
    for pod in pods(made(GPU_JOB, target, **profile)):
        assert taint in pod.tolerations
    assert (
        refusals(f"{GPU_JOB}\nmetadata: {{kubernetes: overlay.yaml}}", target)[0][0]
        == "spec-unknown-field"
    )


PATCH = "podTemplate: {spec: {containers: [{name: pytorch, %s}]}}"


def test_a_patch_applies_to_its_container_on_every_replica(target: str) -> None:
    """Defect 4 of docs/facts/torchx.md#defects-of-torchx."""
    body = f"{GPU_JOB}\n{PATCH % 'lifecycle: {preStop: {sleep: {seconds: 5}}}'}"
    for pod in pods(made(body, target)):
        assert all(container.get("image") for container in pod.spec["containers"])
        assert [c["name"] for c in pod.spec["containers"]] == [target_named(target).main_container]
    assert all(container["lifecycle"]["preStop"] for container in containers(target, body))


def test_a_patch_adds_a_variable_and_drops_none(target: str) -> None:
    """Defect 5 of docs/facts/torchx.md#defects-of-torchx."""
    body = f"{GPU_JOB}\nenv: {{KEPT: a}}\n{PATCH % 'env: [{name: ADDED, value: b}]'}"
    before = [
        {entry["name"] for entry in container["env"]}
        for container in containers(target, f"{GPU_JOB}\nenv: {{KEPT: a}}")
    ]
    after = [
        {entry["name"] for entry in container["env"]} for container in containers(target, body)
    ]
    assert after == [names | {"ADDED"} for names in before]


def test_each_name_occurs_once(target: str) -> None:
    """Defect 6 of docs/facts/torchx.md#defects-of-torchx."""
    body = f"""{GPU_JOB}
podTemplate:
  spec:
    containers: [{{name: pytorch, volumeMounts: [{{name: dshm, mountPath: /dev/shm}}]}}]
    volumes: [{{name: dshm, emptyDir: {{medium: Memory, sizeLimit: 4Gi}}}}]
"""
    for pod in pods(made(body, target)):
        for kind in ("containers", "volumes"):
            names = [item["name"] for item in pod.spec[kind]]
            assert len(names) == len(set(names))
        main = next(c for c in pod.containers if c.name == target_named(target).main_container)
        assert [m["name"] for m in main.mounts if m["mountPath"] == "/dev/shm"] == ["dshm"]  # noqa: S108
        assert next(v for v in pod.volumes if v["name"] == "dshm")["emptyDir"]["sizeLimit"] == "4Gi"


@pytest.mark.parametrize("word", ["tolerationz: []", "nodeSelectr: {a: b}"])
def test_a_misspelled_field_is_reported(word: str, target: str) -> None:
    """Defect 7 of docs/facts/torchx.md#defects-of-torchx."""
    for body in (word, f"podTemplate: {{spec: {{{word}}}}}"):
        ((name, message),) = refusals(f"{GPU_JOB}\n{body}", target)
        assert name in {"spec-unknown-field", "unknown-field"}
        assert word.partition(":")[0] in message


def _labels(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "labels":
                yield from inner.items()
            yield from _labels(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _labels(inner)


@pytest.mark.parametrize("name", ["exp_", "-r", "a_b", "é", ".r"])
def test_bad_names_are_not_changed(name: str, target: str) -> None:
    """A bad name is rejected instead of being silently replaced.

    Source: defect 8 of docs/facts/torchx.md#defects-of-torchx.
    """
    result = ptcompile.compile(text(GPU_JOB, f"'{name}'"), target=target)
    assert [(diagnostic.name, diagnostic.path) for diagnostic in result.diagnostics] == [
        ("spec-invalid-value", ("metadata", "name"))
    ]
    for manifest in made(GPU_JOB, target):
        assert all(is_label_value(value) for _, value in _labels(manifest))


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (GPU_JOB, "a" * 75),
        (GPU_JOB, "a" * 63),
        (f"{GPU_JOB}\nmasterPort: 99999", "train"),
        ("image: i\nscript: t.py\nelastic: {nnodes: '5:2'}", "train"),
        ("image: i\nscript: t.py\nmaster: {}\nworker: {}\nnodes: 2", "train"),
    ],
)
def test_invalid_values_are_rejected_by_default(body: str, name: str, target: str) -> None:
    """Defect 9 of docs/facts/torchx.md#defects-of-torchx."""
    assert refusals(body, target, name)


def test_pod_names_fit(target: str) -> None:
    """Defect 9 of docs/facts/torchx.md#defects-of-torchx."""
    for pod in pods(made(GPU_JOB, target, "a" * 40)):
        assert is_dns_label(pod.hostname or pod.name)


@pytest.mark.parametrize(
    "body", ["restartPolicy: ROLE", "env: {A: 1}", "env: {A: [x]}", "runPolicy: {backoffLimit: x}"]
)
def test_a_wrong_value_is_a_finding_with_a_location(body: str, target: str) -> None:
    """Defect 10 of docs/facts/torchx.md#defects-of-torchx."""
    result = ptcompile.compile(text(f"{GPU_JOB}\n{body}"), target=target)
    assert [diagnostic.name for diagnostic in result.diagnostics if diagnostic.span is not None]


def test_compiling_needs_only_the_file(tmp_path: Path, target: str) -> None:
    """Compiling needs no daemon, home directory, kubeconfig or network.

    Source: defect 11 of docs/facts/torchx.md#defects-of-torchx.
    """
    (tmp_path / "spec.yaml").write_text(text(GPU_JOB), encoding="utf-8")
    command = [sys.executable, "-m", "ptcompile", "spec.yaml", "--target", target]
    env = {"PYTHONPATH": str(ROOT), "PATH": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(yaml.safe_load_all(done.stdout)) == list(made(GPU_JOB, target, "train"))
