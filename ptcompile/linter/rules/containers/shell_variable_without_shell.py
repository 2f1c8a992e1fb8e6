"""A command uses a shell variable, but no shell runs.

PTC807 shell-variable-without-shell: warning at run (fails), by kubelet.
Needs: command @variable

What: `$NAME` or `${NAME}` is in an argument of a command that does not start a shell.

Why: Kubernetes replaces only `$(NAME)`. The program gets the text as written: a path that starts
with `$DATA`, a host named `$MASTER_ADDR`.

Example: pod.yaml with

      command:
        - python
        - train.py
    -   - --data=$DATA_DIR  # <--
    +   - --data=$(DATA_DIR)
      env: [{name: DATA_DIR, value: /data}]

Fix: write $(NAME), or run the command in a shell.

Source: Kubernetes 1.36, variables in command and args.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.commands import basename
from ptcompile.linter.containers import starts_program
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.world.templates import ManifestContainer

_VARIABLE = Pattern(r"(?<!\$)\$(\{)?(?P<name>[A-Z][A-Z0-9_]+)(?(1)\})")
_PROGRAMS_WITH_VARIABLES = frozenset({"envsubst", "perl", "awk", "sed", "make"})
"""Programs that interpret such arguments themselves."""


def check(subject: Subject) -> Findings:
    instead = load_table("linter/slurm.json")["instead"]
    for container in subject.containers:
        if (
            not starts_program(container)
            or basename(container.tokens[0]) in _PROGRAMS_WITH_VARIABLES
        ):
            continue

        for index, text in enumerate(container.tokens):
            match = _VARIABLE.search(text) if "$" in text and "\n" not in text else None
            if match is not None:
                word = container.argv[index]
                variable = match.group()
                name = match["name"]
                is_defined = any(entry.name == name for entry in container.variables)
                replaced = _VARIABLE.sub(r"$(\g<name>)", word.text)
                yield found_at(
                    word.path,
                    f"{variable} is not expanded: no shell runs",
                    f"use {instead[name]}" if name in instead else f"write $({name})",
                    fix_setting(f"write $({name})", word.path, replaced) if is_defined else None,
                    severity="error" if _launcher_reads(subject, container, variable) else None,
                )


def _launcher_reads(subject: Subject, container: ManifestContainer, variable: str) -> bool:
    """Return whether the container's launcher takes an option from the variable."""
    settings = [role.rendezvous for role in subject.training_roles if role.path == container.path]
    return any(
        variable in value
        for rendezvous in settings
        for value in (rendezvous.endpoint, *rendezvous.options.values())
    )
