"""The reader of shell scripts: a script is read within bounds, in one way, and each of its words
has a place.
"""

from __future__ import annotations

import random

from fuzz.mutate import MAX_SIZE, mutate
from ptcompile.api.import_manifests import import_manifests
from ptcompile.shell import nodes
from ptcompile.shell.calls import broken_continuation, single_command, split_line
from ptcompile.shell.parser import parse
from ptcompile.shell.script import Script, read_script
from ptcompile.simulator.launchers.command import read_command_line
from ptcompile.simulator.launchers.misread import misplaced_options, misread_word

_ENV = {
    "HOSTNAME": "job-worker-3",
    "RANK": "1",
    "NNODES": "2",
    "LIST": "a,b,c",
    "EMPTY": "",
    "HOME": "/root",
}
_FILES = {
    "/launch/run.sh": 'exec torchrun --nnodes=$NNODES "$@"',
    "/launch/env.sh": "export RANK=2; set -e",
}
_MAX_COMMANDS = 2_000
_MAX_TEXT = 1 << 20
"""Characters of all arguments: what expansions add is bounded."""


def batch(data: bytes) -> None:
    """Import a batch script of Slurm twice: each finding has a line, and each spec can be
    written.
    """
    text = data.decode("utf-8", "replace")
    first = import_manifests(
        text, filename="train.sbatch", values={"1": "a.yaml", "partition.gpu": "research"}
    )
    second = import_manifests(
        text, filename="train.sbatch", values={"1": "a.yaml", "partition.gpu": "research"}
    )
    assert first == second
    assert first.ok == (not any(finding.severity == "error" for finding in first.diagnostics))
    assert bool(first.specs) == first.ok
    assert all(finding.span is not None for finding in first.diagnostics)
    first.yaml()


def scripts(data: bytes) -> None:
    """Read a script twice, and look at what was read."""
    text = data.decode("utf-8", "replace")
    for node in nodes.walk(parse(text).body):
        for word in node.words if isinstance(node, nodes.Simple) else ():
            assert 0 <= word.start <= word.end <= len(text), word
    argv = ["bash", "-c", "--", text]
    first, second = read(argv), read(argv)
    assert first == second
    assert len(first.commands) <= _MAX_COMMANDS
    assert sum(len(word) for command in first.commands for word in command.words) <= _MAX_TEXT
    for command in first.commands:
        assert command.words

    launch = read_command_line(argv, _ENV, _FILES.get)
    misread_word(launch)
    misplaced_options(launch)
    single_command(argv)
    split_line(text)
    broken_continuation(text)


def read(argv: list[str]) -> Script:
    """Return what a script runs, without the readings that are kept."""
    from ptcompile.shell import script

    script._readings.clear()
    found = read_script(argv, _ENV, _FILES.get)
    assert found is not None
    return found


def make(dice: random.Random) -> bytes:
    """A script of pieces that mostly fit together."""
    data = _body(dice, 4).encode("utf-8", "replace")[:MAX_SIZE]
    return mutate(data, dice, ()) if dice.random() < 0.3 else data


def _body(dice: random.Random, depth: int) -> str:
    return dice.choice(("\n", "; ")).join(
        _command(dice, depth) for _ in range(dice.choice((1, 1, 2, 3, 5)))
    )


def _command(dice: random.Random, depth: int) -> str:
    if depth == 0 or dice.random() < 0.4:
        words = " ".join(_word(dice) for _ in range(dice.choice((0, 1, 2, 4))))
        return f"{dice.choice(_PROGRAMS)} {words}{dice.choice(_ENDS)}"
    form = dice.choice(_FORMS)
    while "BODY" in form:
        form = form.replace("BODY", _body(dice, depth - 1), 1)
    while "WORD" in form:
        form = form.replace("WORD", _word(dice), 1)
    return form


def _word(dice: random.Random) -> str:
    return "".join(dice.choice(_PARTS) for _ in range(dice.choice((1, 1, 2, 3))))


_PROGRAMS = (
    "torchrun --nnodes=2", "python train.py", "accelerate launch", "echo", "export A=", "local A=1 B=$A", "set --",
    "set -euo pipefail", "shift", "cd", "sleep", "wait", "exec", "eval", "source /launch/env.sh", ". /x", "bash -c",
    "/launch/run.sh", "exit", "return", "break", "continue", "trap", "read -r A <<< x", "declare -a A=(1 2)", "A+=(x)",
    "A=", "unset A", "f", "! true", "let A=1", "printf %s", "kill $!", "tail -f", "", ":", "[", "test",
)  # fmt: skip
_PARTS = (
    "a", "-", "--x=", "8", "$A", "${A}", '"$A"', "'$A'", '"${A[@]}"', '"${@:2}"', "${A:1:2}", "${A: -1}", "${A#*-}",
    "${A%%,*}", "${A//a/b}", "${A/#a/b}", "${A:-${B:-c}}", "${A:?no}", "${#A}", "${!A}", "${A^^}", "$((A + 1))",
    "$(hostname)", "$(echo $LIST | cut -d, -f1)", "`date`", "{a,b}", "{1..3}", "{a,{b,c}}", "{1..99999}", "$'a\\n'",
    '$"a"', "*", "?", "[a-z]", "~", "\\ ", "\\\n", "\\", "'", '"', "#", "$@", "$*", "$#", "$?", "$!", "$$", "$1",
    "<(ls)", "\u00a0", "\u2013", "\x00", "&", "|", ";", "(", ")", "<", ">", "<<E\nx\nE\n", "$RANK", "${EMPTY}", "=",
)  # fmt: skip
_ENDS = ("", "", "", " &", " | tee log", " || true", " > f", " 2>&1", " <<< a", " # c")
_FORMS = (
    "if WORD; then BODY; else BODY; fi", "while WORD; do BODY; done", "until [ WORD = 1 ]; do BODY; done",
    "for A in WORD WORD; do BODY; done", "for ((i=0; i<WORD; i++)); do BODY; done",
    "case WORD in a|b) BODY ;; *) ;; esac",
    "f() { BODY; }; f WORD", "( BODY )", "{ BODY; }", "WORD && BODY || BODY", "! BODY", "bash -c 'BODY' WORD",
    "A=(WORD WORD); BODY", "[[ WORD == WORD && -n WORD ]] && BODY", "(( WORD )) && BODY",
    "cat > f <<EOF\nBODY\nEOF\n. f",
    "while [ $# -gt 0 ]; do case $1 in WORD) shift 2 ;; *) BODY; shift ;; esac; done", "trap 'BODY' EXIT",
    "BODY &\nwait $!",
    "eval \"BODY\"", "select A in WORD; do BODY; done", "coproc BODY", "time BODY", "function g { BODY; }", "x=$(BODY)",
)  # fmt: skip
