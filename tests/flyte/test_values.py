"""Inputs that are times, files and tables, and return values."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ptcompile import flyte
from ptcompile.flyte import run
from ptcompile.flyte.launch import input_text, result_problems

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def stand_in(name: str, module: str) -> type:
    return type(
        name, (), {"__module__": module, "__init__": lambda self, path: setattr(self, "path", path)}
    )


FlyteFile: Any = stand_in("FlyteFile", "flytekit.types.file.file")
DataFrame: Any = stand_in("DataFrame", "pandas.core.frame")
Schema: Any = stand_in("FlyteSchema", "flytekit.types.schema.types")


class Mode(Enum):
    FAST = "fast"


class Out(NamedTuple):
    loss: float
    rank: int


@dataclass
class Sample:
    file: Any
    at: datetime


Sample.__annotations__ = {"file": FlyteFile, "at": datetime}


@pytest.mark.parametrize(
    ("text", "hint", "value"),
    [
        ("2026-05-01", datetime, datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-05-01T12:00:00", datetime, NOON),
        ("2026-05-01 12:00:00", datetime, NOON),
        ("2026-05-01T14:00:00+02:00", datetime, NOON),
        ("2026-05-01T12:00:00Z", datetime, NOON),
        ("2026-05-04T12:00:00 - 3 days", datetime, NOON),
        ("2026-05-01T11:30:00 + 30m", datetime, NOON),
        ("2026-05-01", date, date(2026, 5, 1)),
        ("1:24", timedelta, timedelta(seconds=84)),
        (":22", timedelta, timedelta(seconds=22)),
        ("10 days", timedelta, timedelta(days=10)),
        ("1h30m", timedelta, timedelta(minutes=90)),
        ("1w3d2h32m", timedelta, timedelta(seconds=873120)),
        ("2 days, 3:04:05", timedelta, timedelta(seconds=183845)),
        ("5 hr, 10 mins", timedelta, timedelta(seconds=18600)),
        ("2:04:13:02.266", timedelta, timedelta(seconds=187982.266)),
        ("-1:10", timedelta, timedelta(seconds=-70)),
        ("null", datetime | None, None),
        ("2026-05-01T12:00:00", datetime | None, NOON),
        ('["2026-05-01"]', list[date], [date(2026, 5, 1)]),
        ('[90, "1m"]', list[timedelta], [timedelta(seconds=90), timedelta(seconds=60)]),
    ],
)
def test_times_are_read_as_pyflyte_run_does(text: str, hint: Any, value: Any) -> None:
    """flytekit 1.16, interaction/click_types.py and pytimeparse 1.1; in Flyte's pods a datetime is in UTC."""
    assert run.value_of(text, hint) == value


@pytest.mark.parametrize(
    ("text", "hint", "why"),
    [
        (
            "now",
            datetime,
            "is 'now', which each process would read from its own clock; write the time",
        ),
        ("today - 1 day", date, "is 'today', which each process"),
        ("May 1", datetime, "is not a datetime, such as 2026-05-01 or 2026-05-01T12:00:00"),
        ("90", timedelta, "is not a timedelta, such as 90s"),
        ("2026-05-01 - soon", datetime, "is not a timedelta"),
        ("", FlyteFile, "is not the path or the URL of a FlyteFile"),
        (
            "flyte://v1/x",
            FlyteFile,
            "is a flyte:// address, which only Flyte can read; pass the URL of",
        ),
        ("[1]", list[FlyteFile], "[0] is not the path or the URL of a FlyteFile"),
        ("s3://b/x", Schema, "is a FlyteSchema, which only Flyte can pass"),
    ],
)
def test_other_values_are_rejected(text: str, hint: Any, why: str) -> None:
    with pytest.raises(run.TaskCallError) as caught:
        run.value_of(text, hint)
    assert str(caught.value).startswith(why)


def test_files_and_tables_are_references_until_the_pod_reads_them() -> None:
    assert run.value_of("s3://b/x", FlyteFile) == run.StoredValue(FlyteFile, "s3://b/x")
    assert run.value_of("null", FlyteFile | None) is None
    sample = run.value_of('{"file": {"path": "/data/x"}, "at": "2026-05-01T12:00:00"}', Sample)
    assert (sample.file, sample.at) == (run.StoredValue(FlyteFile, "/data/x"), NOON)


