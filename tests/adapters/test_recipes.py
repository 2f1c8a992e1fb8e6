"""The recipes of examples/orchestrators: compiled by the real libraries, run against the API server on loopback."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

import pytest
import yaml

from tests.adapters.fake_api import FakeApi
from tests.conftest import ROOT

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec: {image: "registry.example.com/x:1", script: train.py, nodes: 2, resources: {cpu: 1, memory: 1Gi}}
"""


def recipe(name: str) -> Any:
    """Import a recipe's module, which only defines things."""
    path = ROOT / "examples" / "orchestrators" / f"{name}.py"
    assert (
        20
        <= len([line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()])
        <= 60
    )
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def reached(fake: FakeApi, monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    """Make the client's default configuration point to the server."""
    config = pytest.importorskip("kubernetes.config")

    def load(*_: Any, client_configuration: Any, **__: Any) -> None:
        client_configuration.host = fake.url

    monkeypatch.setattr(config, "load_kube_config", load)
    monkeypatch.setattr(config, "load_incluster_config", load)
    fake.ends = True
    return fake


def test_the_hera_recipe_creates_the_job_and_waits_for_it() -> None:
    pytest.importorskip("hera.workflows")
    made = yaml.safe_load(recipe("hera_workflow").workflow(SPEC, "job").to_yaml())
    train = next(template for template in made["spec"]["templates"] if template["name"] == "train")
    assert [step[0]["template"] for step in train["steps"]] == ["service-0", "job-1"]
    job = next(template for template in made["spec"]["templates"] if template["name"] == "job-1")[
        "resource"
    ]
    assert job["successCondition"] == "status.completionTime"
    assert job["failureCondition"].startswith("status.conditions.0.type == Failed, ")
    assert yaml.safe_load(job["manifest"])["kind"] == "Job"


def test_the_kubeflow_pipelines_recipe_waits_for_the_job(
    reached: FakeApi, capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    pytest.importorskip("kfp")
    from kfp import compiler

    module = recipe("kfp_pipeline")
    compiler.Compiler().compile(module.pipeline, str(tmp_path / "pipeline.yaml"))
    made = yaml.safe_load((tmp_path / "pipeline.yaml").read_text(encoding="utf-8"))
    assert "comp-train" in made["components"]
    assert module.train.python_func(SPEC, "run-7", "team-a", "jobset", 0.01) == "JobSet succeeded"
    assert reached.names("jobsets") == ["run-7"]
    assert "épilogue" in capsys.readouterr().out
    reached.objects.clear()
    reached.ends = False
    with pytest.raises(RuntimeError, match="JobSet run-8 failed: Broken: it broke"):
        module.train.python_func(SPEC, "run-8", "team-a", "jobset", 0.01)


def test_the_dagster_recipe_fails_with_the_job(reached: FakeApi) -> None:
    dagster = pytest.importorskip("dagster")
    module = recipe("dagster_job")
    training = module.Training(target="pytorchjob", poll_interval=0.01)
    done = dagster.materialize([module.model], resources={"training": training})
    assert done.success
    assert [name[:6] for name in reached.names("pytorchjobs")] == ["train-"]
    reached.objects.clear()
    reached.ends = False
    failed = dagster.materialize(
        [module.model], resources={"training": training}, raise_on_error=False
    )
    assert not failed.success


def test_the_prefect_recipe_fails_with_the_job(reached: FakeApi) -> None:
    pytest.importorskip("prefect")
    from prefect.testing.utilities import prefect_test_harness

    module = recipe("prefect_flow")
    with prefect_test_harness(server_startup_timeout=240):
        assert module.train(SPEC, "volcano", "team-a", 0.01) == "succeeded"
        assert [name[:6] for name in reached.names("jobs")] == ["train-"]
        reached.objects.clear()
        reached.ends = False
        with pytest.raises(RuntimeError, match="failed: Broken"):
            module.train(SPEC, "volcano", "team-a", 0.01)


@pytest.mark.parametrize("target", ["job", "jobset", "pytorchjob", "volcano"])
def test_the_asyncio_recipe_watches_the_job(
    fake: FakeApi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    config = pytest.importorskip("kubernetes_asyncio.config")

    async def load(*, client_configuration: Any) -> None:
        client_configuration.host = fake.url

    monkeypatch.setattr(config, "load_kube_config", load)
    fake.ends = True
    status = asyncio.run(recipe("asyncio_status").run(SPEC, target, "train-1"))
    out = capsys.readouterr().out
    states = [line.split()[0] for line in out.splitlines()]
    assert status.state == "succeeded"
    assert states[:2] == ["queued" if target == "volcano" else "created", "succeeded"]
    assert "épilogue" in out
    assert any("watch=True" in path for _, path in fake.asked)
