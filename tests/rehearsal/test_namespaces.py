"""The back end of Linux namespaces, with a fake python instead of torchrun."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ptcompile.rehearsal import RehearsalError, RehearsalSettings, fault, rehearse
from ptcompile.rehearsal.inside import is_of_kernel, read_mount
from ptcompile.rehearsal.namespaces import Namespaces
from tests.rehearsal.jobs import RANGE, job, read_log
from tests.rehearsal.playing import fake_python

KILLED = 128 + 9


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Namespaces]:
    try:
        made = Namespaces(str(tmp_path))
    except RehearsalError as error:
        pytest.skip(str(error))
    yield made
    made.close()


def config(tmp_path: Path, script: str, pod: int = 0, **more: Any) -> dict[str, Any]:
    folder = tmp_path / f"pod{pod}"
    folder.mkdir(exist_ok=True)
    (tmp_path / "hosts").write_text("127.0.0.1 localhost\n10.77.0.2 zero\n10.77.0.3 one\n")
    (tmp_path / "nsswitch").write_text("hosts: files\n")
    return {
        "address": f"10.77.0.{pod + 2}/16", "service_address": None, "hostname": f"host-{pod}", "folder": str(folder),
        "hold": 0.0,
        "directory": str(folder), "log": str(folder / "log"),
        "mounts": [], "root": str(tmp_path), "shm": 64 << 20, "memory": None,
        "files": {"/etc/hosts": str(tmp_path / "hosts"), "/etc/nsswitch.conf": str(tmp_path / "nsswitch")},
        "argv": [sys.executable, "-c", script], "env": {"ONLY": "this"}, **more,
    }  # fmt: skip


def wait(stage: Namespaces, *pods: int, limit: float = 20.0) -> dict[int, int]:
    ended: dict[int, int] = {}
    until = time.monotonic() + limit
    while not set(pods) <= ended.keys():
        assert time.monotonic() < until, ended
        ended.update(stage.exits())
        time.sleep(0.05)
    return ended


def run(stage: Namespaces, tmp_path: Path, script: str) -> str:
    stage.start(0, config(tmp_path, script))
    assert wait(stage, 0) == {0: 0}, read_log(tmp_path)
    return read_log(tmp_path).strip()


def test_a_pod_has_its_own_name_environment_and_process_one(
    stage: Namespaces, tmp_path: Path
) -> None:
    script = (
        "import os, socket; print(os.getpid(), socket.gethostname(), dict(os.environ), os.getcwd())"
    )
    outcome = run(stage, tmp_path, script)
    assert outcome.startswith("1 host-0 {'ONLY': 'this'")
    assert outcome.endswith(str(tmp_path / "pod0"))


def test_only_its_folder_is_writable(stage: Namespaces, tmp_path: Path) -> None:
    script = (
        "import os\n"
        f"for path in ('/etc/x', {str(tmp_path / 'x')!r}, '/tmp/ptcompile-x', {str(Path(__file__).parent / 'x')!r}):\n"
        "    try: open(path, 'w'); print('WROTE', path)\n"
        "    except OSError as error: print(error.errno)\n"
        "open('mine', 'w'); open('/dev/shm/mine', 'w'); print(os.listdir('/run'))\n"
        "print(os.system('mount -o remount,rw / 2>/dev/null') != 0)"
    )
    assert run(stage, tmp_path, script).split() == ["30", "30", "30", "30", "[]", "True"]
    assert (tmp_path / "pod0" / "mine").exists()
    assert not Path("/dev/shm/mine").exists()  # noqa: S108


def mounted(
    path: str, top: Path, below: str = ".", *, is_read_only: bool = False
) -> dict[str, Any]:
    return {"path": path, "top": str(top), "below": below, "is_read_only": is_read_only}


def test_a_link_in_a_volume_is_never_followed(stage: Namespaces, tmp_path: Path) -> None:
    """As when a pod puts one into a shared volume after the path was looked at."""
    for name in ("shared", "elsewhere", "root"):
        (tmp_path / name).mkdir()
    (tmp_path / "shared" / "runs").symlink_to(tmp_path / "elsewhere")
    mounts = [mounted("/ptcompile-test-volume", tmp_path / "shared", "runs")]
    stage.start(0, config(tmp_path, "print('ran')", mounts=mounts, root=str(tmp_path / "root")))
    assert wait(stage, 0) == {0: 97}
    assert "Not a directory: 'runs'" in read_log(tmp_path)


def test_mount_points_are_read_as_the_kernel_writes_them() -> None:
    line = "36 35 98:0 / /mnt/a\\040b\\134é rw,noatime master:1 - ext4 /dev/root rw\n".encode()
    assert read_mount(line) == ("/mnt/a b\\é", "rw,noatime")


@pytest.mark.parametrize(("path", "is_of_kernel_"), [
    ("/dev", True), ("/proc", True), ("/sys/fs/cgroup", True), ("/dev/mqueue", True),
    ("/develop", False), ("/sysroot", False), ("/procdata", False), ("/", False),
])  # fmt: skip
def test_only_the_kernel_s_own_mounts_stay_as_they_are(path: str, is_of_kernel_: bool) -> None:
    assert is_of_kernel(path) == is_of_kernel_


def test_volumes_are_mounted_where_the_machine_has_no_folder(
    stage: Namespaces, tmp_path: Path
) -> None:
    """No folder is created on this machine, and everything else is still there, read-only."""
    shared, own, fixed = (tmp_path / name for name in ("shared", "own", "fixed"))
    for folder in (shared, own, fixed, tmp_path / "root"):
        folder.mkdir()
    (fixed / "data").write_text("data")
    base, below = "/ptcompile-test-volume", "/usr/ptcompile-test-volume"
    mounts = [
        mounted(f"{base}/a/b", shared),
        mounted(below, own),
        mounted(f"{base}/fixed", tmp_path, "fixed", is_read_only=True),
    ]
    script = (
        "import os\n"
        f"open('{base}/a/b/x', 'w').write('x'); open('{below}/y', 'w')\n"
        f"print(open('{base}/fixed/data').read(), os.getcwd() == {str(tmp_path / 'pod0')!r})\n"
        "print(os.path.isdir('/usr/bin'))\n"
        f"for path in ('{base}/fixed/z', '{base}/z', '/z', '/usr/z', '/etc/z'):\n"
        "    try: open(path, 'w'); print('WROTE', path)\n"
        "    except OSError as error: print(error.errno)\n"
        "open('mine', 'w'); open('/dev/shm/mine', 'w')"
    )
    stage.start(0, config(tmp_path, script, mounts=mounts, root=str(tmp_path / "root")))
    assert wait(stage, 0) == {0: 0}, read_log(tmp_path)
    assert read_log(tmp_path).split() == ["data", "True", "True", *["30"] * 5]
    assert [path.name for path in (*shared.iterdir(), *own.iterdir(), *fixed.iterdir())] == [
        "x",
        "y",
        "data",
    ]
    assert not Path(base).exists()
    assert not Path(below).exists()


def test_shared_memory_has_the_size_of_the_pod(stage: Namespaces, tmp_path: Path) -> None:
    script = "import os; s = os.statvfs('/dev/shm'); print(s.f_blocks * s.f_frsize >> 20)"
    stage.start(0, config(tmp_path, script, shm=96 << 20))
    assert wait(stage, 0) == {0: 0}, read_log(tmp_path)
    assert read_log(tmp_path).strip() == "96"


def test_a_pod_that_uses_too_much_memory_is_killed(stage: Namespaces, tmp_path: Path) -> None:
    if not stage.limits_memory:
        pytest.skip("no cgroup can be created here")
    stage.start(0, config(tmp_path, "x = bytearray(300 << 20); print(len(x))", memory=150 << 20))
    stage.start(1, config(tmp_path, "x = bytearray(30 << 20)", pod=1, memory=150 << 20))
    statuses = wait(stage, 0, 1)
    assert statuses[0] in (KILLED, 1), "some versions of unshare do not report the signal"
    assert statuses[1] == 0, read_log(tmp_path, 1)
    assert stage.ran_out_of_memory(0)
    assert not stage.ran_out_of_memory(1)


def test_the_network_of_the_job_is_isolated(stage: Namespaces, tmp_path: Path) -> None:
    script = (
        "import socket\n"
        "for where in ('192.0.2.1', '8.8.8.8', '169.254.169.254'):\n"
        "    try: socket.create_connection((where, 80), 1); print('OUT')\n"
        "    except OSError as error: print(error.errno)\n"
        "try: socket.gethostbyname('example.org'); print('OUT')\n"
        "except OSError: print('unknown')"
    )
    assert run(stage, tmp_path, script).split() == [
        "101",
        "101",
        "101",
        "unknown",
    ]  # network is unreachable


def test_pods_reach_each_other_by_name(stage: Namespaces, tmp_path: Path) -> None:
    serve = "import socket; c, who = socket.create_server(('', 5000)).accept(); print(who[0], c.recv(9).decode())"
    call = (
        "import socket, time\n"
        "for _ in range(100):\n"
        "    try: socket.create_connection(('zero', 5000), 5).send(b'hello'); break\n"
        "    except OSError: time.sleep(0.1)"
    )
    stage.start(0, config(tmp_path, serve, 0))
    stage.start(1, config(tmp_path, call, 1))
    assert wait(stage, 0, 1) == {0: 0, 1: 0}, read_log(tmp_path)
    assert read_log(tmp_path).strip() == "10.77.0.3 hello"


def test_a_service_s_address_leads_to_its_pod(stage: Namespaces, tmp_path: Path) -> None:
    serve = "import socket; c, who = socket.create_server(('', 5000)).accept(); print(c.getsockname()[0])"
    call = (
        "import socket, time\n"
        "for _ in range(100):\n"
        "    try: socket.create_connection(('10.77.128.2', 5000), 5); break\n"
        "    except OSError: time.sleep(0.1)"
    )
    stage.start(0, config(tmp_path, serve, 0, service_address="10.77.128.2/16"))
    stage.start(1, config(tmp_path, call, 1))
    assert wait(stage, 0, 1) == {0: 0, 1: 0}, read_log(tmp_path)
    assert read_log(tmp_path).strip() == "10.77.128.2"


def test_a_signal_reaches_the_pod_s_own_process(stage: Namespaces, tmp_path: Path) -> None:
    drained = "import signal, sys, time; signal.signal(15, lambda *a: sys.exit(7)); open('up', 'w'); time.sleep(60)"
    stage.start(0, config(tmp_path, drained, 0))
    stage.start(1, config(tmp_path, "open('up', 'w'); import time; time.sleep(60)", 1))
    until = time.monotonic() + 20
    while not all((tmp_path / f"pod{pod}" / "up").exists() for pod in (0, 1)):
        assert time.monotonic() < until
        time.sleep(0.05)
    stage.signal(0, 15)
    stage.signal(1, 9)
    assert wait(stage, 0, 1) == {0: 7, 1: KILLED}


def test_a_missing_program_gives_an_exit_status(stage: Namespaces, tmp_path: Path) -> None:
    stage.start(0, config(tmp_path, "", argv=["/no/such/program"]))
    assert wait(stage, 0) == {0: 97}
    assert "/no/such/program" in read_log(tmp_path)


MARK = "ptcompile-test-of-what-is-left-running"


def _left() -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and MARK.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return [pid for pid in found if int(pid) != os.getpid()]


def test_nothing_is_left_running(stage: Namespaces, tmp_path: Path) -> None:
    script = f"# {MARK}\nimport os, time; os.fork(); os.fork(); open('up', 'w'); time.sleep(600)"
    stage.start(0, config(tmp_path, script))
    until = time.monotonic() + 20
    while not (tmp_path / "pod0" / "up").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    assert _left()
    stage.close()
    assert _left() == []


def test_a_whole_rehearsal_trains_in_namespaces(stage: Namespaces, tmp_path: Path) -> None:
    """Covers names from Services, the simulated environment, the stand-in's folder, the fault and the end."""
    settings = RehearsalSettings(fake_python(tmp_path), limit=60.0)
    lines: list[str] = []
    faults = [fault("dns-lag", "1s")]
    rehearsal = rehearse(
        job(RANGE), faults, settings=settings, max_processes=2, progress=lines.append
    )
    assert rehearsal.verdict.seen == "all", (rehearsal.seen, rehearsal.verdict)
    assert [[round_.rank for round_ in pod.rounds] for pod in rehearsal.seen] == [
        [0, 1],
        [2, 3],
        [4, 5],
    ]
    assert [pod.exit for pod in rehearsal.seen] == [0, 0, 0]
    assert rehearsal.seen[0].error == "ValueError: not the first, but an error all the same"
    assert any("3 of 3 pods run, 3 have met, world 6" in line for line in lines)


