"""What a shell makes of a script: words, variables, arrays, here-documents."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from ptcompile._internal.limits import Budget
from ptcompile.simulator.launchers.arithmetic import evaluate
from ptcompile.simulator.launchers.command import read_command_line
from ptcompile.simulator.launchers.shell import broken_continuation, simple_commands, single_command, split_statements


@pytest.mark.parametrize(
    ("script", "words"),
    [
        # checked with bash 5.2
        ("A='--nnodes 2'; torchrun $A t.py", ["torchrun", "--nnodes", "2", "t.py"]),
        ("A='--nnodes 2'; torchrun \"$A\" t.py", ["torchrun", "--nnodes 2", "t.py"]),
        ("A=(--nnodes 2); torchrun ${A[@]} t.py", ["torchrun", "--nnodes", "2", "t.py"]),
        ("A=(\n  --nnodes $N\n  'b c'\n)\nA+=(z)\ntorchrun \"${A[@]}\"", ["torchrun", "--nnodes", "4", "b c", "z"]),
        ("A=1\nA+=2\ntorchrun $A", ["torchrun", "12"]),
        ("local M=$((N*2)); torchrun $M $((10#$N - 1)) $((N/0))", ["torchrun", "8", "3", "$((N/0))"]),
        ("A=$(nvidia-smi -L | wc -l)\ntorchrun $A", ["torchrun", "$(nvidia-smi -L | wc -l)"]),
        ("torchrun $EMPTY t.py", ["torchrun", "t.py"]),
        ('torchrun "$EMPTY" t.py', ["torchrun", "", "t.py"]),
        ("torchrun ${M:-$N} ${M:=5} ${N:?no}", ["torchrun", "4", "5", "4"]),
        ('torchrun "a\\"b" "c\\\nd"', ["torchrun", 'a"b', "cd"]),
        ("bash <<EOF\ntorchrun --nnodes=$N t.py\nEOF", ["torchrun", "--nnodes=4", "t.py"]),
        ("cat > /run.sh <<'EOF'\ntorchrun $N\nEOF\nbash /run.sh", ["torchrun", "4"]),
        ("cat > t.py <<EOF\ntorchrun no\nEOF\ntorchrun t.py", ["torchrun", "t.py"]),
        ("cat <<EOF\nnever ends", ["never", "ends"]),
    ],
)
def test_the_last_command(script: str, words: list[str]) -> None:
    commands = [command for command, _ in simple_commands(script, {"N": "4", "EMPTY": ""}, Budget())]
    assert commands[-1] == words


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
def test_options_with_a_literal_dollar(script: str, literals: tuple[str, ...]) -> None:
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
def test_a_backslash_before_whitespace(script: str, line: str | None) -> None:
    assert broken_continuation(script) == line


def test_statements_have_their_dollars_as_written() -> None:
    assert split_statements("a '$X' \"$Y\" \\$Z") == [(["a", "$X", "$Y", "$Z"], "")]


@given(st.text(alphabet="12 +-*/%()N$#0", max_size=40))
def test_any_expression_can_be_evaluated(text: str) -> None:
    evaluate(text, {"N": "4"})


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
def test_arithmetic(text: str, value: int | None) -> None:
    assert evaluate(text, {}) == value


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
def test_the_only_command_of_a_script(argv: list[str], words: list[str] | None) -> None:
    assert single_command(argv) == words
