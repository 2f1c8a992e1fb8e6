"""A fake container engine that records its commands, and an image of this interpreter for a real engine."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from pathlib import Path

from ptcompile.rehearsal.containers import Engine

FAKE = '''\
#!{python}
"""An engine: it has the images in `images`, the networks in `networks`, and says what `info` says."""
import json, pathlib, sys
here, words = pathlib.Path({here!r}), sys.argv[1:]
with (here / "told").open("a") as file:
    file.write(json.dumps(words) + "\\n")
def lines(name):
    path = here / name
    return path.read_text().split() if path.exists() else []
if words[0] == "info":
    print(*lines("info"))
    sys.exit(not lines("info"))
if words[:2] == ["image", "inspect"]:
    sys.exit(words[2] not in lines("images"))
if words[:2] == ["network", "create"]:
    subnet = next(word for word in words if word.startswith("--subnet")).partition("=")[2]
    if subnet in lines("taken"):
        sys.exit("pool overlaps with other one on this address space")
    (here / "networks").write_text(words[-1])
if words[:2] == ["network", "ls"]:
    print(*lines("networks"))
if words[:2] == ["network", "rm"]:
    (here / "networks").write_text("")
if words[0] == "ps":
    print(*lines("containers"))
if words[0] == "rm":
    (here / "containers").write_text("")
if words[0] == "run":
    print(*lines("says"))
    sys.exit(int((lines("exit") or ["0"])[0]))
'''


def fake_engine(folder: Path, name: str = "docker", info: str = "20.10 [name=seccomp]") -> Path:
    """Return a folder for PATH with a fake engine, which keeps its files next to it."""
    programs = folder / name
    programs.mkdir()
    path = programs / name
    path.write_text(FAKE.format(python=sys.executable, here=str(programs)), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (programs / "info").write_text(info)
    return programs


def received_commands(programs: Path) -> list[list[str]]:
    """Return the commands that the fake engine received, each as a list of arguments."""
    return [json.loads(line) for line in (programs / "told").read_text().splitlines()]


def python_image(engine: Engine, folder: Path, name: str) -> None:
    """Build an image with only this interpreter and the libraries it loads."""
    tar = folder / "image.tar"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    library = Path(sysconfig.get_path("stdlib"))
    binary = os.path.realpath(sys.executable)
    with tarfile.open(tar, "w", dereference=True) as file:
        file.add(binary, "opt/bin/python")
        file.add(library, f"opt/lib/{version}", filter=_needed)
        for path in sorted({*_libraries([binary, "/bin/sh", "/bin/sleep", *_extensions(library)])}):
            file.add(path, path.lstrip("/"))
        for program in ("/bin/sh", "/bin/sleep"):
            file.add(program, program.lstrip("/"))
    engine.run("import", "--change", "ENV PATH=/opt/bin:/bin", str(tar), name)
    tar.unlink()


def _needed(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    parts = set(Path(entry.name).parts)
    return None if parts & {"test", "site-packages", "idlelib", "ensurepip", "lib2to3"} else entry


def _extensions(library: Path) -> list[str]:
    return [str(path) for path in library.glob("lib-dynload/*.so")]


def _libraries(programs: list[str]) -> Iterator[str]:
    for program in programs:
        done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
        yield from (word for word in done.stdout.split() if word.startswith("/"))
