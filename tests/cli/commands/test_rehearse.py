"""`ptcompile rehearse`: options, output and exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from ptcompile.cli import main
from ptcompile.rehearsal import RehearsalError
from ptcompile.rehearsal.namespaces import Namespaces
from tests.cli.running import here
from tests.making import smallest, text
from tests.rehearsal.jobs import RANGE
from tests.rehearsal.playing import fake_python

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "schemas" / "rehearsal.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def spec(tmp_path: Path) -> str:
    path = tmp_path / "spec.yaml"
    path.write_text(smallest(RANGE), encoding="utf-8")
    return str(path)


@pytest.fixture
def able(tmp_path: Path) -> None:
    try:
        Namespaces(str(tmp_path)).close()
    except RehearsalError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("able")
def test_a_job_that_trains_is_0(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rehearse", spec, "--python", fake_python(tmp_path), "--limit", "60s"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Job/train, target job, PyTorch 2.13.0+fake\n  faults       none\n")
    assert "verdict      passed" in out
    assert "3 of 3 pods run, 3 have met, world 6" in err


@pytest.mark.usefixtures("able")
def test_a_job_that_fails_is_1_and_the_json_says_why(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = fake_python(tmp_path, status=1)
    assert main(["rehearse", spec, "--python", python, "--format", "json", "--limit", "60s"]) == 1
    report = json.loads(capsys.readouterr().out)
    jsonschema.validate(report, SCHEMA)
    assert (report["verdict"]["claimed"], report["verdict"]["seen"]) == ("all", "fail")
    assert {pod["exit"] for pod in report["pods"]} == {1}


@pytest.mark.usefixtures("able")
def test_a_custom_script_is_judged_by_its_exit_status(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "mine.py"
    script.write_text("print('never run by the fake')")
    assert (
        main(
            [
                "rehearse",
                spec,
                "--python",
                fake_python(tmp_path),
                "--script",
                str(script),
                "--limit",
                "60s",
            ]
        )
        == 0
    )
    assert "a script that checks" not in capsys.readouterr().out


@pytest.mark.usefixtures("able")
def test_the_manifest_s_command_gets_the_simulated_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "image: i\nnodes: 2\nenv: {SAID: hello}\ncommand: [sh, -c, 'echo ValueError: $SAID $MASTER_ADDR $RANK']"
    path = tmp_path / "own.yaml"
    path.write_text(text(body), encoding="utf-8")
    words = [
        "--own-command",
        "--python",
        fake_python(tmp_path),
        "--target",
        "job",
        "--format",
        "json",
    ]
    assert main(["rehearse", str(path), *words, "--limit", "60s"]) == 0
    pods = json.loads(capsys.readouterr().out)["pods"]
    assert [pod["error"] for pod in pods] == [
        f"ValueError: hello train-0.train {rank}" for rank in (0, 1)
    ]


@pytest.mark.usefixtures("able")
def test_faults_of_a_command_that_never_trains_count_from_the_end_of_the_wait(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        text("image: i\nnodes: 2\ncommand: [sh, -c, 'exec sleep $((RANK * 60))']"), encoding="utf-8"
    )
    words = [
        "--own-command",
        "--python",
        fake_python(tmp_path),
        "--kill",
        "1@0.3s",
        "--target",
        "job",
    ]
    main(["rehearse", str(path), *words, "--limit", "6s"])
    out = capsys.readouterr().out
    assert "lost" in out
    assert "3 s after the start: no process group was seen until then" in out


@pytest.mark.usefixtures("able")
def test_faults_count_from_when_the_processes_of_a_command_are_connected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pods connect as gloo does: to the store first, which does not count, and then to each other."""
    script = tmp_path / "group.py"
    script.write_text(_GROUP, encoding="utf-8")
    path = tmp_path / "own.yaml"
    path.write_text(
        text(f"image: i\nnodes: 2\ncommand: [{sys.executable}, {script}]"), encoding="utf-8"
    )
    words = [
        "--own-command",
        "--python",
        fake_python(tmp_path),
        "--kill",
        "1@0.5s",
        "--target",
        "job",
    ]
    main(["rehearse", str(path), *words, "--limit", "60s", "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    jsonschema.validate(report, SCHEMA)
    assert report["training"]["sign"] == "connections"
    assert 2 < report["training"]["seconds"] < 25
    assert [pod["lost"] for pod in report["pods"]] == [False, True]


_GROUP = """
import os, socket, time
rank, port = int(os.environ["RANK"]), int(os.environ["MASTER_PORT"])
def connect(number):
    if rank == 0:
        return socket.create_server(("", number)).accept()
    while True:
        try:
            return socket.create_connection((os.environ["MASTER_ADDR"], number), 5)
        except OSError:
            time.sleep(0.1)
store = connect(port)
time.sleep(2)
pair = connect(port + 1)
time.sleep(3)
"""


@pytest.mark.usefixtures("able")
def test_a_script_may_say_itself_that_it_trains_and_its_logs_and_files_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    python = fake_python(tmp_path)
    Path(python).write_text(
        Path(python)
        .read_text()
        .replace("deadline =", "open(os.environ['PTCOMPILE_TRAINING_FILE'], 'w')\ndeadline =")
    )
    script.write_text("# PTCOMPILE_TRAINING_FILE", encoding="utf-8")
    (tmp_path / "helper.py").touch()
    path = tmp_path / "spec.yaml"
    path.write_text(smallest(RANGE), encoding="utf-8")
    words = [
        "--script",
        str(script),
        "--python",
        python,
        "--kill",
        "1@0.2s,back=0.2s",
        "--limit",
        "60s",
    ]
    main(["rehearse", str(path), *words, "--keep-logs", str(tmp_path / "logs")])
    out = capsys.readouterr().out
    assert "the script of each pod had created its PTCOMPILE_TRAINING_FILE" in out
    assert "files next to train.py come along" in out
    assert "ValueError: not the first" in (tmp_path / "logs" / "pod0.log").read_text()


def test_help_shows_the_forms_of_faults() -> None:
    from ptcompile.cli import build_parser
    from ptcompile.rehearsal import FORMS

    actions = build_parser("rehearse")._option_string_actions
    faults = {name: form for name, form in FORMS.items() if name != "dns-lag"}
    assert {name: actions[f"--{name}"].metavar for name in faults} == faults


WRONG: list[tuple[list[str], str]] = [
    (["--kill", "x"], "write POD[@TIME][,back=TIME]"),
    (["--limit", "soon"], "not a time such as 20s"),
    (["--target", "slurm"], "no target 'slurm'"),
    (["--script", "/no/such/file.py"], "no such file"),
    (["--python", "/no/such/python"], "program /no/such/python not found"),
    (["--mount", "ckpt"], "write CLAIM=DIR, such as checkpoints=./ckpt"),
    (["--mount", "ckpt=/no/such/folder"], "no folder /no/such/folder"),
    (["--mount", "ckpt=/"], "no training pod mounts a claim ckpt"),
    (["--kill", "9"], "no pod 9 to kill: 3 pods train, counted from 0"),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_wrong_usage_is_2(
    words: list[str], message: str, spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = [] if "--python" in words else ["--python", fake_python(tmp_path)]
    ran = here(capsys, "rehearse", spec, *python, *words)
    assert ran.status == 2
    assert message in ran.err


def test_a_spec_that_does_not_compile_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(smallest("nodes: many"), encoding="utf-8")
    assert main(["rehearse", str(path), "--python", fake_python(tmp_path)]) == 1
    assert "PTC023" in capsys.readouterr().err


def test_two_jobs_are_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.yaml"
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: a, image: i}]}\n"
    path.write_text(f"{pod % 'a'}---\n{pod % 'b'}", encoding="utf-8")
    assert main(["rehearse", str(path), "--python", fake_python(tmp_path)]) == 2
    assert "one job at a time: found Pod/a, Pod/b" in capsys.readouterr().err


def _until(there: Callable[[], bool]) -> None:
    limit = time.monotonic() + 30
    while not there():
        assert time.monotonic() < limit
        time.sleep(0.1)


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_behind(
    number: signal.Signals, spec: str, tmp_path: Path
) -> None:
    python = fake_python(tmp_path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    Path(python).write_text(
        Path(python)
        .read_text()
        .replace('not os.path.exists(os.path.join(here, "finish"))', "True"),
        encoding="utf-8",
    )
    words = [sys.executable, "-m", "ptcompile", "rehearse", spec, "--python", python]
    env = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(
        words, env=env, cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        _until(lambda: any(scratch.glob("*/pod2/address")))
        process.send_signal(number)
        assert process.wait(20) == 128 + number
        assert process.stderr is not None
        assert (
            b"interrupted: all pods are ended and their folders are removed"
            in process.stderr.read()
        )
    assert list(scratch.iterdir()) == []
    assert tempfile.gettempdir() != str(scratch)
    left = subprocess.run(
        ["pgrep", "-f", python], capture_output=True, text=True, check=False
    ).stdout
    assert left == ""


def test_each_missing_module_has_its_own_line(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The script's modules and torch are looked for before any pod starts."""
    script = tmp_path / "train.py"
    script.write_text("import nowhere\n", encoding="utf-8")
    ran = here(capsys, "rehearse", spec, "--script", str(script), "--python", sys.executable)
    assert (ran.status, ran.out) == (2, "")
    assert "\\n" not in ran.err
    assert f"has no module nowhere, which {script} imports: install it there\n" in ran.err
