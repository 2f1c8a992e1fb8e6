"""Record what bash does with the scripts below `scripts/`: `python -m tests.shell.record`.

Each script runs twice, in a scratch folder, with nothing in PATH but stubs and a few filters of coreutils. The stub
of a launcher writes its arguments down, and exits with 0 in the first run and with 3 in the second. Needs bash 5.2.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SCRIPTS = FOLDER / "scripts"
RECORDED = FOLDER / "recorded.json"
LAUNCHERS = ("torchrun", "accelerate", "deepspeed", "mpirun", "python", "python3")
ENV = {
    "HOSTNAME": "job-worker-3",
    "NNODES": "2",
    "RANK": "1",
    "MASTER_ADDR": "job-master-0.svc",
    "HOST_LIST": "a,b,c",
    "NODE_NAMES": "n0 n1 n2",
    "EMPTY": "",
    "SVC": "svc",
    "JOB_NAME": "job",
    "JOB_COMPLETION_INDEX": "3",
    "ROLE_NAME": "worker",
    "HOME": "/root",
}
"""The only variables of the scripts besides those that bash sets."""

_PROGRAMS = (
    *(
        "awk",
        "basename",
        "bash",
        "cat",
        "chmod",
        "cut",
        "date",
        "dirname",
        "env",
        "expr",
        "grep",
        "head",
        "mkdir",
    ),
    *("nohup", "sed", "seq", "tail", "tee", "touch", "tr", "wc"),
)
_SILENT = ("nc", "getent", "pip", "nvidia-smi", "tensorboard", "kill")
_LAUNCHER = """#!/bin/bash
printf '%s\\0' "$#" "${0##*/}" "$@" >> "$STUB_LOG"
exit "$STUB_STATUS"
"""
_SLEEP = """#!/bin/bash
case "$1" in infinity|60|3600) exec /bin/sleep 30 ;; esac
"""
_STUBS = {
    **dict.fromkeys(LAUNCHERS, _LAUNCHER),
    **dict.fromkeys(_SILENT, "#!/bin/bash\nexit 0\n"),
    "pgrep": "#!/bin/bash\nexit 1\n",
    "hostname": '#!/bin/bash\necho "$HOSTNAME"\n',
    "sleep": _SLEEP,
}
_SECONDS = 3
"""A script that runs longer never ends: no stub takes time."""


def recorded(script: str) -> dict[str, Any]:
    """Return what bash does with a script: its verdict on the syntax, the launches, and the two exit statuses."""
    syntax = subprocess.run(
        ["/bin/bash", "-n", "-c", "--", script], capture_output=True, check=False
    )
    launches, status = _run(script, 0)
    _, failing_status = _run(script, 3)
    return {
        "is_valid": syntax.returncode == 0,
        "launches": launches,
        "status": status,
        "status_if_launches_fail": failing_status,
    }


def _run(script: str, stub_status: int) -> tuple[list[list[str]], int | None]:
    """Return the launches with their arguments, and the exit status, or None if the script does not end."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        programs, work, log = scratch / "programs", scratch / "work", scratch / "log"
        programs.mkdir()
        work.mkdir()
        log.touch()
        for program in _PROGRAMS:
            (programs / program).symlink_to(shutil.which(program) or program)
        for program, text in _STUBS.items():
            (programs / program).write_text(text)
            (programs / program).chmod(0o755)

        env = {**ENV, "PATH": str(programs), "STUB_LOG": str(log), "STUB_STATUS": str(stub_status)}
        argv = ["/bin/bash", "-c", "--", script]
        # a script that ends may leave jobs behind, which would hold a pipe open
        process = subprocess.Popen(
            argv, cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        status: int | None = None
        try:
            status = process.wait(_SECONDS)
            subprocess.run(["/bin/sleep", "0.1"], check=True)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return _launches(log.read_text()), status


def _launches(text: str) -> list[list[str]]:
    fields = text.split("\0")
    launches: list[list[str]] = []
    while len(fields) > 1:
        count = int(fields[0]) + 1
        launches.append(fields[1 : count + 1])
        del fields[: count + 1]
    return launches


def main() -> None:
    """Write the recording."""
    texts = {path.stem: path.read_text() for path in sorted(SCRIPTS.glob("*.sh"))}
    results = {name: recorded(text) for name, text in texts.items()}
    lines = [f"{json.dumps(name)}: {json.dumps(result)}" for name, result in results.items()]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
