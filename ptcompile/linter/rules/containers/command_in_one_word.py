"""A whole command line is written as one word.

What: the first word of `command` contains blanks, as in `command: ["python train.py"]`.

Why: no shell splits it. The runtime looks for a program with that exact name, blanks included, and the
container does not start: "no such file or directory".

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
    -       command:
    -         - python train.py --epochs 3  # <--
    +       command: [python, train.py, --epochs, "3"]
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: write each word as its own list item, or start a shell: [bash, -c, "..."].

Source: Kubernetes 1.36, command and args of containers; execve(2).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.linter.containers import is_command_written
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.templates import Word

_SHELL = frozenset("|&;<>()$`*?~{}\n#!")
_MOST = 4096
"""A longer line is not taken apart."""


def _check(subject: Subject) -> Iterator[Finding]:
    for container in subject.containers:
        if is_command_written(container) and len(container.words[0].split()) > 1:
            word = container.argv[0]
            words = _taken_apart(word)
            rest = [one.text for one in container.argv[1:] if one.path[-2] == "command"]
            edit = Edit("set", word.path[:-1], [*words, *rest])
            yield found_at(
                word.path,
                f"no shell splits {_short(word.text)!r}: a program with that whole name is looked up",
                "write each word as its own list item",
                Fix("write each word as its own list item", (edit,), safe=False) if words else None,
            )


def _taken_apart(word: Word) -> list[str]:
    """The words as a shell would see them; none where it would do more than take them apart."""
    if len(word.text) > _MOST or _SHELL & set(word.text):
        return []
    import shlex

    try:
        return shlex.split(word.text)
    except ValueError:
        return []


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


RULE = Rule("command-in-one-word", _check, severity="error", stage="run", authority="kubelet")
