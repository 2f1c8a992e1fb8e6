"""What a shell makes of a script: words, variables, arrays, here-documents."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from ptcompile.shell.calls import broken_continuation, shell_call, single_command, split_line
from ptcompile.shell.patterns import compute
from ptcompile.shell.script import read_script
from ptcompile.simulator.launchers.command import read_command_line


@pytest.mark.parametrize(
    ("script", "words"),
    [
        # checked with bash 5.2
        ("A='--nnodes 2'; torchrun $A t.py", ["torchrun", "--nnodes", "2", "t.py"]),
        ("A='--nnodes 2'; torchrun \"$A\" t.py", ["torchrun", "--nnodes 2", "t.py"]),
        ("A=(--nnodes 2); torchrun ${A[@]} t.py", ["torchrun", "--nnodes", "2", "t.py"]),
        (
            "A=(\n  --nnodes $N\n  'b c'\n)\nA+=(z)\ntorchrun \"${A[@]}\"",
            ["torchrun", "--nnodes", "4", "b c", "z"],
        ),
        ("A=1\nA+=2\ntorchrun $A", ["torchrun", "12"]),
        (
            "local M=$((N*2)); torchrun $M $((10#$N - 1)) $((N/0))",
            ["torchrun", "8", "3", "$((N/0))"],
        ),
        ("A=$(nvidia-smi -L | wc -l)\ntorchrun $A", ["torchrun", "$(nvidia-smi -L | wc -l)"]),
        ("torchrun $EMPTY t.py", ["torchrun", "t.py"]),
        ('torchrun "$EMPTY" t.py', ["torchrun", "", "t.py"]),
        ("torchrun ${M:-$N} ${M:=5} ${N:?no}", ["torchrun", "4", "5", "4"]),
        ('torchrun "a\\"b" "c\\\nd"', ["torchrun", 'a"b', "cd"]),
        ("bash <<EOF\ntorchrun --nnodes=$N t.py\nEOF", ["torchrun", "--nnodes=4", "t.py"]),
        ("cat > /run.sh <<'EOF'\ntorchrun $N\nEOF\nbash /run.sh", ["torchrun", "4"]),
        ("cat > t.py <<EOF\ntorchrun no\nEOF\ntorchrun t.py", ["torchrun", "t.py"]),
        ("cat <<EOF\nnever ends", ["cat"]),
    ],
)
def test_the_last_command_has_its_words(script: str, words: list[str]) -> None:
    read = read_script(["bash", "-c", script], {"N": "4", "EMPTY": ""})
    assert read is not None
    assert read.commands[-1].words == words


@pytest.mark.parametrize(
    ("script", "literals"),
    [
        ("torchrun --nnodes='$N' t.py", ("nnodes",)),
        ('torchrun --nnodes "\\$N" t.py', ("nnodes",)),
        ("torchrun --nproc_per=\\$N t.py", ("nproc-per-node",)),
        ('torchrun --nnodes="$N" t.py', ()),
        ("bash -c 'torchrun --nnodes=$N t.py'", ()),
        ("torchrun --nnodes=2 t.py '$N'", ()),
    ],
)
def test_an_option_may_have_a_literal_dollar(script: str, literals: tuple[str, ...]) -> None:
    launch = read_command_line(["bash", "-c", script], {"N": "4"})
    assert launch.literals == literals
    assert all(value in ("2", "4", "$N") for value in launch.options.values())


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("set -e\ntorchrun --nnodes=2 \\ \n  t.py", "torchrun --nnodes=2"),
        ("torchrun \\\t\n  t.py", "torchrun"),
        ("torchrun \\\r\n  t.py", "torchrun"),
        ("torchrun \\\n  t.py", None),
        ("cp a\\ b c\n", None),
        ("echo 'a \\ \n'", None),
        ("cat > f <<EOF\na \\ \nEOF\ntorchrun t.py", None),
        ("torchrun t.py # \\ \n", None),
        ("torchrun t.py \\ ", None),
    ],
)
def test_a_backslash_before_whitespace_continues_no_line(script: str, line: str | None) -> None:
    assert broken_continuation(script) == line


@given(st.text(alphabet="12 +-*/%()N$#0", max_size=40))
def test_any_expression_can_be_evaluated(text: str) -> None:
    compute(text, lambda name: {"N": "4"}.get(name))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("1 +", None),
        ("1 << 2", None),
        ("(1", None),
    ],
)
def test_arithmetic_is_computed(text: str, value: int | None) -> None:
    assert compute(text, lambda _: None) == value


def test_long_scripts_take_no_time() -> None:
    for piece in ("A=(", "cat <<E\n", "$((", "\\ \n", "A+=$A\n"):
        started = time.process_time()
        script = piece * 6_000
        read_command_line(["bash", "-c", script], {"A": "b"})
        broken_continuation(script)
        assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["bash", "-c", "torchrun t.py"], ["torchrun", "t.py"]),
        (["/bin/sh", "-ec", "torchrun t.py"], ["torchrun", "t.py"]),
        (["bash", "-c", "exec torchrun $ARGS"], ["torchrun", "$ARGS"]),
        (["bash", "-c", "torchrun ${ARGS} \\\n  t.py"], ["torchrun", "${ARGS}", "t.py"]),
        (["bash", "-c", "# why\nset -euo pipefail\nset -x; torchrun 't.py'"], ["torchrun", "t.py"]),
        (["bash", "-c", "set -e && torchrun t.py"], ["torchrun", "t.py"]),
        (["bash", "-c", "A=1 torchrun t.py"], None),
        (["bash", "-c", "a; b"], None),
        (["bash", "-c", "a && b"], None),
        (["bash", "-c", "a\nb"], None),
        (["bash", "-c", "a > log"], None),
        (["bash", "-c", "a '$B'"], None),
        (["bash", "-c", "a $(b)"], None),
        (["bash", "-c", "a ${B:-c}"], ["a", "${B:-c}"]),
        (["bash", "-c", "a \\$B"], None),
        (["bash", "-c", ""], None),
        (["bash", "-c", "exec"], None),
        (["bash", "-lc", "torchrun t.py"], None),  # a login shell reads files
        (["bash", "-c", "torchrun t.py", "name"], None),
        (["bash", "t.sh"], None),
        (["fish", "-c", "torchrun t.py"], None),
    ],
)
def test_the_only_command_of_a_script_is_found(argv: list[str], words: list[str] | None) -> None:
    assert single_command(argv) == words


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torchrun train.py --lr 1", ["torchrun", "train.py", "--lr", "1"]),
        ("python 'a b.py' \"c d\"", ["python", "a b.py", "c d"]),
        ("torchrun \\\n  train.py", ["torchrun", "train.py"]),
        ("torchrun \\ train.py", ["torchrun", "train.py"]),
        ("echo 'a; b | c'", ["echo", "a; b | c"]),
        ('echo "a;b"', ["echo", "a;b"]),
        ("x" * 4096, ["x" * 4096]),
        ("x" * 4097, []),
        ("cd /app && torchrun train.py", []),
        ("python train.py > log", []),
        ("python $SCRIPT", []),
        ("python '$SCRIPT'", []),
        ("python '`date`'", []),
        ("python 'train.py", []),
        ("", []),
    ],
)
def test_lines_without_expansion_split_into_arguments(line: str, expected: list[str]) -> None:
    assert split_line(line) == expected


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["bash", "-c", "run"], "run"),
        (["/bin/sh", "-ec", "run"], "run"),
        (["bash", "-l", "-c", "run", "x"], "run"),
        (["bash", "-o", "pipefail", "-c", "run"], "run"),
        (["bash", "-euo", "pipefail", "-c", "run"], "run"),
        (["bash", "-c", "-x", "run"], "run"),  # options may follow -c
        (["tini", "--", "bash", "-c", "run"], "run"),
        (["bash", "--login", "-c", "run"], "run"),
        (["bash", "run.sh"], None),
        (["bash", "run.sh", "-c", "config"], None),
        (["bash", "-c"], None),
        (["python", "-c", "print()"], None),
        ([], None),
    ],
)
def test_a_shell_runs_its_script(argv: list[str], expected: str | None) -> None:
    call = shell_call(argv)
    assert (call and call.text) == expected
