"""Launchers in command lines and in `bash -c` scripts."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from ptcompile.shell.script import ShellCommand
from ptcompile.simulator.launchers import command
from ptcompile.simulator.launchers.command import (
    container_invocation,
    entry_arguments,
    read_command_line,
)


@pytest.mark.parametrize(
    ("argv", "launcher", "options", "entry"),
    [
        (["torchrun", "train.py", "--nnodes", "7"], "torchrun", {}, ("train.py", "--nnodes", "7")),
        # docs/facts/torchrun.md#options-and-variables: both spellings of each flag work
        (["torchrun", "--nproc_per_node=2", "--nnodes", "1:2", "t.py"], "torchrun",
         {"nproc-per-node": "2", "nnodes": "1:2"}, ("t.py",)),
        (["/opt/bin/torchrun", "--standalone", "-m", "pkg.train"], "torchrun",
         {"standalone": "1", "module": "1"}, ("pkg.train",)),
        (["python", "-u", "-m", "torch.distributed.run", "--nnodes=2", "t.py"], "torchrun", {"nnodes": "2"}, ("t.py",)),
        (["python3", "-m", "torch.distributed.launch", "--use_env", "t.py"], "torchrun", {"use-env": "1"}, ("t.py",)),
        (["numactl", "--interleave=all", "torchrun", "t.py"], "torchrun", {}, ("t.py",)),
        (["torchrun", "--", "t.py"], "torchrun", {}, ("t.py",)),
        (["python", "train.py", "--launcher", "torchrun"], "command", {},
         ("python", "train.py", "--launcher", "torchrun")),
        (["python", "train.py", "torchrun", "x.py"], "command", {}, ("python", "train.py", "torchrun", "x.py")),
        # the last launcher wins: earlier commands only prepare
        (["sh", "-c", "torchrun warm.py && torchrun --nnodes=2 t.py; echo done"], "torchrun", {"nnodes": "2"},
         ("t.py",)),
        (["app", "--launcher", "torchrun"], "command", {}, ("app", "--launcher", "torchrun")),
        (["bash", "-c", "pip list && torchrun --nnodes=$N t.py"], "torchrun", {"nnodes": "4"}, ("t.py",)),
        (["bash", "-lc", "export X=${N}; exec torchrun --nnodes ${X:-1} \\\n  t.py # done"], "torchrun",
         {"nnodes": "4"}, ("t.py",)),
        (["sh", "-c", "N=9 torchrun --nnodes=\"$N\" 'a b.py'"], "torchrun", {"nnodes": "4"}, ("a b.py",)),
        (["sh", "-c", "torchrun --node-rank=${HOSTNAME##*-} t.py"], "torchrun", {"node-rank": "3"}, ("t.py",)),
        (["sh", "-c", "torchrun --nnodes=$(nproc --all) t.py"], "torchrun", {"nnodes": "$(nproc --all)"}, ("t.py",)),
        (["bash", "-c", "bash -c 'torchrun --nnodes=2 t.py'"], "torchrun", {"nnodes": "2"}, ("t.py",)),
        (["bash", "-c", 'torchrun --nnodes="$N"0 --rdzv_id=$N"x" "$N"_.py'], "torchrun",
         {"nnodes": "40", "rdzv-id": "4x"}, ("4_.py",)),  # a quote ends a variable's name
        (["bash", "run.sh"], "command", {}, ("bash", "run.sh")),
        (["accelerate", "launch", "t.py"], "accelerate", {}, ("accelerate", "launch", "t.py")),
        (["deepspeed", "t.py"], "deepspeed", {}, ("deepspeed", "t.py")),
        (["tune", "run", "--nnodes", "2", "recipe"], "torchrun", {"nnodes": "2"}, ("recipe",)),
        (["tune", "run", "recipe"], "tune", {}, ("recipe",)),
        (["ft_launcher", "--ft-cfg-path", "x", "--nnodes=2", "--ft-log=a", "t.py"], "torchrun", {"nnodes": "2"},
         ("t.py",)),
        (["hyperpodrun", "--server-host=0", "--inprocess-restart", "--nnodes", "2", "t.py"], "torchrun",
         {"nnodes": "2"}, ("t.py",)),
        (["hyperpodrun", "--inprocess-timeout", "60", "--shutdown-signal", "SIGTERM", "t.py"], "torchrun", {},
         ("t.py",)),
        (["axolotl", "train", "a.yml", "--launcher", "torchrun", "--", "--nnodes=2"], "torchrun",
         {"nnodes": "2", "module": "1"}, ("axolotl.cli.train",)),
        (["axolotl", "train", "a.yml"], "axolotl", {}, ("axolotl", "train", "a.yml")),
        (["llamafactory-cli", "train", "a.yml"], "llamafactory-cli", {}, ("llamafactory-cli", "train", "a.yml")),
        (["llamafactory-cli", "chat", "a.yml"], "command", {}, ("llamafactory-cli", "chat", "a.yml")),
        (["swift", "sft", "--x", "y"], "swift", {}, ("swift", "sft", "--x", "y")),
        (["colossalai", "run", "--nproc_per_node", "8", "t.py"], "colossalai", {"nproc-per-node": "8"},
         ("colossalai", "run", "--nproc_per_node", "8", "t.py")),
        (["horovodrun", "-np", "4", "python", "t.py"], "mpirun", {}, ("horovodrun", "-np", "4", "python", "t.py")),
        (["bash", "-c"], "command", {}, ("bash", "-c")),
        (["bash", "-c", ""], "command", {}, ("bash", "-c", "")),
        ([], "image", {}, ()),
        # wrappers, and scripts that run a program
        (["env", "A=1", "torchrun", "t.py"], "torchrun", {}, ("t.py",)),
        (["tini", "-g", "--", "torchrun", "--nnodes=2", "t.py"], "torchrun", {"nnodes": "2"}, ("t.py",)),
        (["timeout", "-k", "5", "3600", "python", "-m", "torch.distributed.run", "t.py"], "torchrun", {}, ("t.py",)),
        (["conda", "run", "-n", "torch", "--no-capture-output", "torchrun", "t.py"], "torchrun", {}, ("t.py",)),
        (["/entrypoint.sh", "/bin/bash", "-c", "torchrun --nnodes=$N t.py"], "torchrun", {"nnodes": "4"}, ("t.py",)),
        (["bash", "-euo", "pipefail", "-c", "--", "torchrun t.py"], "torchrun", {}, ("t.py",)),
        (["nsys", "profile", "-o", "x", "accelerate", "launch", "--num_machines", "2", "t.py"], "accelerate",
         {"nnodes": "2"}, ("accelerate", "launch", "--num_machines", "2", "t.py")),
        (["sh", "-c", "torchrun --node-rank=$(hostname) t.py"], "torchrun", {"node-rank": "job-3"}, ("t.py",)),
    ],
)  # fmt: skip
def test_a_command_line_starts_its_launcher(
    argv: list[str], launcher: str, options: dict[str, str], entry: tuple[str, ...]
) -> None:
    launch = read_command_line(argv, {"N": "4", "HOSTNAME": "job-3"})
    assert (launch.launcher, dict(launch.options), launch.entry) == (launcher, options, entry)


def test_an_assignment_before_the_command_is_in_its_environment() -> None:
    launch = read_command_line(["sh", "-c", "export A=1; PET_NNODES=3 torchrun t.py"], {})
    assert dict(launch.env) == {"A": "1", "PET_NNODES": "3"}
    assert launch.in_shell


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["python", "-u", "t.py", "--x"], ("t.py", "--x")),
        (["python3.12", "-X", "dev", "t.py"], ("t.py",)),
        (["python", "-m", "pkg"], ("-m", "pkg")),
        (["torchrun", "--nnodes=2", "-m", "pkg"], ("-m", "pkg")),
        (["torchrun", "--nnodes=2", "t.py", "--x"], ("t.py", "--x")),
    ],
)
def test_the_entry_has_its_arguments(argv: list[str], words: tuple[str, ...]) -> None:
    assert entry_arguments(read_command_line(argv, {})) == words


@pytest.mark.parametrize(
    ("command", "args", "launcher"),
    [
        # Kubernetes 1.36, "Define a Command and Arguments for a Container": args alone are for the image's ENTRYPOINT
        ([], ["--epochs", "3"], "image"),
        ([], [""], "image"),
        ([], ["train", "--lr", "1"], "image"),
        ([], [], "image"),
        # an image without ENTRYPOINT, such as pytorch/pytorch, runs them
        ([], ["torchrun", "t.py"], "torchrun"),
        ([], ["python", "-m", "torch.distributed.run", "t.py"], "torchrun"),
        ([], ["python3", "t.py"], "command"),
        ([], ["/app/run", "x"], "command"),
        ([], ["bash", "-c", "exec x"], "command"),
        ([], ["bash", "run.sh"], "command"),
        (["train"], ["--epochs", "3"], "command"),
        ([""], [], "command"),
    ],
)
def test_arguments_without_a_command_belong_to_the_image(
    command: list[str], args: list[str], launcher: str
) -> None:
    assert container_invocation(command, args, {}).launcher == launcher


@given(st.text(alphabet="ab $(){}'\"\\;&|\n#=-:", max_size=60))
def test_any_script_can_be_read(script: str) -> None:
    read_command_line(["bash", "-c", script], {"a": "b"})


def test_a_long_script_of_open_quotes_takes_no_time() -> None:
    for piece in ("$(", "'\"", "${", '"\\'):
        started = time.process_time()
        read_command_line(["bash", "-c", piece * 30_000], {})
        assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("argv", "launcher"),
    [
        (["ray", "start", "--head"], "ray"),
        (["ray", "stop"], "command"),
        (["x", "start"], "command"),
        (["tune", "run", "recipe"], "tune"),
        (["tune", "ls"], "command"),
        (["x", "run"], "command"),
    ],
)
def test_some_programs_launch_only_with_one_of_their_commands(
    argv: list[str], launcher: str
) -> None:
    assert read_command_line(argv, {}).launcher == launcher


def test_the_main_command_of_a_script_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[object] = []
    search = command._main_command

    def counted(commands: Sequence[ShellCommand]) -> ShellCommand:
        searched.append(commands)
        return search(commands)

    monkeypatch.setattr(command, "_main_command", counted)
    script = "export A=1\necho of the test\npython prepare.py\n"
    for rank in "0123":  # which the script does not read
        invocation = read_command_line(["bash", "-c", script], {"RANK": rank})
        assert (invocation.entry, invocation.env["RANK"]) == (("python", "prepare.py"), rank)
    assert len(searched) == 1

    launch = script + "torchrun train.py\necho done\n"
    assert read_command_line(["bash", "-c", launch], {}).launcher == "torchrun"
    assert len(searched) == 2
