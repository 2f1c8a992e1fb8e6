"""The recorder, against a stand-in for kubectl: it keeps no state of a cluster, and plays one written life of a Job."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import yaml

import ptcompile
from ptcompile.kubernetes.unstructured import Json
from tests.cluster import record as recorder
from tests.cluster.runs import Run, compare

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


class StandIn:
    """A stand-in for kubectl that answers with one written life, a step further at each question about pods."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.applied: list[Json] = []
        self.step = 0

    def __call__(self, *args: str, stdin: str | None = None) -> str:
        self.calls.append(" ".join(args))
        if args[0] == "api-resources":
            return "jobs.batch\nservices\n"
        if args[0] == "apply":
            self.applied, self.step = [*yaml.safe_load_all(stdin or "")], 0
            return ""
        if args[0] == "logs":
            return self.log()
        if args[0] == "get":
            return json.dumps({"items": self.items(args[1])})
        return ""

    def items(self, resource: str) -> list[Json]:
        status, phase, state = LIFE[min(self.step, len(LIFE) - 1)]
        job = copy.deepcopy(self.applied[-1])
        if resource != "pods":
            job["metadata"]["uid"] = "j1"
            return [{**job, "status": status}]
        self.step += 1
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
        return [{"kind": "Pod", "metadata": metadata, "status": pod_status}] if phase else []

    def log(self) -> str:
        """Return what the process prints: its environment as the kubelet makes it."""
        (container,) = self.applied[-1]["spec"]["template"]["spec"]["containers"]
        values = {item["name"]: item.get("value", "0") for item in container["env"]}
        lines = [f"{name}={value}" for name, value in {**values, "HOME": "/root"}.items()]
        return "\n".join(["ENV", *lines, "ARGV", *container["command"], "END", ""])


@pytest.fixture
def only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave one job to record."""
    monkeypatch.setattr(recorder, "BODIES", {"one": "nodes: 1\nenv: {A: '1'}"})


def _rows(stand_in: StandIn) -> list[Json]:
    return [*recorder.recorded(stand_in, interval=0)]


@pytest.mark.usefixtures("only_one")
def test_a_run_is_recorded_and_agrees() -> None:
    stand_in = StandIn()
    [row] = _rows(stand_in)
    assert (row["id"], [pod["name"] for pod in row["pods"]]) == ("one-job", ["one-job"])
    assert [entry[-1] for entry in row["timeline"] if entry[1] == "Pod"] == [
        "Pending",
        "Pending pytorch=waiting:ContainerCreating r0",
        "Running pytorch=running r0",
        "Running pytorch=terminated:Completed/0 r0",
        "Succeeded pytorch=terminated:Completed/0 r0",
    ]
    assert len([entry for entry in row["timeline"] if entry[1] == "Job"]) == len(LIFE) - 1
    compared = [*compare(Run(row))]
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
    assert [call for call in stand_in.calls if call.startswith("delete")]


@pytest.mark.usefixtures("only_one")
def test_a_difference_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [row] = _rows(StandIn())
    row["pods"][0]["env"]["A"] = "2"
    row["pods"][0]["labels"]["x"] = "y"
    (tmp_path / "runs.jsonl").write_text(json.dumps(row) + "\n")
    assert recorder.main(["--check", str(tmp_path / "runs.jsonl")]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == [
        "one-job: labels of one-job: x: said None, seen y",
        "one-job: env of one-job: A: said 1, seen 2",
    ]


@pytest.mark.usefixtures("only_one")
def test_a_job_is_deleted_if_the_recording_fails() -> None:
    stand_in = StandIn()

    def failing(*args: str, stdin: str | None = None) -> str:
        if args[0] == "get":
            raise OSError("connection refused")
        return stand_in(*args, stdin=stdin)

    with pytest.raises(OSError, match="refused"):
        list(recorder.recorded(failing))
    assert stand_in.calls[-1].startswith("delete")


def test_every_job_compiles_for_a_target() -> None:
    for name, body in recorder.BODIES.items():
        assert ptcompile.compile(recorder.spec_of(name, body), target="job").ok