def test_an_image_without_flytekit_cannot_read_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("flytekit", "flytekit.core.context_manager"):
        monkeypatch.setitem(sys.modules, module, None)
    value = run.StoredValue(FlyteFile, "x")
    for argument in (value, [value], {"a": value}, Sample(value, NOON)):
        with pytest.raises(run.TaskCallError, match="as a FlyteFile: the image has no flytekit"):
            run.load_stored(argument)


def test_a_data_frame_of_pandas_is_read_by_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = type(sys)("pandas")
    pandas.read_csv = lambda uri: ("csv", uri)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    assert run.load_stored(run.value_of("s3://b/x.csv", DataFrame)) == ("csv", "s3://b/x.csv")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (NOON, "2026-05-01T12:00:00+00:00"),
        (timedelta(minutes=1.5), "90.000000s"),
        (Mode.FAST, "fast"),
        (FlyteFile("s3://b/x"), "s3://b/x"),
        ({"a": FlyteFile("s3://b/x")}, '{"a": "s3://b/x"}'),
        (run.StoredValue(FlyteFile, "s3://b/x"), "s3://b/x"),
    ],
)
def test_python_values_become_the_text_of_an_input(value: Any, text: str) -> None:
    assert input_text(value) == text


def trains(data: FlyteFile, when: datetime) -> None: ...


trains.__annotations__ = {"data": FlyteFile, "when": datetime, "return": None}


def test_a_relative_path_is_a_warning() -> None:
    task = flyte.task(trains, task_config=flyte.Elastic(), container_image="a/b:1")
    result = task.compile("train", inputs={"data": "x.csv", "when": NOON})
    assert result.ok
    (warning,) = [item for item in result.diagnostics if item.severity == "warning"]
    assert warning.message == (
        "inputs.data: x.csv is a path in the container's working directory, while Flyte uploads the file that is here"
    )
    mounted = task.compile("train", inputs={"data": "/data/x.csv", "when": NOON})
    assert not [item for item in mounted.diagnostics if item.severity == "warning"]
    assert "when=2026-05-01T12:00:00+00:00" in mounted.yaml()


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (0.5, "0.5"),
        (Out(0.5, 1), '{"loss": 0.5, "rank": 1}'),
        ((0.5, [1]), "[0.5, [1]]"),
        (Sample(FlyteFile("/w"), NOON), '{"file": "/w", "at": "2026-05-01T12:00:00+00:00"}'),
    ],
)
def test_the_process_of_rank_0_prints_the_result(
    result: Any,
    text: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "out" / "result.json"
    monkeypatch.setenv("RANK", "1")
    run.report_result(result, str(file))
    assert capsys.readouterr().out == ""
    assert not file.exists()
    monkeypatch.setenv("RANK", "0")
    run.report_result(result, None)
    run.report_result(result, str(file))
    assert capsys.readouterr().out == f"{text}\n{text}\n"
    assert json.loads(file.read_text("utf-8")) == json.loads(text)


def test_what_is_not_json_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    run.report_result(object(), None)
    run.report_result(None, None)
    out, err = capsys.readouterr()
    assert (out, err) == ("", "the return value is not printed: an object is not JSON\n")


STORED = "Flyte stores what the function returns"
LOST = "the returned FlyteFile stays in the pod and is lost with it: Flyte stores it, a job has nowhere to"


def returning(hint: Any) -> Callable[[], Any]:
    def function() -> None: ...

    function.__annotations__ = {"return": hint}
    return function


@pytest.mark.parametrize(
    ("hint", "file", "severity", "message"),
    [
        (float, None, "note", f"{STORED}; here the process of rank 0 prints it as JSON"),
        (
            Out,
            "/r",
            "note",
            f"{STORED}; here the process of rank 0 prints it as JSON and writes it to /r",
        ),
        (FlyteFile, None, "warning", LOST),
        (tuple[int, FlyteFile], None, "warning", LOST),
        (
            Schema,
            None,
            "warning",
            "the returned FlyteSchema is lost: Flyte stores it, and JSON cannot express it",
        ),
        (None, "/r", "warning", "the function returns nothing to write"),
    ],
)
def test_each_type_of_result_has_its_note(
    hint: Any, file: str | None, severity: str, message: str
) -> None:
    (problem,) = result_problems(returning(hint), file)
    assert (problem.severity, problem.message.partition(": ")[2]) == (severity, message)
    assert result_problems(returning(None), None) == []
