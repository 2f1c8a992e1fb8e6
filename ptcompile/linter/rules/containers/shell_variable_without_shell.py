"""A command uses a shell variable, but no shell runs.

What: `$NAME` or `${NAME}` in a word of a command that does not start a shell.

Why: Kubernetes replaces only `$(NAME)`. The program gets the text as written: a path that starts with `$DATA`, a host
named `$MASTER_ADDR`.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command:
              - python
              - train.py
    -         - --data=$DATA_DIR  # <--
    +         - --data=$(DATA_DIR)
            env: [{name: DATA_DIR, value: /data}]
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: write $(NAME), or run the command in a shell.

Source: Kubernetes 1.36, variables in command and args.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.commands import basename
from ptcompile.linter.containers import is_command_written, starts_shell
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.templates import ManifestContainer

_VARIABLE = Pattern(r"(?<!\$)\$(?:\{([A-Z][A-Z0-9_]+)\}|([A-Z][A-Z0-9_]+))")
_OTHERS = frozenset({"envsubst", "perl", "awk", "sed", "make"})
"""Programs that read such a word in their own way."""


def _check(subject: Subject) -> Iterator[Finding]:
    for container in subject.containers:
        if not is_command_written(container) or starts_shell(container) or basename(container.words[0]) in _OTHERS:
            continue
        for at, text in enumerate(container.words):
            match = _VARIABLE.search(text) if "\n" not in text else None
            if match is not None:
                word = container.argv[at]
                name = match[1] or match[2]
                there = any(entry.name == name for entry in container.env)
                replaced = _VARIABLE.sub(lambda one: f"$({one[1] or one[2]})", word.text)
                yield found_at(
                    word.path,
                    f"{match[0]} stays as written: no shell runs",
                    f"write $({name})",
                    Fix(f"write $({name})", (Edit("set", word.path, replaced),), safe=False) if there else None,
                    severity="error" if _read(subject, container, match[0]) else None,
                )


def _read(subject: Subject, container: ManifestContainer, variable: str) -> bool:
    """Whether the launcher of a container takes an option from the variable."""
    here = [one.seen for one in subject.training_roles if one.path == container.path]
    return any(variable in value for seen in here for value in (seen.endpoint, *seen.options.values()))


RULE = Rule("shell-variable-without-shell", _check, severity="warning", stage="run", authority="kubelet")
