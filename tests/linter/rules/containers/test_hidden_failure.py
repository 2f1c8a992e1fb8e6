"""Scripts that lose the training's exit code, compared with what bash does (POSIX lists and pipelines)."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.linter.asking import container, fires

CASES = [
    # script, and whether it succeeds although the training fails
    ("python train.py", False),
    ("python train.py | tee log", True),
    ("python train.py 2>&1 | tee log", True),
    ("set -o pipefail; python train.py | tee log", False),
    ("set -euo pipefail\npython train.py 2>&1 | tee log", False),
    ("python train.py || true", True),
    ("python train.py || exit 1", False),
    ("python train.py; echo done", True),
    ("python train.py\necho done\n", True),
    ("set -e\npython train.py\necho done", False),
    ("set -ex; python train.py; echo done", False),
    ("python train.py && echo done", False),
    ("cd /tmp && python train.py", False),
    ("echo start; python train.py", False),
    ("python train.py;", False),
    ("OMP_NUM_THREADS=1 python train.py; sync", True),
    ("if python train.py; then echo done; fi", True),
    ("if python train.py; then echo done; else exit 1; fi", False),
    ("python train.py; code=$?; echo $code; exit $code", False),
    ("python train.py; code=$?; echo $code", True),
    ("trap 'echo bye' EXIT; python train.py; echo done", True),
    ("trap 'exit 1' TERM INT; python train.py; echo done", True),
]
UNREAD = [
    "python train.py; code=$?; echo $code; exit $code",
    "while true; do python train.py && break; done",
    "trap 'exit 1' EXIT; python train.py; echo done",
    "trap cleanup EXIT; python train.py; echo done",
    "cat > train.py <<EOF\nprint(1 | 2)\nEOF\npython train.py",
    "python train.py & wait",
    "pip install x; echo installed",  # does not train
    "python train.py; exit 1",
]


@pytest.mark.parametrize(("text", "lost"), CASES)
def test_scripts_that_hide_a_failure_are_reported(text: str, lost: bool) -> None:
    assert fires("hidden-failure", container(command=["bash", "-c", text])) is lost


@pytest.mark.parametrize(("text", "lost"), CASES)
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_agrees(text: str, lost: bool) -> None:
    shell = subprocess.run(
        ["bash", "-c", f"python() {{ return 7; }}\ntee() {{ cat >/dev/null; }}\n{text}"],
        capture_output=True,
        check=False,
        timeout=20,
    )
    assert (shell.returncode == 0) is lost


@pytest.mark.parametrize("text", UNREAD)
def test_other_commands_have_no_finding(text: str) -> None:
    assert not fires("hidden-failure", container(command=["bash", "-c", text]))


def test_options_of_the_shell_matter() -> None:
    for options in (["-e"], ["-o", "pipefail"], ["-eo", "pipefail"]):
        text = (
            "python train.py | tee log" if "pipefail" in options else "python train.py; echo done"
        )
        assert not fires("hidden-failure", container(command=["bash", *options, "-c", text]))
