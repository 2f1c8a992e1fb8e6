"""The runner: it finds and unwraps a task, gives its function typed inputs, and exits as the function does."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Optional, Union

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel

from ptcompile import flyte
from ptcompile.flyte import run
from ptcompile.flyte.launch import input_text
from tests.flyte.making import forgetting

ROOT = Path(__file__).parents[2]
OLD_OPTIONAL: Any = Optional[int]  # noqa: UP045  as in code for Python 3.9
OLD_UNION: Any = Union[str, int]  # noqa: UP007


@dataclass
class Schedule:
    warmup: int
    decay: float = 0.5


@dataclass
class Optim:
    lr: float
    betas: list[float] = field(default_factory=list)
    schedule: Schedule | None = None

    def __post_init__(self) -> None:
        if self.lr < 0:
            raise ValueError(f"lr {self.lr}")


class Model(BaseModel):
    layers: int


class Mode(Enum):
    FAST = "fast"
    SLOW = 2


class FlyteFile:
    """A stand-in for flytekit's class."""


@dataclass
class Bundle:
    file: FlyteFile


@pytest.mark.parametrize(
    ("text", "hint", "value"),
    [
        ("7", int, 7),
        ("-7", int, -7),
        ("1e-4", float, 1e-4),
        ("3", float, 3.0),
        ("07", str, "07"),
        ("", str, ""),
        ("yes", bool, True),
        ("False", bool, False),
        ("0", bool, False),
        ("null", OLD_OPTIONAL, None),
        ("5", int | None, 5),
        ("5", int | str, 5),
        ("five", OLD_UNION, "five"),
        ("[0.1, 2]", list[float], [0.1, 2.0]),
        ('["a", "b c"]', list[str], ["a", "b c"]),
        ("[[1], []]", list[list[int]], [[1], []]),
        ('{"a": 1}', dict[str, int], {"a": 1}),
        ('{"a": [1, null]}', dict, {"a": [1, None]}),
        ("[null, 1]", list[int | None], [None, 1]),
        ('{"lr": 1}', Optim, Optim(1.0)),
        (
            '{"lr": 0.1, "betas": [0.9], "schedule": {"warmup": 5}}',
            Optim,
            Optim(0.1, [0.9], Schedule(5)),
        ),
        ('[{"warmup": 1}]', list[Schedule], [Schedule(1)]),
        ('{"layers": 2}', Model, Model(layers=2)),
        ("fast", Mode, Mode.FAST),
        ("2", Mode, Mode.SLOW),
        ('["fast", 2]', list[Mode], [Mode.FAST, Mode.SLOW]),
        ("7", Any, 7),
        ("seven", Any, "seven"),
    ],
)
def test_strings_are_parsed_by_type(text: str, hint: Any, value: object) -> None:
    made = run.value_of(text, hint)
    assert (made, type(made)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "hint", "why"),
    [
        ("7.5", int, "is not an int"),
        ("hunter2", float, "is not a float"),
        ("maybe", bool, "is not a bool"),
        ("x", int | None, "is not an int | None"),
        ("[1", list[int], "is not JSON, as a list[int] must be"),
        ("{}", list[int], "is not a list[int] in JSON"),
        ("[]", dict[str, int], "is not a dict[str, int] in JSON"),
        ("[1, true]", list[int], "[1] is not an int"),
        ('{"a": "1"}', dict[str, int], "['a'] is not an int"),
        ('{"lr": 1, "momentum": 2}', Optim, "is not an Optim, which has no field 'momentum'"),
        ("{}", Optim, "is not an Optim, which has a field 'lr'"),
        ("[]", Schedule, "is not a Schedule in JSON, an object with warmup, decay"),
        ('{"lr": 0.1, "schedule": {"warmup": "x"}}', Optim, ".schedule is not a Schedule | None"),
        ('{"warmup": "x"}', Schedule, ".warmup is not an int"),
        ('{"lr": -1}', Optim, "is not an Optim: ValueError"),
        ('{"layers": "hunter2"}', Model, "is not a Model: ValidationError"),
        ("medium", Mode, "is none of fast, 2"),
        (
            "s3://b/x",
            FlyteFile,
            "is a FlyteFile, which only Flyte can pass; declare a str and pass a path or URL",
        ),
        (
            "[]",
            list[FlyteFile],
            "is a FlyteFile, which only Flyte can pass; declare a str and pass a path or URL",
        ),
        (
            '{"file": "s3://b/x"}',
            Bundle,
            ".file is a FlyteFile, which only Flyte can pass; declare a str and pass a path or URL",
        ),
        (
            "1",
            "Later",
            "is a Later, which is undefined at run time; import it outside TYPE_CHECKING",
        ),
    ],
)
def test_invalid_values_are_rejected_without_quoting_them(text: str, hint: Any, why: str) -> None:
    with pytest.raises(run.TaskCallError) as caught:
        run.value_of(text, hint)
    assert str(caught.value) == why
    assert "hunter2" not in why


