"""Command lines: how they split into arguments, and where the command begins after its wrappers."""

from __future__ import annotations

import pytest

from ptcompile.kubernetes.commands import is_program, unwrap

WRAPPERS: dict[str, dict[str, str]] = {
    "exec": {},
    "exec -a name": {},
    "exec A=1": {"A": "1"},
    "/usr/bin/env A=1 B=x=y": {"A": "1", "B": "x=y"},
    "env -u HOME A=1": {"A": "1"},
    "env A=1 env A=2 B=3": {"A": "2", "B": "3"},
    "sudo -u root -E A=1": {"A": "1"},
    "nice -n 10": {},
    "nice -n10": {},
    "nice --adjustment 10": {},
    "nice -n 5 nice": {},
    "gosu app": {},
    "su-exec app:app": {},
    "chrt -f 10": {},
    "setpriv --reuid 1000 --regid 1000 --clear-groups": {},
    "stdbuf -o L -e L": {},
    "ionice -c 2 -n 0": {},
    "strace -f -o log": {},
    "timeout -s KILL --kill-after 5 1h": {},
    "timeout 1h": {},
    "timeout -k 5 1h": {},
    "timeout -": {},  # a lone dash is not an option
    "timeout profile 1h": {},
    "tini --": {},
    "tini -g --": {},
    "tini -- nice -n 5 env A=1": {"A": "1"},
    "numactl --cpunodebind 0 --membind 0": {},
    "numactl --cpunodebind=0": {},
    "taskset 0xff": {},
    "nsys profile -o out": {},
    "wandb launch": {},
    "conda run -n train": {},
    "conda run --no-capture-output -n train": {},
    "uv run": {},
    "uv run --": {},
    "/entrypoint.sh": {},
    "/entrypoint.sh --": {},
}
"""Wrappers, each with the variables that it sets."""


@pytest.mark.parametrize("wrappers", WRAPPERS)
@pytest.mark.parametrize(
    "command", ["torchrun --nnodes 2 train.py", "python3.12 -m app", "bash -c true"]
)
def test_the_command_begins_after_its_wrappers(wrappers: str, command: str) -> None:
    argv = wrappers.split()
    assert unwrap([*argv, *command.split()]) == (len(argv), WRAPPERS[wrappers])


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("", 0),
        ("ls -l", 0),
        ("env A=1", 0),  # prints the environment
        ("tini --", 0),
        ("nice -n", 0),
        ("timeout 1h 2h", 2),
        ("nice A=1 ls", 1),  # only env, exec and sudo take variables
        ("nice -n 5 profile ls", 3),  # a verb comes first
        ("env 1A=2 ls", 1),
        ("./train.sh", 0),
        ("./train.sh --", 0),
        ("./train.sh --epochs python", 0),
        ("./train.sh x python", 0),
        ("./train.sh -- -- python", 0),
        ("torchrun python", 0),
        ("bash torchrun", 0),
        ("python torchrun", 0),
        ("train.py python", 0),
        ("a.sh b.sh python", 0),
    ],
)
def test_what_is_no_wrapper_is_the_command(line: str, start: int) -> None:
    assert unwrap(line.split()).start == start


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("bash", True), ("/bin/sh", True), ("python", True), ("/usr/bin/python3.12", True), ("pypy3", True),
        ("torchrun", True), ("mpirun", True), ("train.py", False), ("pythonic", False), ("", False), ("env", False),
    ],
)  # fmt: skip
def test_programs_are_shells_python_and_launchers(token: str, expected: bool) -> None:
    assert is_program(token) is expected
