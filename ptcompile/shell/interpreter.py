"""Follows a script through its commands, functions, branches and loops. Nothing is executed.

Where a condition is not decided by the files, both branches are followed, and what they run is in
doubt.
Source: POSIX 2024, 2.9 Shell Commands, 2.8.2 Exit Status for Commands; bash 5.2, `set -e` and
`pipefail`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from posixpath import join as join_path, normpath

from ptcompile.kubernetes.commands import unwrap
from ptcompile.shell import nodes
from ptcompile.shell.builtins import BUILTINS, NAME, declare
from ptcompile.shell.calls import Files, ShellCall, shell_call
from ptcompile.shell.endless import endless_program
from ptcompile.shell.outputs import output_of
from ptcompile.shell.parser import DECLARATIONS, parse
from ptcompile.shell.patterns import decide, matches
from ptcompile.shell.script import ShellCommand
from ptcompile.shell.state import ShellState, join, status_text
from ptcompile.shell.values import (
    FAILED,
    MAX_TEXT,
    OK,
    UNKNOWN,
    Argument,
    Doubt,
    ExitStatus,
    ShellValue,
    Variable,
    any_of,
    derive_value,
    is_certain,
    is_known,
    text_of,
    unknown,
)
from ptcompile.shell.words import MAX_ITEMS, Expander

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from ptcompile.shell.builtins import Argv
    from ptcompile.shell.nodes import Node, Redirection
    from ptcompile.shell.values import DoubtKind, HowEnded

    BranchT = TypeVar("BranchT", nodes.Branch, nodes.Choice)

_MAX_STEPS = 20_000
_MAX_COMMANDS = 2_000
_MAX_DEPTH = 160
_CALL_DEPTH = 8
"""What a function or a script inside a script counts towards `_MAX_DEPTH`."""
_MAX_ROUNDS = 16
"""Maximum number of rounds of a `for` that are followed one by one."""
_MAX_SHOWN = 60

_ASKING = frozenset(
    [
        "[",
        "test",
        "grep",
        "egrep",
        "command",
        "which",
        "type",
        "hash",
        "getent",
        "nc",
        "curl",
        "pgrep",
        "mountpoint",
    ]
)
"""Programs whose failure is an answer and no accident."""
_ASSIGNS = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*(?:[-+*/%]?=(?!=)|\+\+|--)")
_READERS = frozenset({"read", "mapfile", "readarray", "let", "unset"})


class LimitError(Exception):
    """A script is too long to follow to its end."""


class Interpreter(Expander):
    """Collects the commands of a script, and what their failure means for it."""

    stdin: ShellValue = ()
    """The text of the here-document that the next program reads."""
    endless = ""
    """The first command or loop that never ends, if the script certainly reaches it."""
    unread: Doubt | None = None
    """The first part that cannot be read."""
    may_fail = False
    """Whether the script may end with a status that is not known."""
    text = file = ""
    """What is read, and the file that has it."""
    steps = depth = 0
    asked = 0
    """Depth of conditions, pipelines and background jobs, where `set -e` has no effect."""
    in_background = in_loop = before_pipe = in_substitution = 0
    substitution_status = OK
    """The status of the last `$(...)`, which an assignment takes over."""

    def __init__(self, env: Mapping[str, str], files: Files) -> None:
        super().__init__(env)
        self.given_files = files
        self.file_reads: dict[str, str | None] = {}
        """Files that were looked up, with their texts."""
        self.written: dict[str, str | None] = {}
        """Files that the script writes itself; None for an unknown text."""
        self.commands: list[ShellCommand] = []
        self.waited: set[int] = set()
        self.running: set[int] = set()
        """Commands that were started in the background."""
        self.fatal: set[int] = set()
        """Commands whose failure ends the innermost shell, because of `set -e`."""
        self.hidden: list[dict[str, Variable | None]] = []
        """What the local variables of each running function hide."""
        self.exits: list[ExitStatus] = []
        self.returns: list[ExitStatus] = []

    def sequence(self, items: nodes.Sequence, state: ShellState) -> ExitStatus:
        """Run commands one after the other, and return the status of the last one."""
        for node, in_background in items:
            if in_background and state.reaches_next:
                self.start_job(node, state)
            else:
                state.status = self.run(node, state)
        return state.status

    def asked_status(self, items: nodes.Sequence, state: ShellState) -> ExitStatus:
        """Return the status of commands whose failure is no reason to end the script."""
        self.asked += 1
        status = self.sequence(items, state)
        self.asked -= 1
        return status

    def start_job(self, node: Node, state: ShellState) -> None:
        """Run a command in the background."""
        first = len(self.commands)
        self.in_background += 1
        status = self.run_subshell(_single_node(node), state, asked=1)
        self.in_background -= 1
        self.running.update(range(first, len(self.commands)))
        state.background = ExitStatus(None, status.failing)
        state.status = OK

    def run(self, node: Node, state: ShellState) -> ExitStatus:
        """Run a command unless the script has ended, and return its status."""
        if not state.reaches_next:
            return state.status

        self.steps += 1
        self.depth += 1
        if self.steps > _MAX_STEPS or self.depth > _MAX_DEPTH:
            raise LimitError

        status = _METHODS[type(node)](self, node, state)
        self.depth -= 1
        stops = state.errexit and not state.ended and not self.asked
        if stops and isinstance(node, _ENDING_ERREXIT):
            self.fatal |= status.failing
            if status.code:
                self.end("exit", status, state)

        return status

    def end(self, how: HowEnded, status: ExitStatus, state: ShellState) -> None:
        """End the shell, the function or the loop."""
        if status.code and state.failing:
            status = ExitStatus(None, state.failing)
        state.ended = how
        if how == "return":
            self.returns.append(status)
        if how == "exit":
            self.may_fail = self.may_fail or status == UNKNOWN
            self.exits.append(status)
            if status.code or status.failing & state.failing:
                state.ended = "failure"

    def run_subshell(self, items: nodes.Sequence, state: ShellState, *, asked: int) -> ExitStatus:
        """Run commands whose `exit`, variables and `set -e` affect only them, and return the
        status they end with.
        """
        outer = self.fatal, self.exits, self.asked
        self.fatal = set()
        self.exits = []
        self.asked = asked
        inner = state.copy()
        status = self.sequence(items, inner)
        if inner.reaches_next:
            self.exits.append(status)
        status = any_of(self.exits, self.fatal)
        self.fatal, self.exits, self.asked = outer
        if inner.ended == "endless" and not self.in_background:
            state.ended = "endless"

        return status

    def doubt_about(self, node: Node | nodes.Branch | nodes.Choice) -> Doubt:
        """Return the doubt about what a condition decides."""
        return self.doubt_at(node.start, node.end, "branch")

    def doubt_at(self, start: int, end: int, kind: DoubtKind) -> Doubt:
        """Return the doubt about a part of the text."""
        text = " ".join(self.text[start:end].split()).removesuffix(";").rstrip()
        if len(text) > _MAX_SHOWN:
            text = f"{text[:_MAX_SHOWN]}..."
        return Doubt(self.text.count("\n", 0, start) + 1, text, kind, "", self.file)

    def and_or(self, node: nodes.AndOr, state: ShellState) -> ExitStatus:
        """Run `left && right` or `left || right`."""
        left = self.asked_status(_single_node(node.left), state)
        is_and = node.operator == "&&"
        if left.code is not None:
            if (left.code == 0) == is_and:
                return self.run(node.right, state)
            return left

        doubt = self.doubt_about(node)
        if is_and and not _asks(node.left):
            taken = state.copy()
            right = self.run(node.right, taken)
            outcomes = [taken] if taken.reaches_next else [taken, state.branch(doubt, left.failing)]
            join(state, outcomes, doubt)
            return ExitStatus(right.code or None, left.failing | right.failing)

        has_failed = left.succeeding if is_and else left.failing
        taken = state.branch(doubt, has_failed)
        taken.status = left
        right = self.run(node.right, taken)
        is_success = not is_and and (right.code == 0 or not taken.reaches_next)
        join(state, [taken, state.copy()], doubt)
        if is_success:
            return OK

        return ExitStatus(None, right.failing if right.code is None else has_failed)

    def if_(self, node: nodes.If, state: ShellState) -> ExitStatus:
        """Run `if`."""
        return self.choose(
            node.branches,
            lambda branch, now: self.asked_status(branch.condition, now),
            node.otherwise,
            state,
        )

    def case(self, node: nodes.Case, state: ShellState) -> ExitStatus:
        """Run `case`."""
        value = self.word_value(node.word, state)
        if not node.choices:
            return OK
        return self.choose(
            node.choices, lambda choice, now: self.matching(value, choice, now), (), state
        )

    def choose(
        self,
        options: Sequence[BranchT],
        asked: Callable[[BranchT, ShellState], ExitStatus],
        otherwise: nodes.Sequence,
        state: ShellState,
    ) -> ExitStatus:
        """Run the first option whose condition is true, each if that is not known; or else the
        rest.
        """
        outcomes: list[ShellState] = []
        statuses: list[ExitStatus] = []
        current = state.copy()
        for option in options:
            status = asked(option, current)
            if status.code is None:
                doubt = self.doubt_about(option)
                taken = current.branch(doubt, status.succeeding)
                statuses.append(self.sequence(option.body, taken))
                outcomes.append(taken)
                current = current.branch(doubt, status.failing)
            elif status.code == 0:
                otherwise = option.body
                break

        current.status = OK
        statuses.append(self.sequence(otherwise, current))
        join(state, [*outcomes, current], self.doubt_about(options[0]))

        return any_of(statuses)

    def matching(self, value: ShellValue, choice: nodes.Choice, state: ShellState) -> ExitStatus:
        """Return whether a value matches one of the patterns, as a status."""
        patterns = [self.word_value(pattern, state) for pattern in choice.patterns]
        if any(text_of(pattern) == "*" for pattern in patterns):
            return OK
        if not all(map(is_certain, (value, *patterns))):
            return UNKNOWN
        if any(matches(text_of(value), text_of(pattern)) for pattern in patterns):
            return OK
        return FAILED

    def loop(self, node: nodes.Loop, state: ShellState) -> ExitStatus:
        """Run `while` or `until`: one round, after which what it assigns is unknown."""
        changed = _assigned_in(node)
        if "shift" in changed and self.shifting_loop(node, state):
            return OK

        # the first round is followed; what earlier rounds assigned is unknown in it
        state.forget(changed)
        self.in_loop += 1
        status = self.asked_status(node.condition, state)
        if node.is_until:
            status = status.negate()
        doubt = self.doubt_about(node)
        is_true = status.code == 0
        taken = state.copy() if is_true else state.branch(doubt, status.succeeding)
        body_status = OK if status.code == 1 else self.sequence(node.body, taken)
        self.in_loop -= 1

        # a loop whose condition stays true ends only by an error, an argument or a break
        is_left = (
            taken.errexit
            or "shift" in changed
            or not taken.reaches_next
            or any(other.until == "break" for other in taken.doubts)
        )
        taken.leave("continue")
        if is_true and not is_left:
            self.never_ends(f"the loop `{doubt.text}`", state)
            return OK

        # an unknown condition may be false at once, so both outcomes count
        taken.leave("break")
        if status.code is None:
            join(state, [taken, state.copy()], doubt)
        elif is_true:
            state.become(taken)

        state.forget(changed)
        return OK if is_true else ExitStatus(None, body_status.failing)

    def shifting_loop(self, node: nodes.Loop, state: ShellState) -> bool:
        """Run a loop over the arguments round by round, and return whether its end is known."""
        for _ in range(_MAX_ROUNDS):
            status = self.asked_status(node.condition, state)
            if status.code is None:
                return False
            if (status.code == 0) == node.is_until:
                return True

            self.sequence(node.body, state)
            state.leave("continue")
            if not state.reaches_next:
                state.leave("break")
                return True

        return False

    def never_ends(self, text: str, state: ShellState) -> None:
        """End the script at a command or a loop that never ends."""
        state.ended = "endless"
        if not state.doubts and not self.in_background and not self.before_pipe:
            self.endless = self.endless or text

    def for_(self, node: nodes.For, state: ShellState) -> ExitStatus:
        """Run `for`: each round, or one if they are not known or too many."""
        arguments = [Argument(value, 0, 0) for value in state.arguments]
        if node.words is not None:
            arguments = self.expand_all(node.words, state)
        is_short = len(arguments) <= _MAX_ROUNDS and not any(
            argument.may_split for argument in arguments
        )
        if not is_short or not all(is_known(argument.value) for argument in arguments):
            return self.unknown_rounds(node, state)

        status = OK
        for argument in arguments:
            state.variables[node.name] = Variable(argument.value, state.is_exported(node.name))
            status = self.sequence(node.body, state)
            state.leave("continue")

        state.leave("break")
        return status

    def unknown_rounds(self, node: nodes.For, state: ShellState) -> ExitStatus:
        """Run one round of a `for` that may have any number."""
        changed = _assigned_in(node)
        state.forget(changed)
        doubt = self.doubt_about(node)
        taken = state.branch(doubt, frozenset())
        status = self.sequence(node.body, taken)
        taken.leave("continue", "break")
        join(state, [taken, state.copy()], doubt)
        state.forget(changed)
        return ExitStatus(None, status.failing)

    def function(self, node: nodes.Function, state: ShellState) -> ExitStatus:
        """Define a function."""
        state.functions[node.name] = node.body, self.text, self.file
        return OK

    def group(self, node: nodes.Group, state: ShellState) -> ExitStatus:
        """Run commands in braces or parentheses."""
        if node.is_subshell:
            return self.run_subshell(node.body, state, asked=self.asked)
        return self.sequence(node.body, state)

    def pipeline(self, node: nodes.Pipeline, state: ShellState) -> ExitStatus:
        """Run commands between `|`, or one after `!`."""
        if len(node.commands) == 1:
            return self.asked_status(_single_node(node.commands[0]), state).negate()

        *others, last = node.commands
        # the reader of a pipe may end its writer
        self.before_pipe += 1
        statuses = [
            self.run_subshell(_single_node(command), state.copy(), asked=1) for command in others
        ]
        self.before_pipe -= 1
        statuses.append(self.run_subshell(_single_node(last), state, asked=1))
        items = tuple([status_text(status, "$?") for status in statuses])
        state.variables["PIPESTATUS"] = Variable(items[0], False, items)
        status = any_of(statuses) if state.pipefail else statuses[-1]

        return status.negate() if node.is_negated else status

    def test(self, node: nodes.Test, state: ShellState) -> ExitStatus:
        """Run `[[ ... ]]`."""
        return decide([self.word_value(word, state) for word in node.words], is_double=True)

    def arithmetic(self, node: nodes.ArithmeticCommand, state: ShellState) -> ExitStatus:
        """Run `((...))`."""
        state.forget(_assigned_in(node))
        value = self.arithmetic_value(node.parts, "", state)
        if is_certain(value):
            return ExitStatus(int(text_of(value) == "0"))
        return UNKNOWN

    def unreadable(self, node: nodes.Unreadable, state: ShellState) -> ExitStatus:
        """Note that the rest cannot be read."""
        line = self.text.rfind("\n", 0, node.start) + 1
        self.unread = self.unread or self.doubt_at(line, node.end, "text")
        return UNKNOWN

    def call(self, name: str, argv: Argv, state: ShellState) -> ExitStatus:
        """Run a function."""
        outer = self.text, self.file, self.returns, state.arguments
        body, self.text, self.file = state.functions[name]
        self.returns = []
        state.arguments = tuple([argument.value for argument in argv[1:]])
        self.depth += _CALL_DEPTH
        self.hidden.append({})
        status = self.run(body, state)
        for name, variable in self.hidden.pop().items():
            state.variables.pop(name, None)
            if variable is not None:
                state.variables[name] = variable
        self.depth -= _CALL_DEPTH
        if state.reaches_next:
            self.returns.append(status)
        status = any_of(self.returns)
        self.text, self.file, self.returns, state.arguments = outer
        state.leave("return")

        return status

    def simple(self, node: nodes.Simple, state: ShellState) -> ExitStatus:
        """Run a simple command: assignments, a function, a command of the shell, or a program."""
        argv = self.expand_all(node.words, state)
        if argv and argv[0].text in DECLARATIONS:
            return declare(self, node.assignments, argv, state)

        self.substitution_status = OK
        assigned = {
            assignment.name: self.assigned(assignment, state) for assignment in node.assignments
        }
        self.write_file(node.redirections, argv, state)
        if not argv:
            state.variables |= assigned
            return self.substitution_status

        name = argv[0].text
        if name in state.functions:
            state.variables |= assigned
            return self.call(name, argv, state)
        if name not in BUILTINS:
            return self.program(argv, state, assigned)

        own = ExitStatus(None, frozenset({self.record(argv, state, assigned)}))
        return BUILTINS[name](self, argv, state) or own

    def assigned(self, assignment: nodes.ShellAssignment, state: ShellState) -> Variable:
        """Return what an assignment makes of a variable."""
        name = assignment.name
        is_exported = state.is_exported(name)
        if assignment.items is not None:
            items = tuple([argument.value for argument in self.expand_all(assignment.items, state)])
            if assignment.appends and name in state.variables:
                items = (state.variables[name].items or ()) + items
            if len(items) > MAX_ITEMS:
                return Variable(unknown(f"${name}"), is_exported)
            return Variable(items[0] if items else (), is_exported, items)

        value = self.word_value(assignment.value, state)
        if assignment.appends and self.budget.allows(len(text_of(value)), name):
            value = (self.lookup(name, state) or ()) + value

        return Variable(value, is_exported)

    def program(
        self,
        argv: Argv,
        state: ShellState,
        assigned: Mapping[str, Variable],
        *,
        is_exec: bool = False,
    ) -> ExitStatus:
        """Follow a script that a program reads if its text is known, else record the program."""
        words = [argument.text for argument in argv]
        call = shell_call(words, lambda path: self.file_text(path, state))
        if call is None and self.stdin:
            call = shell_call([*words, "-c", text_of(self.stdin)])
        self.stdin = ()
        inner = unwrap(words)
        if call is not None:
            wrapped = {name: Variable(derive_value(text)) for name, text in inner.env.items()}
            return self.script(call, argv, state, {**assigned, **wrapped}, is_exec=is_exec)

        index = self.record(argv, state, assigned)
        text = endless_program(words[inner.start :])
        if text is not None and "timeout" not in words[: inner.start]:
            self.commands[index] = self.commands[index]._replace(is_endless=True)
            self.never_ends(text, state)
        if "sleep" in words[: inner.start + 1]:
            return OK

        return ExitStatus(None, frozenset({index}))

    def script(
        self,
        call: ShellCall,
        argv: Argv,
        state: ShellState,
        assigned: Mapping[str, Variable],
        *,
        is_exec: bool,
    ) -> ExitStatus:
        """Run a script in another shell, which sees exported variables."""
        inner = state.copy()
        for name, variable in state.variables.items():
            inner.variables[name] = variable if variable.is_exported else Variable(None)
        for name, variable in assigned.items():
            inner.variables[name] = variable._replace(is_exported=True)
        inner.functions = {}
        inner.arguments = tuple([argument.value for argument in argv[call.position :]])[
            -len(call.arguments) :
        ][1:]
        inner.errexit = call.errexit
        inner.pipefail = call.pipefail
        status = self.run_text(call.text, inner, call.file, is_own=True)
        state.ended = inner.ended
        if is_exec and state.reaches_next:
            self.end("exit", status, state)

        return status

    def run_text(
        self, text: str, state: ShellState, file: str, *, is_own: bool = False
    ) -> ExitStatus:
        """Run another text, in another shell or in this one."""
        outer = self.text, self.file
        self.text = text[:MAX_TEXT]
        self.file = file
        self.depth += _CALL_DEPTH
        if len(text) > MAX_TEXT:
            self.unread = self.doubt_at(MAX_TEXT - _MAX_SHOWN, MAX_TEXT, "text")
        body = parse(self.text).body
        if is_own:
            status = self.run_subshell(body, state, asked=self.in_background)
        else:
            status = self.sequence(body, state)

        self.depth -= _CALL_DEPTH
        self.text, self.file = outer

        return status

    def record(self, argv: Argv, state: ShellState, assigned: Mapping[str, Variable]) -> int:
        """Note a command, and return its index."""
        if len(self.commands) >= _MAX_COMMANDS:
            raise LimitError

        exported = {
            name: variable for name, variable in state.variables.items() if variable.is_exported
        }
        command = ShellCommand(
            argv=tuple(argv),
            variables={name: variable.value for name, variable in {**exported, **assigned}.items()},
            start=argv[0].start,
            file=self.file,
            doubt=next(iter(state.doubts), None),
            changed_by=state.changed_by,
            in_background=self.in_background > 0,
            in_loop=self.in_loop > 0,
            in_substitution=self.in_substitution > 0,
        )
        self.commands.append(command)

        return len(self.commands) - 1

    def path_of(self, path: str, state: ShellState) -> str:
        """Return a path from the working folder."""
        return normpath(join_path(state.folder, path))

    def file_text(self, path: str, state: ShellState) -> str | None:
        """Return the text of a file that the script wrote or that the container has, or None."""
        path = self.path_of(path, state)
        if path in self.written:
            return self.written[path]
        self.file_reads[path] = text = self.given_files(path)
        return text

    def write_file(
        self, redirections: Sequence[Redirection], argv: Argv, state: ShellState
    ) -> None:
        """Keep the text of `cat <<EOF > FILE` and `echo TEXT > FILE`, and of `bash <<EOF`."""
        body = tuple(
            [
                piece
                for redirection in redirections
                for piece in self.word_value(redirection.body, state)
            ]
        )
        text = text_of(body)
        name = argv[0].text if argv else ""
        if name == "echo":
            text = " ".join([argument.text for argument in argv[1:]])
        elif name != "cat":
            self.stdin = body
            text = ""

        for redirection in redirections:
            if redirection.operator == ">":
                self.written[
                    self.path_of(text_of(self.word_value(redirection.target, state)), state)
                ] = text or None

    def substitution(self, part: nodes.Substitution, state: ShellState) -> ShellValue:
        """Return the output of commands if it is known: of `hostname`, `echo`, `cat` with a
        here-document, ...
        """
        node = part.body[0].node if len(part.body) == 1 else None
        not_known = unknown(part.source)
        if (
            isinstance(node, nodes.Simple)
            and [word.source for word in node.words] == ["cat"]
            and node.redirections
        ):
            printed = self.word_value(node.redirections[0].body, state)
            if not printed:
                return not_known
            *pieces, last = printed
            return (*pieces, last._replace(text=last.text.rstrip("\n")))

        first = len(self.commands)
        self.in_substitution += 1
        self.substitution_status = self.run_subshell(part.body, state, asked=1)
        self.in_substitution -= 1
        commands = self.commands[first:]
        values = [argument.value for command in commands for argument in command.argv]
        if len(part.body) != 1 or not commands or not all(map(is_known, values)):
            return not_known

        output = output_of(
            [command.words for command in commands], lambda name: self.known_text(name, state)
        )
        if output is None:
            return not_known

        return derive_value(output.rstrip("\n"), *values)


def _single_node(node: Node) -> nodes.Sequence:
    return (nodes.Started(node, False),)


_ENDING_ERREXIT = (nodes.Simple, nodes.Test, nodes.ArithmeticCommand, nodes.Pipeline, nodes.Group)


def _asks(node: Node) -> bool:
    """Return whether a command's failure is an answer and no accident."""
    if isinstance(node, nodes.AndOr):
        return _asks(node.left) or _asks(node.right)
    if isinstance(node, nodes.Pipeline):
        return node.is_negated or _asks(node.commands[-1])
    if isinstance(node, nodes.Group):
        return _asks(node.body[-1].node)
    if isinstance(node, nodes.Simple):
        return bool(node.words) and node.words[0].source in _ASKING
    return isinstance(node, nodes.Test | nodes.ArithmeticCommand)


