"""The container back end: the commands for docker and podman, and pods in a real engine if one answers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ptcompile.rehearsal import RehearsalError, RehearsalSettings
from ptcompile.rehearsal.backends import open_ground
from ptcompile.rehearsal.cast import cast
from ptcompile.rehearsal.containers import Containers, Engine, find_engine
from tests.rehearsal.engines import fake_engine, python_image, received_commands
from tests.rehearsal.jobs import C10D, job, read_log

IMAGE = "ptcompile-test-of-rehearsals:1"
ACTORS = tuple(actor._replace(image=IMAGE) for actor in cast(job(C10D), max_processes=1).actors)
KILLED = 128 + 9


def config(
    tmp_path: Path, *argv: str, pod: int = 0, network: str = "10.77", **more: Any
) -> dict[str, Any]:
    folder = tmp_path / f"pod{pod}"
    folder.mkdir(exist_ok=True)
    (tmp_path / "hosts").write_text(f"127.0.0.1 localhost\n{network}.0.5 zero\n{network}.0.6 one\n")
    return {
        "address": f"{network}.0.{pod + 5}/16", "hostname": f"host-{pod}", "folder": str(folder), "hold": 0.0,
        "directory": str(folder), "log": str(folder / "log"), "files": {"/etc/hosts": str(tmp_path / "hosts")},
        "argv": list(argv), "mounts": [], "shm": 64 << 20, "memory": None,
        "env": {"ONLY": "this"}, "image": IMAGE, **more,
    }  # fmt: skip


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    programs = fake_engine(tmp_path)
    (programs / "images").write_text(IMAGE)
    monkeypatch.setenv("PATH", str(programs))
    return programs


def opened(tmp_path: Path) -> Containers:
    (tmp_path / "job").mkdir(exist_ok=True)
    engine = find_engine()
    assert engine is not None
    return Containers(str(tmp_path / "job"), engine, [IMAGE])


def ended(stage: Containers, *pods: int) -> dict[int, int]:
    counts: dict[int, int] = {}
    until = time.monotonic() + 60
    while not set(pods) <= counts.keys():
        assert time.monotonic() < until, counts
        counts.update(stage.exits())
        time.sleep(0.05)
    return counts


def run_words(docker: Path) -> list[str]:
    return next(words for words in received_commands(docker) if words[0] == "run")


def test_the_first_engine_that_answers_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker, podman = fake_engine(tmp_path), fake_engine(tmp_path, "podman", "4.3.1 rootless=true")
    monkeypatch.setenv("PATH", f"{docker}:{podman}")
    assert find_engine() == Engine("docker", "20.10", f"{os.getuid()}:{os.getgid()}")
    (docker / "info").write_text("")
    assert find_engine() == Engine("podman", "4.3.1", "0:0", is_rootless=True)
    monkeypatch.setenv("PATH", "")
    assert find_engine() is None


@pytest.mark.parametrize(
    ("name", "option"), [("docker", "inhibit_ipv4=true"), ("podman", "--disable-dns")]
)
def test_the_network_has_no_way_out_and_no_way_to_this_machine(
    name: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = fake_engine(tmp_path, name)
    (programs / "images").write_text(IMAGE)
    (programs / "taken").write_text("10.77.0.0/16 10.78.0.0/16")
    monkeypatch.setenv("PATH", str(programs))
    stage = opened(tmp_path)
    stage.close()
    assert stage.network == "10.79"
    made = [words for words in received_commands(programs) if words[:2] == ["network", "create"]][
        -1
    ]
    assert "--internal" in made
    assert any(option in word for word in made)


def test_a_pod_has_its_name_address_folder_and_no_privileges(docker: Path, tmp_path: Path) -> None:
    stage = opened(tmp_path)
    stage.start(
        1, config(tmp_path, "python", "train.py", pod=1, env={"TOKEN": "s3cret", "TWO": "a\nb"})
    )
    assert ended(stage, 1) == {1: 0}
    words = run_words(docker)
    assert {
        "--ip=10.77.0.6",
        "--hostname=host-1",
        "--read-only",
        "--cap-drop=ALL",
        "--pull=never",
    } <= set(words)
    assert {
        f"--volume={tmp_path}/pod1:{tmp_path}/pod1",
        f"--volume={tmp_path}/hosts:/etc/hosts:ro",
    } <= set(words)
    assert words[-3:] == ["--entrypoint=python", IMAGE, "train.py"]
    assert not any(
        "s3cret" in word for word in words
    )  # the process list would show them to every user
    variables = next(word for word in words if word.startswith("--env-file=")).partition("=")[2]
    assert Path(variables).read_text() == "TOKEN=s3cret\n"
    assert "--env=TWO=a\nb" in words
    stage.close()


def test_a_late_pod_sleeps_in_its_container(docker: Path, tmp_path: Path) -> None:
    stage = opened(tmp_path)
    stage.start(0, config(tmp_path, "python", "x.py", hold=20.0))
    ended(stage, 0)
    stage.close()
    assert run_words(docker)[-7:] == [
        "--entrypoint=sh",
        IMAGE,
        "-c",
        'sleep "$0" && exec "$@"',
        "20.0",
        "python",
        "x.py",
    ]


def test_volumes_and_limits_are_the_engine_s(docker: Path, tmp_path: Path) -> None:
    stage = opened(tmp_path)
    mounts = [
        {"path": "/ckpt", "top": "/home/me/ckpt", "below": ".", "is_read_only": False},
        {"path": "/data", "top": "/home/me", "below": "data", "is_read_only": True},
    ]
    stage.start(0, config(tmp_path, "python", mounts=mounts, shm=96 << 20, memory=3 << 30))
    ended(stage, 0)
    assert stage.limits_memory
    assert not stage.ran_out_of_memory(0)
    assert stage.training_pods() is None
    stage.close()
    words = run_words(docker)
    for word in (
        "--volume=/home/me/ckpt:/ckpt", "--volume=/home/me/data:/data:ro", f"--shm-size={96 << 20}",
        f"--memory={3 << 30}", f"--memory-swap={3 << 30}",
    ):  # fmt: skip
        assert word in words


def test_an_engine_without_root_limits_no_memory(docker: Path, tmp_path: Path) -> None:
    (docker / "info").write_text("20.10 [name=rootless]")
    stage = opened(tmp_path)
    stage.start(0, config(tmp_path, "python", memory=3 << 30))
    ended(stage, 0)
    stage.close()
    assert not stage.limits_memory
    assert not any(word.startswith("--memory") for word in run_words(docker))


def test_the_working_directory_of_the_image_is_kept(docker: Path, tmp_path: Path) -> None:
    stage = opened(tmp_path)
    stage.start(0, config(tmp_path, "python", directory=None))
    ended(stage, 0)
    stage.close()
    assert not any(word.startswith("--workdir") for word in run_words(docker))


def test_a_container_that_does_not_start_is_reported(docker: Path, tmp_path: Path) -> None:
    (docker / "exit").write_text("125")
    (docker / "says").write_text("docker: no space left")
    stage = opened(tmp_path)
    stage.start(0, config(tmp_path, "python"))
    with pytest.raises(
        RehearsalError, match="docker could not start the container of pod 0: docker: no space left"
    ):
        ended(stage, 0)
    stage.close()


def test_remaining_containers_are_removed_at_the_end(docker: Path, tmp_path: Path) -> None:
    stage = opened(tmp_path)
    (docker / "containers").write_text("abc def")
    stage.close()
    assert ["rm", "--force", "--volumes", "abc", "def"] in received_commands(docker)
    assert received_commands(docker)[-1] == ["network", "rm", "job"]


def test_a_missing_image_is_not_pulled(docker: Path, tmp_path: Path) -> None:
    (docker / "images").write_text("")
    with (
        pytest.raises(RehearsalError, match=f"docker has no image {IMAGE}: pull it, or name"),
        open_ground(str(tmp_path), RehearsalSettings(image=IMAGE), ACTORS),
    ):
        pass


def test_an_image_without_torch_is_reported(docker: Path, tmp_path: Path) -> None:
    (docker / "exit").write_text("1")
    with (
        pytest.raises(RehearsalError, match=f"python in the image {IMAGE} has no torch"),
        open_ground(str(tmp_path), RehearsalSettings(image=IMAGE), ACTORS),
    ):
        pass
    assert received_commands(docker)[-1][:2] == ["network", "rm"]


@pytest.fixture
def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(folder: str) -> None:
        raise RehearsalError(
            "this machine does not allow the namespaces that a rehearsal needs: no"
        )

    monkeypatch.setattr("ptcompile.rehearsal.backends.Namespaces", never)


@pytest.mark.usefixtures("no_namespaces")
def test_without_namespaces_pods_are_containers_of_their_own_image(
    docker: Path, tmp_path: Path
) -> None:
    (docker / "says").write_text("2.13.0")
    with open_ground(str(tmp_path), RehearsalSettings(), ACTORS) as on:
        assert (on.python, on.torch, on.engine, on.env) == ("python", "2.13.0", "docker 20.10", {})


@pytest.mark.usefixtures("no_namespaces")
def test_without_any_back_end_the_error_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with (
        pytest.raises(
            RehearsalError,
            match=r"this machine .*: no; neither docker nor podman answers in its place",
        ),
        open_ground(str(tmp_path), RehearsalSettings(), ACTORS),
    ):
        pass


def test_an_image_needs_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with (
        pytest.raises(RehearsalError, match="an image needs docker or podman, and neither answers"),
        open_ground(str(tmp_path), RehearsalSettings(image=IMAGE), ACTORS),
    ):
        pass


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = find_engine()
    if engine is None:
        pytest.skip("neither docker nor podman answers")
    python_image(engine, tmp_path_factory.mktemp("image"), IMAGE)
    try:
        engine.run("run", "--rm", "--network=none", IMAGE, "python", "-c", "")
    except RehearsalError as error:
        pytest.skip(f"{engine.name} runs no container here: {error}")
    yield engine
    engine.run("rmi", "--force", IMAGE)


@pytest.fixture
def stage(real: Engine, tmp_path: Path) -> Iterator[Containers]:
    made = Containers(str(tmp_path), real, [IMAGE])
    yield made
    made.close()


def run(stage: Containers, tmp_path: Path, script: str) -> str:
    stage.start(0, config(tmp_path, "python", "-c", script, network=stage.network))
    assert ended(stage, 0) == {0: 0}, read_log(tmp_path)
    return read_log(tmp_path).strip()


def test_a_pod_has_its_own_name_and_is_process_one(stage: Containers, tmp_path: Path) -> None:
    script = "import os, socket; print(os.getpid(), socket.gethostname(), os.environ['ONLY'], os.getcwd())"
    assert run(stage, tmp_path, script) == f"1 host-0 this {tmp_path / 'pod0'}"


def test_only_its_folder_is_writable(stage: Containers, tmp_path: Path) -> None:
    script = (
        "for path in ('/etc/x', '/opt/x', '/etc/hosts'):\n"
        "    try: open(path, 'a'); print('WROTE', path)\n"
        "    except OSError as error: print(error.errno)\n"
        "open('mine', 'w'); open('/dev/shm/mine', 'w'); open('/tmp/mine', 'w')"
    )
    assert run(stage, tmp_path, script).split() == ["30", "30", "30"]
    assert (tmp_path / "pod0" / "mine").exists()


def test_the_network_is_isolated_from_this_machine(stage: Containers, tmp_path: Path) -> None:
    script = (
        "import socket\n"
        f"for where in ('192.0.2.1', '8.8.8.8', '{stage.network}.0.1'):\n"
        "    try: socket.create_connection((where, 9), 2); print('OUT')\n"
        "    except ConnectionRefusedError: print('OUT')\n"
        "    except OSError: print('none')"
    )
    assert run(stage, tmp_path, script).split() == ["none"] * 3


def test_pods_reach_each_other_by_name_and_signals_reach_them(
    stage: Containers, tmp_path: Path
) -> None:
    serve = (
        "import socket, time; s = socket.create_server(('', 5000)); c, who = s.accept()\n"
        "print(who[0], c.recv(9).decode(), flush=True); time.sleep(60)"
    )
    call = (
        "import signal, socket, sys, time; signal.signal(15, lambda *a: sys.exit(7))\n"
        "for _ in range(100):\n"
        "    try: socket.create_connection(('zero', 5000), 5).send(b'hello'); break\n"
        "    except OSError: time.sleep(0.1)\n"
        "open('up', 'w'); time.sleep(60)"
    )
    stage.start(0, config(tmp_path, "python", "-c", serve, network=stage.network))
    stage.start(1, config(tmp_path, "python", "-c", call, pod=1, network=stage.network, hold=0.5))
    until = time.monotonic() + 60
    while not ((tmp_path / "pod1" / "up").exists() and read_log(tmp_path)):
        assert time.monotonic() < until, read_log(tmp_path, 1)
        time.sleep(0.1)
    assert read_log(tmp_path).strip() == f"{stage.network}.0.6 hello"
    stage.signal(1, 15)
    stage.signal(0, 9)
    assert ended(stage, 0, 1) == {0: KILLED, 1: 7}


def _left(engine: Engine, label: str) -> str:
    return engine.run("ps", "--all", "--quiet", "--filter", f"label={label}") + engine.run(
        "network", "ls", "--quiet", "--filter", f"name={label}"
    )


def test_a_killed_rehearsal_leaves_nothing(real: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "ptcompile-test-of-what-is-left"
    folder.mkdir()
    code = (
        "import sys, time\n"
        "from tests.rehearsal.test_containers import IMAGE, Containers, Path, config, find_engine\n"
        f"made = Containers({str(folder)!r}, find_engine(), [IMAGE])\n"
        'waits = \'open("up", "w"); import time; time.sleep(600)\'\n'
        f"made.start(0, config(Path({str(folder)!r}), 'python', '-c', waits, network=made.network))\n"
        "time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2]) as maker:
        try:
            until = time.monotonic() + 60
            while not (folder / "pod0" / "up").exists():
                assert time.monotonic() < until, read_log(folder)
                time.sleep(0.1)
            assert _left(real, folder.name)
        finally:
            maker.kill()
    until = time.monotonic() + 60
    while _left(real, folder.name):
        assert time.monotonic() < until
        time.sleep(0.5)
