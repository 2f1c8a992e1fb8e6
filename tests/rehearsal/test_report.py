"""The text of a rehearsal, and its JSON form."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from ptcompile._internal.schema_files import load
from ptcompile.diagnosis.first import find_origin
from ptcompile.diagnosis.lines import Logs
from ptcompile.rehearsal import report
from ptcompile.rehearsal.cast import cast
from ptcompile.rehearsal.course import Observation, Round, Training
from ptcompile.rehearsal.places import RehearsalSettings
from ptcompile.rehearsal.runner import Rehearsal
from ptcompile.rehearsal.verdict import RehearsalVerdict
from ptcompile.simulator.faults import Fault, Prediction
from ptcompile.simulator.rounds import Step
from tests.rehearsal.jobs import job

SETTINGS = RehearsalSettings("python")
BLIND = SETTINGS._replace(script="own.py")
ENDS = RehearsalVerdict(Prediction("all", "nothing prevents it"), "all", ())
FAILS = RehearsalVerdict(
    Prediction("all", "nothing prevents it"), "fail", ("simulate predicts: success; seen: failure",)
)
KILL, LATE = Fault("kill", 1, 2.5, 8), Fault("late", 1, 20)


def _seen(number: int, **fields: Any) -> Observation:
    joined = Round(time=1.25, rank=number, world=3, nodes=3, group=number, right=True)
    return Observation((joined._replace(world=1), joined), 1, 0, False, None)._replace(**fields)


def _rehearsal(*observations: Observation, **fields: Any) -> Rehearsal:
    played = job("nodes: 3")
    company = cast(played, max_processes=1)
    seen = observations or tuple(_seen(number) for number in range(3))
    return Rehearsal(
        played, tuple(company.actors), (), SETTINGS, "2.13.0", seen, ENDS, ("a script that checks",), 12.44, False,
        None, (), (), (),
    )._replace(**fields)  # fmt: skip


def _labelled(rehearsal: Rehearsal, label: str) -> list[str]:
    """Return the lines of a label."""
    lines = report.text(rehearsal).splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith(f"  {label} ")), None)
    if start is None:
        return []
    rest = lines[start + 1 :]
    more = next((i for i, line in enumerate(rest) if not line.startswith(" " * 15)), len(rest))
    return [line[15:] for line in lines[start : start + 1 + more]]


def test_the_report_names_the_first_cause() -> None:
    logs = Logs()
    logs.read("pod1.log", "[rank1]: CUDA out of memory. Tried to allocate 2.50 GiB.")
    seen = [_seen(number, exit=1) for number in range(3)]
    failed = _rehearsal(*seen, cause=find_origin(logs, tolerates=False))
    place, meaning = _labelled(failed, "first cause")
    assert place == "pod1.log:1, pod pod1, rank 1: cuda-oom"
    assert meaning.startswith("The memory of the GPU is full.")
    assert report.to_dict(failed)["cause"]["message"] == "cuda-oom"
    assert report.to_dict(_rehearsal())["cause"] is None


def test_the_text_of_a_passed_rehearsal_has_its_verdict() -> None:
    lines = report.text(_rehearsal()).splitlines()
    assert lines[:2] == ["Job/train, target job, PyTorch 2.13.0", "  faults       none"]
    rows = [line.split("  ") for line in lines if "train-" in line]
    assert [[cell.strip() for cell in row if cell.strip()] for row in rows][1:2] == [
        ["1 train-1-*****", "1", "1", "3", "3", "1", "0"]
    ]
    assert lines[-4:] == [
        "  simulate     all pods train to completion: nothing prevents it",
        "  seen         all pods train to completion (after 12 s)",
        "  verdict      passed",
        "  stand-ins    a script that checks",
    ]


def test_each_part_has_its_label() -> None:
    rehearsal = _rehearsal(
        faults=(KILL, LATE), skipped=((LATE, "too late"),), events=((3.6, "recreates pod 1"),), hints=("use --scale",),
        settings=SETTINGS._replace(keep_logs="logs"), limited=True,
    )  # fmt: skip
    killed = "pod 1 is killed 2.5 s after all pods train, recreated 8 s later"
    assert _labelled(rehearsal, "faults") == [killed, "pod 1 starts 20 s late"]
    assert _labelled(rehearsal, "not injected") == ["pod 1 starts 20 s late: too late"]
    assert _labelled(rehearsal, "operator") == ["4 s: recreates pod 1"]
    assert _labelled(rehearsal, "hint") == ["use --scale"]
    assert _labelled(rehearsal, "logs") == ["logs"]
    assert _labelled(rehearsal, "seen") == [
        "all pods train to completion (after 12 s, by the time limit)"
    ]


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault("kill", 1, 2), "pod 1 is killed 2 s after all pods train"),
        (Fault("drain", 0, 2, 8), "pod 0 is drained 2 s after all pods train, recreated 8 s later"),
        (Fault("fail-process", 2, 3), "a process of pod 2 fails 3 s after all pods train"),
        (Fault("dns-lag", 0, 9), "the DNS names of pod 0 appear 9 s after its start"),
    ],
)
def test_faults_are_written_as_text(fault: Fault, text: str) -> None:
    assert report.fault_text(fault) == text


def test_a_script_without_reports_trains_since_its_connections() -> None:
    training = Training(3.4, "connections")
    blind = _rehearsal(settings=BLIND, training=training, faults=(KILL,))
    assert _labelled(blind, "train since") == [
        "3 s after the start: the processes of all pods were connected"
    ]
    assert not _labelled(blind._replace(faults=(LATE,)), "train since")  # counts from the start
    assert not _labelled(blind._replace(training=None), "train since")
    assert not _labelled(blind._replace(settings=SETTINGS), "train since")
    for kind in ("drain", "fail-process"):
        assert _labelled(blind._replace(faults=(KILL._replace(kind=kind),)), "train since")


def test_only_several_faults_show_the_steps_of_a_prediction() -> None:
    predicted = Prediction(
        "all", "it recovers", (Step(2, "pod 1 lost"), Step(9.6, "3 of 3 pods train"))
    )
    verdict = ENDS._replace(claimed=predicted)
    lines = _labelled(_rehearsal(verdict=verdict, faults=(KILL, LATE)), "simulate")
    assert lines[1:] == ["after 2 s: pod 1 lost", "after 10 s: 3 of 3 pods train"]
    assert len(_labelled(_rehearsal(verdict=verdict, faults=(KILL,)), "simulate")) == 1


FAILED = _seen(1, exit=1, error="ValueError: nan")


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({}, "passed"),
        ({"verdict": FAILS}, "failed: differs from what simulate predicts"),
        ({"verdict": ENDS._replace(claimed=Prediction("fail", "x"), seen="fail")}, "failed, as simulate predicts"),
        ({"verdict": ENDS._replace(claimed=Prediction(None, "x"), seen="fail")}, "failed"),
        ({"verdict": FAILS, "seen": (_seen(0), FAILED, _seen(2)), "settings": BLIND}, "failed: pod 1: ValueError: nan"),
        ({"verdict": ENDS._replace(seen="fail"), "seen": (_seen(0), FAILED, _seen(2)), "settings": BLIND},
         "failed: pod 1: ValueError: nan"),
        ({"verdict": ENDS._replace(seen="fail"), "settings": BLIND},
         "failed: the script failed after the pods had met"),
        ({"verdict": FAILS, "seen": (_seen(0), FAILED, _seen(2))}, "failed: differs from what simulate predicts"),
        ({"verdict": FAILS, "seen": (_seen(0), FAILED._replace(lost=True), _seen(2)), "settings": BLIND},
         "failed: differs from what simulate predicts"),
        ({"verdict": FAILS, "seen": (_seen(0), _seen(1, exit=None), _seen(2, exit=None)), "settings": BLIND,
          "limited": True}, "failed: pods 1, 2 still ran at the time limit"),
        ({"verdict": FAILS, "seen": (_seen(0), _seen(1, exit=None), _seen(2)), "settings": BLIND},
         "failed: differs from what simulate predicts"),
        ({"verdict": FAILS, "seen": (_seen(0), _seen(1, exit=None), _seen(2)), "limited": True},
         "failed: differs from what simulate predicts, unless this machine needs a longer --limit"),
        ({"verdict": ENDS._replace(seen="fail", machine="pod 1: MemoryError: x")},
         "not decided: this machine ended the rehearsal: pod 1: MemoryError: x"),
    ],
)  # fmt: skip
def test_the_verdict_is_one_sentence(fields: dict[str, Any], verdict: str) -> None:
    assert _labelled(_rehearsal(**fields), "verdict") == [verdict]


@pytest.mark.parametrize(
    ("observation", "cells"),
    [
        (
            _seen(1, exit=3, starts=2, error="ValueError: x"),
            ["1", "1", "3", "3", "2", "3", "ValueError: x"],
        ),
        (_seen(1, exit=None), ["1", "1", "3", "3", "1", "running"]),
        (_seen(1, exit=None, lost=True), ["1", "1", "2", "3", "1", "lost"]),
        (_seen(1, exit=137, lost=True), ["1", "1", "2", "3", "1", "lost"]),
        (_seen(1, rounds=()), ["1", "-", "3", "-", "1", "0"]),
    ],
)
def test_the_report_has_a_row_for_each_pod(observation: Observation, cells: list[str]) -> None:
    (row,) = (
        line
        for line in report.text(_rehearsal(_seen(0), observation, _seen(2))).splitlines()
        if " train-1-" in line
    )
    assert [cell.strip() for cell in row.split("  ") if cell.strip()][1:] == cells


def test_json_follows_its_schema_with_seconds_rounded_to_tenths() -> None:
    rehearsal = _rehearsal(
        faults=(KILL,), skipped=((LATE, "too late"),), events=((3.64, "recreates pod 1"),),
        training=Training(3.44, "rounds"), settings=SETTINGS._replace(mounts={"data": "/d"}),
    )  # fmt: skip
    data = json.loads(json.dumps(report.to_dict(rehearsal)))
    jsonschema.validate(data, load("rehearsal.schema.json"))
    assert (data["seconds"], data["training"]["seconds"], data["events"][0]["seconds"]) == (
        12.4,
        3.4,
        3.6,
    )
    assert data["version"] == 1
    assert data["limited"] is False
    assert data["mounts"] == {"data": "/d"}
    assert data["verdict"]["passed"] is True
    pod = data["pods"][1]
    assert (pod["name"], pod["index"], pod["rank"], pod["processes"]) == (
        "train-1-*****",
        1,
        "1",
        1,
    )
    assert [joined["time"] for joined in pod["rounds"]] == [1.2, 1.2]
    assert data["skipped"][0]["why"] == "too late"
    assert report.to_dict(_rehearsal())["training"] is None
