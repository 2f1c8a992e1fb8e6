"""The operator for Airflow, run by real Airflow and its Kubernetes hooks against the API server on loopback."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.adapters.fake_api import FakeApi

pytest.importorskip("airflow.providers.cncf.kubernetes")

from airflow.exceptions import TaskDeferred
from airflow.providers.cncf.kubernetes.hooks.kubernetes import AsyncKubernetesHook, KubernetesHook
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException

from ptcompile.adapters.airflow import PtcompileOperator, PtcompileTrigger

OPERATORS = ["job", "pytorchjob", "volcano", "jobset", "trainjob"]
SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: sft}
spec: {image: "registry.example.com/x:1", script: train.py, nodes: 2, resources: {cpu: 1, memory: 1Gi}}
"""


class Ti(SimpleNamespace):
    """The parts of a task instance that the operator uses."""

    def xcom_push(self, key: str, value: Any) -> None:
        self.pushed = {**getattr(self, "pushed", {}), key: json.loads(json.dumps(value))}


def context(try_number: int = 1) -> Any:
    return {
        "ti": Ti(
            dag_id="My DAG",
            task_id="train_it",
            run_id="manual__2026",
            try_number=try_number,
            map_index=-1,
        )
    }


@pytest.fixture(autouse=True)
def _connection(fake: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Define Airflow's connection `kubernetes_default` with a kubeconfig that names the server."""
    cluster = {"name": "c", "cluster": {"server": fake.url}}
    linked = {"name": "x", "context": {"cluster": "c", "user": "u"}}
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "x", "clusters": [cluster], "contexts": [linked],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }  # fmt: skip
    extra = {"kube_config": json.dumps(config)}
    monkeypatch.setenv(
        "AIRFLOW_CONN_KUBERNETES_DEFAULT", json.dumps({"conn_type": "kubernetes", "extra": extra})
    )
    monkeypatch.setattr(
        KubernetesHook, "get_connection", classmethod(lambda _cls, _id: _with_extra(extra))
    )

    async def extras(_self: Any) -> Any:
        return extra

    monkeypatch.setattr(AsyncKubernetesHook, "get_conn_extras", extras)


def _with_extra(extra: Any) -> Any:
    from airflow.models.connection import Connection

    return Connection(conn_id="kubernetes_default", conn_type="kubernetes", extra=json.dumps(extra))


def operator(**given: Any) -> Any:
    return PtcompileOperator(task_id="train_it", poll_interval=0.01, **{"spec": SPEC, **given})


def deferred(op: Any, **given: Any) -> TaskDeferred:
    with pytest.raises(TaskDeferred) as raised:
        op.execute(context(**given))
    return raised.value


def event_of(trigger: Any) -> Any:
    """Return the triggerer's first event, from a trigger rebuilt from its serialized form."""
    path, kwargs = json.loads(json.dumps(trigger.serialize()))
    module, _, name = path.rpartition(".")
    made = getattr(sys.modules[module], name)(**kwargs)
    assert isinstance(made, PtcompileTrigger)

    async def first() -> Any:
        return await anext(made.run())

    return asyncio.run(first()).payload


@pytest.mark.parametrize("target", OPERATORS)
def test_a_deferred_task_runs_from_start_to_end(
    target: str, fake: FakeApi, capsys: pytest.CaptureFixture[str]
) -> None:
    op = operator(target=target)
    waiting = deferred(op)
    fake.ends = True
    event = event_of(waiting.trigger)
    assert event["state"] == "succeeded"
    getattr(op, waiting.method_name)(context(), event)
    logged = capsys.readouterr().out
    assert logged.count("[node 0] ") == 2
    assert "épilogue" in logged


def test_the_end_of_a_pod_is_an_event(fake: FakeApi) -> None:
    waiting = deferred(operator(spec=SPEC.replace("nodes: 2, ", ""), target="pod"))
    fake.ends = True
    assert event_of(waiting.trigger)["state"] == "succeeded"


def test_names_are_unique_per_try_and_labels_are_per_task(fake: FakeApi) -> None:
    first, again = deferred(operator(target="jobset")), deferred(operator(target="jobset"))
    assert first.trigger.job == again.trigger.job
    assert fake.names("jobsets") == [first.trigger.job["name"]]  # found again, not created twice
    assert first.trigger.job["name"].startswith("train-it-")
    labels = fake.only("jobsets")["metadata"]["labels"]
    assert labels["airflow.apache.org/dag_id"] == "my-dag"
    other = deferred(operator(target="jobset"), try_number=2)
    assert other.trigger.job["name"] != first.trigger.job["name"]
    named = deferred(operator(target="jobset", run_name="mine"))
    assert named.trigger.job == {"target": "jobset", "namespace": "default", "name": "mine"}


@pytest.mark.parametrize("target", OPERATORS)
def test_a_failed_job_fails_the_task_with_its_reason(target: str, fake: FakeApi) -> None:
    op = operator(target=target)
    waiting = deferred(op)
    fake.ends = False
    event = event_of(waiting.trigger)
    with pytest.raises(AirflowException, match="failed: Broken"):
        op.execute_complete(context(), event)


def test_a_job_that_was_deleted_fails_the_task(fake: FakeApi) -> None:
    op = operator(target="jobset")
    waiting = deferred(op)
    fake.objects.clear()
    with pytest.raises(AirflowException, match="Deleted: the job was deleted before its end"):
        op.execute_complete(context(), event_of(waiting.trigger))


def test_without_deferring_the_operator_waits_on_the_worker(fake: FakeApi) -> None:
    op, airflow_context = operator(target="job", deferrable=False), context()
    fake.ends = True
    op.execute(airflow_context)
    assert airflow_context["ti"].pushed["job"]["kind"] == "Job"
    assert airflow_context["ti"].pushed["job"]["namespace"] == "default"


def test_on_kill_deletes_the_job(fake: FakeApi) -> None:
    op = operator(target="trainjob")
    op.on_kill()
    deferred(op)
    op.on_kill()
    assert fake.objects == {}
    assert fake.deletions[0][1] == "Foreground"
    op.on_kill()


def test_a_spec_that_does_not_compile_fails_without_a_retry(fake: FakeApi) -> None:
    with pytest.raises(AirflowFailException, match="PTC"):
        operator(spec=SPEC.replace("nodes: 2", "nodes: two")).execute(context())
    assert fake.asked == []


def test_a_dag_file_can_be_read_and_serialized(tmp_path: Path) -> None:
    """Airflow reads the file, renders the spec's template and serializes the task."""
    (tmp_path / "dag.py").write_text(
        "from airflow.sdk import DAG\n"
        "from ptcompile.adapters.airflow import PtcompileOperator\n"
        "with DAG('training', schedule=None) as dag:\n"
        f"    PtcompileOperator(task_id='t', spec={SPEC.replace('train.py', '{{ params.x }}.py')!r}, target='job')\n",
        encoding="utf-8",
    )
    code = (
        "import runpy\n"
        "dag = runpy.run_path('dag.py')['dag']\n"
        "task = dag.get_task('t')\n"
        "task.render_template_fields({'params': {'x': 'tune'}})\n"
        "assert 'script: tune.py' in task.spec, task.spec\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_import_does_not_contact_a_cluster(tmp_path: Path) -> None:
    code = (
        "import socket\n"
        "def refuse(*_): raise AssertionError('a connection')\n"
        "socket.socket.connect = refuse\n"
        "import ptcompile.adapters.airflow as module\n"
        "module.PtcompileOperator(task_id='t', spec='x')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
