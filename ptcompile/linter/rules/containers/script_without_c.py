"""A shell is given a command line without -c.

PTC809 script-without-c: error at run (fails), by kubelet.
Needs: command {SHELLS} @blank

What: a shell's first argument that is not an option is a whole command line, as in `[bash,
"torchrun train.py"]`.

Why: without -c a shell takes its argument as the name of a file. The container stops at once: "No
such file or directory".

Example: pod.yaml with

      command:
        - bash
    +   - -c
        - python train.py --epochs 3  # <--

Fix: put -c before the command line.

Source: POSIX 2024, sh: command_file and -c.
"""

from __future__ import annotations

from ptcompile.kubernetes.commands import basename
from ptcompile.linter.containers import is_command_written, shell_index
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        argv = container.argv
        shell = shell_index(container)
        if not is_command_written(container) or shell is None or container.call is not None:
            continue

        word = next(
            (argument for argument in argv[shell + 1 :] if argument.text[:1] not in ("-", "+")),
            None,
        )
        if word is not None and len(word.text.split()) > 1:
            key = word.path[:-1]
            siblings = [argument for argument in argv if argument.path[:-1] == key]
            words = [argument.text for argument in siblings]
            index = siblings.index(word)
            yield found_at(
                word.path,
                f"without -c, {basename(argv[shell].text)} takes this line as the name of a file",
                "put -c before it",
                fix_setting("put -c before it", key, [*words[:index], "-c", *words[index:]]),
            )
