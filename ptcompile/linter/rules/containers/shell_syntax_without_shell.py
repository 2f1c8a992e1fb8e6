"""A command uses shell syntax, but no shell runs.

PTC806 shell-syntax-without-shell: warning at run (fails), by kubelet.
Needs: command &/|/>/;

What: `&&`, `||`, `|`, `>`, `>>`, `2>&1` or `;` is an argument of a command that does not start a
shell.

Why: they are passed to the program as arguments. What follows them never runs, and nothing is
redirected.

Example: pod.yaml with

    - command:
    -   - python
    -   - prepare.py
    -   - "&&"  # <--
    -   - python
    -   - train.py
    + command: [bash, -c, python prepare.py && python train.py]

Fix: run it in a shell: [bash, -c, "..."].

Source: Kubernetes 1.36, command and args of containers; execve(2).
"""

from __future__ import annotations

from ptcompile.kubernetes.commands import basename
from ptcompile.linter.containers import starts_program
from ptcompile.linter.rule import Findings, Subject, found_at

_OPERATORS = frozenset({"&&", "||", "|", ">", ">>", "2>&1", "&>", "2>", ";"})
_PROGRAMS_WITH_OPERATORS = frozenset({"find", "xargs", "expr", "test", "[", "jq", "awk"})
"""Programs that take such arguments themselves."""


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        if (
            not starts_program(container)
            or basename(container.tokens[0]) in _PROGRAMS_WITH_OPERATORS
        ):
            continue

        word = next(
            (argument for argument in container.argv[1:] if argument.text in _OPERATORS), None
        )
        if word is not None:
            yield found_at(
                word.path,
                f"{word.text} is an argument of {basename(container.argv[0].text)}: no shell runs",
                'run it in a shell: [bash, -c, "..."]',
            )