def _assigned_in(node: Node) -> set[str]:
    """Return the variables that commands inside a command may change."""
    names: set[str] = set()
    for inner in nodes.walk(node):
        if isinstance(inner, nodes.ShellAssignment | nodes.For):
            names.add(inner.name)
        elif isinstance(inner, nodes.Simple) and inner.words and inner.words[0].source == "shift":
            # the name `shift` means that the positional parameters change
            names.add("shift")
        elif isinstance(inner, nodes.Simple) and inner.words and inner.words[0].source in _READERS:
            names.update(*[NAME.findall(word.source) for word in inner.words[1:]])
        elif isinstance(inner, nodes.Arithmetic | nodes.ArithmeticCommand):
            names.update(*[_ASSIGNS.findall(getattr(part, "text", "")) for part in inner.parts])

    return names


_METHODS: dict[type, Callable[..., ExitStatus]] = {
    nodes.AndOr: Interpreter.and_or,
    nodes.ArithmeticCommand: Interpreter.arithmetic,
    nodes.Case: Interpreter.case,
    nodes.For: Interpreter.for_,
    nodes.Function: Interpreter.function,
    nodes.Group: Interpreter.group,
    nodes.If: Interpreter.if_,
    nodes.Loop: Interpreter.loop,
    nodes.Pipeline: Interpreter.pipeline,
    nodes.Simple: Interpreter.simple,
    nodes.Test: Interpreter.test,
    nodes.Unreadable: Interpreter.unreadable,
}
