"""`ptcompile krm` inside the real Kustomize of kubectl, helm 4 and kpt: the plugins in integrations/ (.ci/krm)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.cli.running import ROOT, Ran

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata:
  name: {name}
spec:
  image: ghcr.io/acme/llama:2.1
  script: train.py
  nodes: {nodes}
"""
PROFILE = """\
apiVersion: ptcompile/v1
kind: ClusterProfile
metadata:
  name: cluster
spec:
  queueSystem: kueue
  defaults: {queue: research}
"""


def tool(name: str) -> str:
    """Return the path of a tool. Skips the test without it, except in the job that installs it."""
    path = shutil.which(name)
    if path is None and name not in os.environ.get("REQUIRED_TOOLS", "").split():
        pytest.skip(f"{name} is not installed")
    assert path is not None
    return path


def run(folder: Path, *words: str, env: Mapping[str, str] | None = None) -> Ran:
    """Run a tool in a folder, with `ptcompile` on its path."""
    commands = folder / "bin"
    commands.mkdir(exist_ok=True)
    command = commands / "ptcompile"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m ptcompile "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    variables = {
        **os.environ,
        "PATH": f"{commands}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        **(env or {}),
    }
    done = subprocess.run(
        words, capture_output=True, text=True, cwd=folder, env=variables, timeout=120, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def kustomize(folder: Path, kustomization: str) -> Ran:
    """Run `kubectl kustomize` with our plugins."""
    (folder / "kustomization.yaml").write_text(kustomization, encoding="utf-8")
    plugins = {"KUSTOMIZE_PLUGIN_HOME": str(ROOT / "integrations" / "kustomize")}
    return run(folder, tool("kubectl"), "kustomize", "--enable-alpha-plugins", ".", env=plugins)


def kinds(text: str) -> list[str]:
    return sorted(item["kind"] for item in yaml.safe_load_all(text))


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Return a folder with a spec and a profile."""
    (tmp_path / "job.yaml").write_text(SPEC.format(name="llama", nodes=2), encoding="utf-8")
    (tmp_path / "cluster.yaml").write_text(PROFILE, encoding="utf-8")
    return tmp_path


def test_kustomize_generates_manifests(jobs: Path) -> None:
    ran = kustomize(jobs, "generators: [job.yaml]\nnamespace: research\n")
    assert (ran.status, kinds(ran.out)) == (0, ["Job", "Service"])
    assert all(item["metadata"]["namespace"] == "research" for item in yaml.safe_load_all(ran.out))


def test_kustomize_compiles_a_resource_under_its_prefixed_name(jobs: Path) -> None:
    """Transformers run after namePrefix, so the addresses that the pods meet at have the prefix too."""
    ran = kustomize(jobs, "resources: [job.yaml]\nnamePrefix: dev-\ntransformers: [cluster.yaml]\n")
    assert ran.status == 0, ran.err
    job = next(item for item in yaml.safe_load_all(ran.out) if item["kind"] == "Job")
    assert (
        "--master-addr=dev-llama-0.dev-llama"
        in job["spec"]["template"]["spec"]["containers"][0]["command"]
    )
    assert job["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "research"}


def test_kustomize_stops_at_an_error(jobs: Path) -> None:
    (jobs / "job.yaml").write_text(SPEC.format(name="llama", nodes="two"), encoding="utf-8")
    ran = kustomize(jobs, "generators: [job.yaml]\n")
    assert (ran.status, ran.out) == (1, "")
    assert "error[PTC023 spec-wrong-type]: spec.nodes: 'two' is not a whole number" in ran.err


def test_kustomize_stops_at_a_generated_job_that_a_prefix_breaks(jobs: Path) -> None:
    (jobs / "check.yaml").write_text(PROFILE, encoding="utf-8")
    ran = kustomize(jobs, "generators: [job.yaml]\nnamePrefix: dev-\ntransformers: [check.yaml]\n")
    assert ran.status == 1
    assert "nothing answers to llama-0.llama: the job is named dev-llama" in ran.err


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """Return a folder with a chart of one spec and one ConfigMap."""
    templates = tmp_path / "chart" / "templates"
    templates.mkdir(parents=True)
    (tmp_path / "chart" / "Chart.yaml").write_text(
        "apiVersion: v2\nname: chart\nversion: 0.1.0\n", encoding="utf-8"
    )
    nodes = "{{ .Values.nodes | default 2 }}"
    (templates / "job.yaml").write_text(
        SPEC.format(name="{{ .Release.Name }}", nodes=nodes), encoding="utf-8"
    )
    config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata: {a: b}\n"
    (templates / "settings.yaml").write_text(config_map, encoding="utf-8")
    return tmp_path


def helm(folder: Path, *words: str) -> Ran:
    """Run `helm template` with our post-renderer."""
    plugins = folder / "plugins"
    if not plugins.exists():
        shutil.copytree(ROOT / "integrations" / "helm", plugins / "ptcompile")
    return run(
        folder, tool("helm"), "template", "llama", "chart", "--post-renderer", "ptcompile", *words,
        env={"HELM_PLUGINS": str(plugins), "HELM_CACHE_HOME": str(folder), "HELM_CONFIG_HOME": str(folder)},
    )  # fmt: skip


def test_helm_renders_manifests(chart: Path) -> None:
    ran = helm(chart)
    assert (ran.status, kinds(ran.out)) == (0, ["ConfigMap", "Job", "Service"])
    assert ran.out.count("# Source: chart/templates/job.yaml") == 2


def test_helm_passes_arguments_on(chart: Path) -> None:
    ran = helm(chart, "--post-renderer-args", "--target", "--post-renderer-args", "jobset")
    assert (ran.status, kinds(ran.out)) == (0, ["ConfigMap", "JobSet"])


@pytest.mark.skipif(
    sys.platform != "linux", reason="Helm discards standard error, and only /proc leads around it"
)
def test_helm_stops_at_an_error_and_shows_it(chart: Path) -> None:
    ran = helm(chart, "--set", "nodes=two")
    assert (ran.status, ran.out) == (1, "")
    assert "error[PTC023 spec-wrong-type]: spec.nodes: 'two' is not a whole number" in ran.err
    assert "--> TrainingJob/llama in chart/templates/job.yaml:8:10" in ran.err


def test_kpt_replaces_specs_and_keeps_results(jobs: Path) -> None:
    package = jobs / "package"
    package.mkdir()
    (jobs / "job.yaml").rename(package / "job.yaml")
    words = (
        tool("kpt"),
        "fn",
        "eval",
        "package",
        "--exec",
        "ptcompile krm",
        "--fn-config",
        "cluster.yaml",
    )
    ran = run(jobs, *words)
    assert ran.status == 0, ran.err
    assert kinds("---\n".join(path.read_text(encoding="utf-8") for path in package.iterdir())) == [
        "Job",
        "Service",
    ]
    for path in package.iterdir():
        path.unlink()
    (package / "job.yaml").write_text(SPEC.format(name="llama", nodes="two"), encoding="utf-8")
    ran = run(jobs, *words, "--results-dir", "results")
    assert ran.status == 1
    results = yaml.safe_load((jobs / "results" / "results.yaml").read_text(encoding="utf-8"))
    (result,) = results["items"][0]["results"]
    assert (result["file"], result["tags"]["code"]) == ({"path": "job.yaml"}, "PTC023")
