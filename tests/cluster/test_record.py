"""The recorder, against the stand-in for an API server, which plays one written life of a Job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import ptcompile
from tests import recorded
from tests.cluster import record as recorder
from tests.cluster.record import BODIES, installed_targets
from tests.cluster.runs import Run, compare, recorded_runs
from tests.recorded import recording
from tests.recorded.recording import NAMESPACE, Answer, Json, Server
from tests.recorded.stand_in import Answering, Question, serving

JOB = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/one-job"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
VERSIONS = {"kubernetes": "1.36"}

LABELS = {"batch.kubernetes.io/job-name": "one-job", "job-name": "one-job"}
LIFE: tuple[tuple[Json, str, Json], ...] = (
    ({}, "", {}),
    ({"active": 1, "ready": 0, "terminating": 0}, "Pending", {}),
    (
        {"active": 1, "ready": 0, "terminating": 0},
        "Pending",
        {"waiting": {"reason": "ContainerCreating"}},
    ),
    (
        {"active": 1, "ready": 1, "terminating": 0},
        "Running",
        {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
    ),
    (
        {"active": 1, "ready": 0, "terminating": 0},
        "Running",
        {"terminated": {"reason": "Completed", "exitCode": 0}},
    ),
    (
        {"ready": 0, "terminating": 0, "uncountedTerminatedPods": {"succeeded": ["p1"]}},
        "Succeeded",
        {"terminated": {"reason": "Completed", "exitCode": 0}},
    ),
    (
        {
            "ready": 0,
            "succeeded": 1,
            "conditions": [{"type": "Complete", "status": "True", "reason": "Done"}],
        },
        "Succeeded",
        {"terminated": {"reason": "Completed", "exitCode": 0}},
    ),
)
"""Status of the Job, phase of its pod, and state of the container, as one recorded Job had them."""


class Life:
    """The answers of a server with one Job, a step further at each question about pods."""

    def __init__(self) -> None:
        self.step = 0

    def answer(self, question: Question) -> Answer | None:
        path, stored = question.path, question.stored
        if question.method == "POST" and path == JOB:
            self.step = 0
            return Answer(201, self.job(question.body))
        if path == PODS and JOB in stored:
            stored |= self.pods()
            self.step = min(self.step + 1, len(LIFE) - 1)
            stored[JOB] = self.job(stored[JOB])
        if path.endswith("/log"):
            return Answer(200, {}, text=self.log(stored[JOB]))
        return None

    def job(self, manifest: Json) -> Json:
        status, _, _ = LIFE[self.step]
        return {**manifest, "metadata": {**manifest["metadata"], "uid": "j1"}, "status": status}

    def pods(self) -> dict[str, Json]:
        """Return the pods by path. Objects of a list do not say their kind."""
        _, phase, state = LIFE[self.step]
        owner = {"kind": "Job", "name": "one-job", "uid": "j1"}
        container = {"name": "pytorch", "restartCount": 0, "state": state}
        labels = {**LABELS, "controller-uid": "j1"}
        metadata = {
            "name": "one-job-abcde",
            "uid": "p1",
            "labels": labels,
            "ownerReferences": [owner],
        }
        pod_status = {"phase": phase, **({"containerStatuses": [container]} if state else {})}
        pod = {"metadata": metadata, "status": pod_status}
        return {f"{PODS}/one-job-abcde": pod} if phase else {}

    def log(self, job: Json) -> str:
        """Return what the process prints: its environment as the kubelet makes it."""
        (container,) = job["spec"]["template"]["spec"]["containers"]
        values = {item["name"]: item.get("value", "0") for item in container["env"]}
        lines = [f"{name}={value}" for name, value in {**values, "HOME": "/root"}.items()]
        return "\n".join(["ENV", *lines, "ARGV", *container["command"], "END", ""])


@contextmanager
def _cluster(answer: Answering) -> Iterator[Server]:
    """Yield a server with Jobs and no operator."""
    kinds = [
        {"apiVersion": "batch/v1", "kind": "Job"},
        {"apiVersion": "v1", "kind": "Service"},
    ]
    with serving(kinds, answer) as url, recording.connected(url) as server:
        yield server


@pytest.fixture(autouse=True)
def _only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave one job to record."""
    monkeypatch.setattr(recorder, "BODIES", {"one": "nodes: 1\nenv: {A: '1'}"})
    monkeypatch.setattr(recorder, "installed_targets", lambda _: ["job"])


def test_a_run_is_recorded_and_agrees() -> None:
    with _cluster(Life().answer) as server:
        [row] = recorder.recorded_rows(server, interval=0)
        assert server.request("GET", JOB).status == 404
    assert (row["id"], [pod["name"] for pod in row["pods"]]) == ("one-job", ["one-job"])
    assert [entry[-1] for entry in row["timeline"] if entry[1] == "Pod"] == [
        "Pending",
        "Pending pytorch=waiting:ContainerCreating r0",
        "Running pytorch=running r0",
        "Running pytorch=terminated:Completed/0 r0",
        "Succeeded pytorch=terminated:Completed/0 r0",
    ]
    assert len([entry for entry in row["timeline"] if entry[1] == "Job"]) == len(LIFE) - 1
    compared = [*compare(Run(row, VERSIONS))]
    assert {item.what for item in compared} >= {
        "pods",
        "labels",
        "env",
        "argv",
        "ends",
        "conditions",
        "statuses",
    }
    assert [str(item) for item in compared if not item.agrees] == []


def test_a_recording_has_a_header_and_tells_differences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with _cluster(Life().answer) as server:
        [row] = recorder.recorded_rows(server, interval=0)
    row["pods"][0]["env"]["A"] = "2"
    row["pods"][0]["labels"]["x"] = "y"
    monkeypatch.setattr(recorded, "HERE", tmp_path)
    monkeypatch.setattr(recorder, "recorded_rows", lambda _server, image: iter([row]))
    with serving([], lambda _: None) as url:
        arguments = ["cluster/mine", "--server", url, "--release", "jobset=0.12"]
        assert recorder.main(arguments) == 1
    printed = capsys.readouterr().out
    assert printed.splitlines()[:2] == [
        "one-job: labels of one-job: x: said None, seen y",
        "one-job: env of one-job: A: said 1, seen 2",
    ]
    first = recorded.header("cluster/mine")
    assert first["recorder"] == recorder.RECORDER
    assert first["versions"] == {"kubernetes": "1.36", "jobset": "0.12"}
    assert [run.id for run in recorded_runs("cluster/mine")] == ["one-job"]

    assert recorder.main(["cluster/mine", "--check"]) == 1
    assert capsys.readouterr().out == printed


def test_a_job_is_removed_if_the_recording_fails() -> None:
    life = Life()

    def answer(question: Question) -> Answer | None:
        if question.path.endswith("/log"):
            return Answer(403, {"message": "logs are not yours"})
        return life.answer(question)

    with _cluster(answer) as server:
        with pytest.raises(RuntimeError, match="logs are not yours"):
            list(recorder.recorded_rows(server, interval=0))
        assert server.request("GET", JOB).status == 404


def test_a_target_is_installed_if_its_kind_is_served() -> None:
    with _cluster(Life().answer) as server:
        assert installed_targets(server) == ["job", "pod"]


def test_every_job_compiles_for_a_target() -> None:
    for name, body in BODIES.items():
        assert ptcompile.compile(recorder.spec_of(name, body), target="job").ok
