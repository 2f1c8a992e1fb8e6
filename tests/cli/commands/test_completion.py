"""`ptcompile completion`: scripts that real shells load, and what they suggest."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from ptcompile.cli import main
from ptcompile.cli.commands import COMMANDS
from ptcompile.cli.commands.completion import (
    SHELLS,
    Command,
    Option,
    Values,
    bash_script,
    every_command,
    fish_script,
    zsh_script,
)
from ptcompile.diagnostics.codes import CODES
from ptcompile.operators.targets import TARGETS


def script(shell: str, capfd: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capfd.readouterr().out


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"no {shell} here")


def test_every_command_and_option_completes() -> None:
    commands = {command.name: command for command in every_command()}
    assert set(commands) == {*COMMANDS, "help", "version"}
    assert all(value.help for value in commands.values())
    options = {name: option for option in commands["lint"].options for name in option.names}
    assert set(options["--select"].values.words) == {*CODES, *CODES.values()}
    assert options["--output-format"].values.words[:2] == ("full", "concise")
    assert options["--exit-zero"].metavar == ""
    targets = {name: option for option in commands["simulate"].options for name in option.names}
    assert targets["--target"].values.words == (*TARGETS, "all")
    assert {"PTC302", "missing-shm", "spec.elastic", "spec.elastic.nnodes"} <= set(
        commands["explain"].values.words
    )
    assert commands["completion"].values.words == SHELLS
    assert set(commands["help"].values.words) == set(COMMANDS)


def test_only_arguments_that_name_files_complete_files() -> None:
    files = {
        f"{command.name} {name}": option.values.files
        for command in every_command()
        for option in command.options
        for name in option.names
    }
    yaml = ("yaml", "yml", "json")
    for name in ("compile --cluster", "diff --live", "simulate --with", "init --output"):
        assert files[name] == yaml, name
    assert files["lint --config"] == ("toml",)
    assert files["explain --html"] == ("html",)
    assert files["import --output"] == ("/",)
    assert files["compile -o"] == ()
    for name in (
        "compile --name",
        "compile --set",
        "compile --jobs",
        "lint --select",
        "flyte --image",
        "rehearse --kill",
    ):
        assert files[name] is None, name


SMALL = (
    Command("compile", "c", (), Values(files=())),
    Command(
        "run",
        "r",
        (
            Option(("-o", "--out"), "write [x]: it's a\\b", "OUT", Values(files=())),
            Option(("--py",), "p", "FILE.py:TASK", Values(files=("py",))),
            Option(("--dir",), "d", "DIR", Values(files=("/",))),
            Option(("--all",), "a", "", Values()),
            Option(("--name",), "n", "N", Values()),
            Option(("--kind",), "k", "K", Values(("x", "y"))),
        ),
        Values(("w",), ("yaml", "yml")),
    ),
    Command("help", "h", (), Values(("run",))),
)
"""Every sort of option and value."""
BASH_LINES = r"""
    'run -o'|'run --out') _ptcompile_reply '' .; return ;;
    'run --py') _ptcompile_reply '' '[.](py)$'; return ;;
    'run --dir') _ptcompile_reply '' '/$'; return ;;
    'run --name') _ptcompile_reply '' ''; return ;;
    'run --kind') _ptcompile_reply 'x y' ''; return ;;
  esac
  case "$command" in
    compile) _ptcompile_reply "$words"' ' . ;;
    run) _ptcompile_reply "$words"' w -o --out --py --dir --all --name --kind' '[.](yaml|yml)$' ;;
    help) _ptcompile_reply "$words"' run' '' ;;
"""
FISH_LINES = r"""
complete -c ptcompile -n 'not __fish_seen_subcommand_from run help' -F
complete -c ptcompile -n '__fish_seen_subcommand_from run' -a 'w (__ptcompile_files yaml yml)'
complete -c ptcompile -n '__fish_seen_subcommand_from run' -s o -l out -r -F -d 'write [x]: it\'s a\\b'
complete -c ptcompile -n '__fish_seen_subcommand_from run' -l py -x -a '(__ptcompile_files py)' -d 'p'
complete -c ptcompile -n '__fish_seen_subcommand_from run' -l dir -x -a '(__ptcompile_files /)' -d 'd'
complete -c ptcompile -n '__fish_seen_subcommand_from run' -l all -d 'a'
complete -c ptcompile -n '__fish_seen_subcommand_from run' -l name -x -d 'n'
complete -c ptcompile -n '__fish_seen_subcommand_from run' -l kind -x -a 'x y' -d 'k'
complete -c ptcompile -n '__fish_seen_subcommand_from help' -a 'run'
"""
ZSH_LINES = r"""
        '*: :_files' ;;
    run)
      _arguments -S \
        '*-o[write \[x\]\: it'"'"'s a\\b]:out:_files' \
        '*--out=[write \[x\]\: it'"'"'s a\\b]:out:_files' \
        '*--py=[p]:file.py task:_files -g "*.py"' \
        '*--dir=[d]:dir:_directories' \
        '*--all[a]' \
        '*--name=[n]:n: ' \
        '*--kind=[k]:k:(x y)' \
        '*: :{compadd -- w; _files -g "*.(yaml|yml)"}' ;;
    help)
      _arguments -S \
        '*: :{compadd -- run; :}' ;;