VALUES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (int, st.integers()),
    (float, st.floats(allow_nan=False)),
    (bool, st.booleans()),
    (str, st.text()),
    (list[str], st.lists(st.text())),
    (dict[str, list[int]], st.dictionaries(st.text(), st.lists(st.integers()))),
    (float | None, st.none() | st.floats(allow_nan=False)),
    (Schedule, st.builds(Schedule, st.integers(), st.floats(allow_nan=False))),
    (list[Mode], st.lists(st.sampled_from(Mode))),
]


@pytest.mark.parametrize(("hint", "values"), VALUES, ids=[str(hint) for hint, _ in VALUES])
def test_a_value_as_text_reads_back(hint: Any, values: st.SearchStrategy[Any]) -> None:
    @given(values)
    def check(value: Any) -> None:
        assert run.value_of(input_text(value), hint) == value

    check()


def test_all_wrong_arguments_are_reported_together() -> None:
    def train(epochs: int, lr: float, name: str = "a", *more: int, **others: int) -> None: ...

    values, wrong = run.parse_arguments(train, {"lr": "x", "nmae": "b"})
    assert values == {}
    assert wrong == {
        "nmae": "unknown input; the function has epochs, lr, name",
        "epochs": "is missing, an int",
        "lr": "is not a float",
    }
    assert run.parse_arguments(train, {"lr": "1", "epochs": "2"}) == ({"lr": 1.0, "epochs": 2}, {})


def test_the_file_has_no_dependencies() -> None:
    text = Path(run.__file__).read_text("utf-8")
    tree = ast.parse(text, feature_version=(3, 9))
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= {*sys.stdlib_module_names, "flytekit"}, (
        "flytekit reads inputs of flytekit's own types"
    )
    assert "flytekit" not in {getattr(node, "module", "") for node in tree.body}


@pytest.fixture(autouse=True)
def _forget(tmp_path: Path) -> Iterator[None]:
    with forgetting(tmp_path):
        yield