def test_a_killed_rehearsal_ends_its_pods(stage: Namespaces, tmp_path: Path) -> None:
    """If a rehearsal is killed, the kernel ends its namespace, so nothing keeps running."""
    code = (
        "import sys, time\n"
        "from tests.rehearsal.test_namespaces import config, Path\n"
        "from ptcompile.rehearsal.namespaces import Namespaces\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "made = Namespaces(str(folder))\n"
        f"made.start(0, config(folder, '# {MARK}2' + chr(10) + 'import time; open(\"up\", \"w\"); time.sleep(600)'))\n"
        "time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2]) as maker:
        until = time.monotonic() + 30
        while not (tmp_path / "pod0" / "up").exists():
            assert time.monotonic() < until
            time.sleep(0.1)
        maker.kill()
    until = time.monotonic() + 10
    while _left():
        assert time.monotonic() < until, _left()
        time.sleep(0.1)


CONNECTED = """
import os, socket
from ptcompile.rehearsal.stage import connections
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
client = socket.create_connection(("127.0.0.1", port))
accepted, _ = server.accept()
ends = [str(os.fstat(end.fileno()).st_ino) for end in (client, accepted, server)]
for store in (1, port):
    found = connections(os.getpid(), store)
    print([end in found for end in ends])
print(connections(0, port))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_connections_to_the_store_do_not_count() -> None:
    """In a separate process: no test opens a connection."""
    done = subprocess.run(
        [sys.executable, "-c", CONNECTED], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[True, True, False]", "[False, False, False]", "[]"]
