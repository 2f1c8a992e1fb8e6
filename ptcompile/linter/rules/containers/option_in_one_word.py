"""An option and its value are one argument.

PTC805 option-in-one-word: warning at run (fails), by kubelet.
Needs: command @blank

What: a command that no shell splits has an argument such as `--epochs 3`.

Why: the program gets one argument with the option's name, the space and the value. Python's
argparse does not recognize it: "unrecognized arguments".

Example: pod.yaml with

      command: [python, train.py]
      args:
    -   - --epochs 3  # <--
    +   - --epochs=3

Fix: write --epochs=3, or two items.

Source: Kubernetes 1.36, command and args of containers; Python 3.13, argparse.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.linter.containers import starts_program
from ptcompile.linter.rule import Findings, Subject, corrected_at

_OPTION = Pattern(r"(?P<option>--[A-Za-z][\w.-]*) +(?P<value>[^-\s]\S*|-[0-9.]+)")


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        if not starts_program(container):
            continue
        for index, text in enumerate(container.tokens):
            match = _OPTION.fullmatch(text) if index and " " in text else None
            if match is not None:
                word = container.argv[index]
                joined = f"{match['option']}={match['value']}"
                yield corrected_at(
                    word.path,
                    f"no shell splits {word.text!r}: the program sees no option {match['option']}",
                    joined,
                )