"""


def test_each_script_completes_every_sort_of_argument() -> None:
    """The shells themselves run below, where they are installed."""
    assert BASH_LINES in bash_script(SMALL)
    assert fish_script(SMALL).endswith(FISH_LINES)
    assert ZSH_LINES in zsh_script(SMALL)


BASH = """
source {script}
offer() {{ COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); COMPREPLY=(); _ptcompile; (IFS=,; echo "${{COMPREPLY[*]}}"); }}
{offers}
"""
TYPED: list[tuple[tuple[str, ...], set[str]]] = [
    (("ptcompile", "li"), {"lint"}),
    (("ptcompile", "simulate", "--tar"), {"--target"}),
    (("ptcompile", "simulate", "--target", "vol"), {"volcano"}),
    (("ptcompile", "spec.yaml", "--target", "jobs"), {"jobset"}),
    (("ptcompile", "lint", "--select", "PTC302"), {"PTC302"}),
    (("ptcompile", "lint", "--output-format", "sa"), {"sarif"}),
    (("ptcompile", "explain", "PTC302"), {"PTC302"}),
    (("ptcompile", "completion", "fi"), {"fish"}),
    (("ptcompile", "explain", "missing-sh"), {"missing-shm"}),
    (("ptcompile", "explain", "spec.elastic.nn"), {"spec.elastic.nnodes"}),
    (("ptcompile", "lint", "--ignore", "latest-im"), {"latest-image"}),
    (("ptcompile", "schema", "wor"), {"world"}),
    (("ptcompile", "he"), {"help"}),
    (("ptcompile", "help", "simu"), {"simulate"}),
    (("ptcompile", "compile", "--target", "al"), {"all"}),
    (("ptcompile", "lint", "job9"), {"job9.yaml"}),
    (("ptcompile", "job9"), {"job9.yaml"}),
    (("ptcompile", "explain", "job9"), {"job9.yaml"}),
    (("ptcompile", "simulate", "--cluster", "job9"), {"job9.yaml"}),
    (("ptcompile", "lint", "--config", "job9"), {"job9.toml"}),
    (("ptcompile", "flyte", "job9"), {"job9.py"}),
    (("ptcompile", "simulate", "--set", "job9"), set()),
    (("ptcompile", "simulate", "--name", "job9"), set()),
    (("ptcompile", "schema", "job9"), set()),
    (("ptcompile", "help", "job9"), set()),
    (("ptcompile", "targets", "job9"), set()),
]
"""What is typed, and the only suggestion for it, if any, in a folder with the files below."""
FILES = ("job9.yaml", "job9.toml", "job9.py", "job9.txt")


@needs("bash")
def test_bash_completes_what_is_typed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "script"
    path.write_text(script("bash", capfd), encoding="utf-8")
    for name in FILES:
        (tmp_path / name).touch()
    typed = [*TYPED, (("ptcompile", "simulate", "--target", "=", "vol"), {"volcano"})]
    typed += [
        (("ptcompile", "lint", "my"), {"my file.yaml", "mydir"}),
        (("ptcompile", "import", "-o", "my"), {"mydir"}),
    ]
    (tmp_path / "my file.yaml").touch()
    (tmp_path / "mydir").mkdir()
    offers = "\n".join(f"offer {' '.join(words)}" for words, _ in typed)
    text = BASH.format(script=path, offers=offers)
    done = subprocess.run(
        ["bash", "--norc", "-c", text], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert [set(filter(None, line.split(","))) for line in done.stdout.splitlines()] == [
        wanted for _, wanted in typed
    ]


@needs("fish")
def test_fish_completes_what_is_typed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "script"
    path.write_text(script("fish", capfd), encoding="utf-8")
    (tmp_path / "here").mkdir()
    for name in FILES:
        (tmp_path / "here" / name).touch()
    env = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
    }
    for words, wanted in TYPED:
        code = f"source {path}; complete -C '{' '.join(words)}'"
        command = ["fish", "--no-config", "-c", code]
        done = subprocess.run(
            command, cwd=tmp_path / "here", capture_output=True, text=True, check=True, env=env
        )
        assert done.stderr == ""
        assert {line.split("\t")[0] for line in done.stdout.splitlines()} == wanted, words


@needs("zsh")
def test_zsh_completes_what_is_typed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A real line editor: the Tab key completes the only candidate."""
    (tmp_path / "_ptcompile").write_text(script("zsh", capfd), encoding="utf-8")
    for name in FILES:
        (tmp_path / name).touch()
    lines = [
        "PS1='ready> '",
        f"fpath=({tmp_path} $fpath)",
        f"autoload -Uz compinit; compinit -u -d {tmp_path}/dump",
        "unsetopt beep",
        'ptcompile() { print -r -- "<$*>" }',
    ]
    (tmp_path / ".zshrc").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with _Terminal(["zsh", "-i"], tmp_path) as zsh:
        zsh.until("ready> ")
        for words, wanted in TYPED:
            (only,) = wanted or {words[-1]}
            zsh.type(f"{' '.join(words)}\t\n")
            assert f"<{' '.join([*words[1:-1], only])}" in zsh.until(">\r\n", "<"), words


class _Terminal:
    """A program with its own terminal."""

    def __init__(self, command: list[str], home: Path) -> None:
        self._process, self._file = pty.fork()
        if self._process == 0:
            os.chdir(home)
            own = {
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "ZDOTDIR": str(home),
                "TERM": "dumb",
            }
            os.execvpe(command[0], command, own)  # noqa: S606 - the shell is what is tried

    def __enter__(self) -> _Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._process, 9)
        os.waitpid(self._process, 0)
        os.close(self._file)

    def type(self, text: str) -> None:
        os.write(self._file, text.encode())

    def until(self, wanted: str, after: str = "") -> str:
        """Return the output as soon as it contains `wanted`, in the part after `after` if given."""
        found, end = "", time.monotonic() + 60
        while wanted not in found.partition(after)[2] if after else wanted not in found:
            ready, _, _ = select.select([self._file], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{wanted!r} did not come: {found!r}"
            found += os.read(self._file, 4096).decode(errors="replace")
        return found


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_the_same_each_time(shell: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert script(shell, capfd) == script(shell, capfd)
