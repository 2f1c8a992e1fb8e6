"""A shell's script ignores the arguments after it.

PTC810 lost-arguments: error at run (differs), by kubelet.
Needs: {SHELLS}

What: `bash -c` gets further arguments after its script, and the script uses none of them.

Why: -c takes one argument as the script. The others become its parameters $0, $1, ...: in `[bash,
-c, torchrun, --nnodes=2, train.py]` torchrun starts without any argument; of two lines given as two
items the second never runs. It is an error if the lost part is the one that trains.

Example: pod.yaml with

      command: [bash, -c]
      args:
    -   - pip install -r requirements.txt
    -   - python train.py  # <--
    +   - pip install -r requirements.txt && python train.py

Fix: write the whole script as one item.

Source: POSIX 2024, sh -c: command_string, command_name, arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import shorten
from ptcompile.kubernetes.commands import LAUNCHERS, basename
from ptcompile.linter.containers import mentions_training
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import Token

_PARAMETER = Pattern(r"\$\{?[0-9@*#]|\bshift\b|\bgetopts\b")
_ZEROTH_ARGUMENTS = frozenset({"bash", "sh", "_", "-", "--", "dash", "ash", "zsh"})
"""Common values of $0, which appears in error messages only."""


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        call = container.call if container.mounted_script is None else None
        rest = container.argv[call.position + 1 :] if call is not None else ()
        if call is None or not rest or _PARAMETER.search(call.text):
            continue

        unused = rest[1:] if basename(rest[0].text) in _ZEROTH_ARGUMENTS else rest
        if unused:
            first, *_ = unused
            first_line, _, _ = first.text.strip().partition("\n")
            yield found_at(
                first.path,
                "never runs: -c takes the script as one argument, and the script ignores its "
                f"parameter {shorten(first_line, 30)!r}",
                "write the whole script as one item",
                severity=None if _loses_training(call.text, unused) else "warning",
            )


def _loses_training(script: str, unused: Sequence[Token]) -> bool:
    """Return whether the script certainly does not train, because its launcher or the launcher's
    script is lost.
    """
    words = script.split()
    if len(words) == 1:
        return basename(words[0]) in LAUNCHERS
    return not mentions_training(script) and mentions_training(
        " ".join(word.text for word in unused)
    )