def test_a_task_is_found_by_file_by_module_and_in_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "acme_pkg" / "jobs"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "trains.py").write_text(
        "class Box:\n    @staticmethod\n    def go(): ...\ndef go(): ...\n"
    )
    monkeypatch.chdir(tmp_path)
    by_file = run.load_task(f"{package / 'trains.py'}:go")
    assert by_file.__module__ == "acme_pkg.jobs.trains"
    assert run.load_task("acme_pkg.jobs.trains:go") is by_file
    assert run.load_task("acme_pkg.jobs.trains:Box.go").__qualname__ == "Box.go"


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("train.py", "'train.py' does not name a task: write FILE.py:TASK or MODULE:TASK"),
        ("nowhere.py:go", "no such file: nowhere.py"),
        ("no_such_module_here:go", "no module 'no_such_module_here' in "),
        ("json.py:dumps", "json.py: module name 'json' is already taken by "),
        ("json:nothing", "json has no 'nothing'"),
    ],
)
def test_missing_tasks_are_rejected(
    target: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("def dumps(): ...\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(run.TaskCallError) as caught:
        run.load_task(target)
    assert str(caught.value).startswith(why)


def test_a_failed_import_inside_a_module_is_not_hidden(tmp_path: Path) -> None:
    (tmp_path / "wants.py").write_text("import no_such_module_here\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_here"):
        run.load_task(f"{tmp_path / 'wants.py'}:go")


def test_only_training_tasks_are_unwrapped() -> None:
    def go() -> None: ...

    plain = SimpleNamespace(execution_mode=SimpleNamespace(name="DEFAULT"), task_function=go)
    assert run.function_of(plain, "t") is go
    assert run.function_of(flyte.task(go), "t") is go
    assert run.function_of(go, "t") is go
    dynamic = SimpleNamespace(execution_mode=SimpleNamespace(name="DYNAMIC"), task_function=go)
    with pytest.raises(run.TaskCallError, match="t is a dynamic task, which"):
        run.function_of(dynamic, "t")
    with pytest.raises(run.TaskCallError, match="t is not a task but a dict"):
        run.function_of({}, "t")


TASKS = """
import os, sys
from ptcompile import flyte

@flyte.task(task_config=flyte.Elastic())
def train(epochs: int, name: str = "x"):
    print(repr(epochs), name, sys.argv[1:], __name__)

@flyte.task()
async def later(n: int):
    print("later", n)

@flyte.task()
def fails():
    raise OSError("the disk is full")

@flyte.task()
def leaves():
    sys.exit(7)

class IgnoreOutputs(Exception): ...
IgnoreOutputs.__module__ = "flytekit.core.base_task"

@flyte.task()
def ignored():
    raise IgnoreOutputs

if __name__ == "__main__":
    print("this module was run, and not imported")
"""


def started(
    folder: Path, *words: str, script: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """Start the runner as a pod does, in a folder with the tasks."""
    (folder / "hello.py").write_text(TASKS)
    start = [str(script)] if script else ["-m", "ptcompile.flyte.run"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    command = [sys.executable, *start, *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=environment
    )


def test_the_function_is_called_with_its_inputs(tmp_path: Path) -> None:
    for target in ("hello:train", "hello.py:train"):
        done = started(tmp_path, target, "--input", "epochs=7", "--input", "name=a=b")
        assert (done.returncode, done.stdout) == (0, "7 a=b [] hello\n"), done.stderr
    assert started(tmp_path, "hello:later", "--input", "n=1").stdout == "later 1\n"


def test_a_copy_of_the_file_does_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "mounted"
    folder.mkdir()
    copy = folder / "run.py"
    copy.write_text(Path(run.__file__).read_text("utf-8"))
    done = started(tmp_path, "hello:train", "--input", "epochs=7", script=copy)
    assert (done.returncode, done.stdout) == (0, "7 x [] hello\n"), done.stderr


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("hello:train",), 2, "python -m ptcompile.flyte.run: input epochs: is missing, an int\n"),
        (("hello:train", "--input", "epochs"), 2, "--input epochs: write NAME=VALUE\n"),
        (("hello:flyte",), 2, "hello:flyte is not a task but a module\n"),
        (("hello:fails",), 1, "OSError: the disk is full\n"),
        (("hello:leaves",), 7, ""),
        (("hello:ignored",), 0, ""),
    ],
)
def test_the_exit_status_is_that_of_the_function(
    words: tuple[str, ...], status: int, message: str, tmp_path: Path
) -> None:
    done = started(tmp_path, *words)
    assert done.returncode == status
    assert done.stderr.endswith(message)
    assert done.stdout == ""


def test_torchrun_gets_the_error(tmp_path: Path) -> None:
    file = tmp_path / "error.json"
    assert started(tmp_path, "hello:fails", TORCHELASTIC_ERROR_FILE=str(file)).returncode == 1
    message = json.loads(file.read_text("utf-8"))["message"]
    assert message["message"] == "OSError: the disk is full"
    assert "in fails" in message["extraInfo"]["py_callstack"]
    assert message["extraInfo"]["timestamp"].isdigit()
