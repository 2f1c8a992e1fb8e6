"""What an import of a batch script has to say, each with its line. Secrets of the script are
never quoted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import partialmethod

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.secret_formats import mask_formats
from ptcompile.diagnostics import Problem, Severity, has_error
from ptcompile.source.documents import Source
from ptcompile.source.secrets.commands import is_written_secret, script_secrets
from ptcompile.source.secrets.masking import masker
from ptcompile.source.secrets.names import is_secret

Offsets = tuple[int, int]
"""Offsets of a part of the script: its start and its end."""
_MAX_QUOTED = 80
_MAX_FINDINGS = 200


class ScriptFindings:
    """Collects the findings of one script."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.secrets = script_secrets(source.text)
        """Values of secrets in the script, by the variables that have them."""
        self.secret_names = {name for name in exports_of_shell(source.text) if is_secret(name)}
        """Secrets that the script passes on from the submitting shell."""
        self.settled: Collection[str] = ()
        """Options whose meaning on the cluster the import was given: there is nothing to say
        about them.
        """
        self.problems: list[Problem] = []

    def add(
        self,
        name: str,
        place: Offsets,
        text: str,
        help: str | None = None,
        severity: Severity = "warning",
    ) -> None:
        """Add a finding about a part of the script."""
        if len(self.problems) >= _MAX_FINDINGS:
            return

        start, end = place
        span = self.source.span(start, self.source.line_end(start, max(start, end)))
        stage: Any = "apply" if severity == "error" else "style"
        problem = Problem(name, (), text, help, severity, stage, "ptcompile", span=span)
        if problem not in self.problems:
            self.problems.append(problem)

    note = partialmethod(add, "script-left-behind", severity="note")
    """Note what is otherwise than it was in Slurm."""
    decide = partialmethod(add, "script-decision")
    """Warn about what the reader has to decide."""
    miss = partialmethod(add, "script-unknown-value")
    """Warn about a value that the script does not say."""
    reject = partialmethod(add, "rejected-directive")
    """Warn about what sbatch or srun does not accept."""
    refuse = partialmethod(add, "script-refused", severity="error")
    """Add the reason why there is no spec."""

    def leave(self, place: Offsets, what: str, why: str) -> None:
        """Note what has no place in a spec."""
        self.note(place, f"{what}: left behind", why)

    def learn_secrets(self, variables: Mapping[str, str]) -> None:
        """Add the secrets among variables, whose values may come from others with harmless
        names.
        """
        self.secrets.update(
            {name: value for name, value in variables.items() if is_written_secret(name, value)}
        )

    def quoted(self, text: str) -> str:
        """Return a text without secrets and without control characters."""
        mask = masker(self.secrets.values())
        masked = mask_formats(text if mask is None else mask(text))
        return "".join([sign if sign.isprintable() else " " for sign in masked])

    def with_references(self, value: Any) -> Any:
        """Return a value of the spec in which references take the place of secrets in texts."""
        if isinstance(value, list):
            return [self.with_references(item) for item in value]
        if not isinstance(value, str):
            return value
        for name, secret in self.secrets.items():
            value = value.replace(secret, f"$({name})")
        return mask_formats(value)

    @property
    def is_refused(self) -> bool:
        """Whether there is a reason to write no spec."""
        return has_error(self.problems)

    def in_order(self) -> tuple[Problem, ...]:
        """Return the findings by their lines."""
        problems = sorted(self.problems, key=lambda problem: problem.span or (0, 0, 0, 0))
        return tuple(
            [
                problem._replace(
                    text=self.quoted(problem.text),
                    help=self.quoted(problem.help) if problem.help else None,
                )
                for problem in problems
            ]
        )


_export = re.compile(
    r"(?m)^[ \t]*export[ \t]+(?P<names>[A-Za-z_]\w{1,60}(?:[ \t]+[A-Za-z_]\w{1,60}){0,20})[ \t]*$"
)


def exports_of_shell(text: str) -> dict[str, Offsets]:
    """Return the variables that `export NAME` takes from the submitting shell, with their
    places.
    """
    return {
        name: match.span("names")
        for match in _export.finditer(text)
        for name in match["names"].split()
    }


def shortened(words: Iterable[str]) -> str:
    """Return a command line as findings quote it."""
    text = " ".join(words)
    if len(text) <= _MAX_QUOTED:
        return text
    return f"{text[: _MAX_QUOTED - 3]}..."


_reference = re.compile(
    r"\$(?:(\w+|[@*#?!])|\{([A-Za-z_]\w*|\d+|@)(?![\w.])[^}]{0,512}\}|\((\w+)\)|\((?!\()|\(\()|`"
)
_SET_BY_TARGETS = frozenset({"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})


def unresolved(text: str, env: Collection[str]) -> list[str]:
    """Return the shell's variables and commands in a text of the spec. `$(NAME)` of a variable in
    `env` is Kubernetes' own.
    """
    names: list[str] = []
    for match in _reference.finditer(text):
        variable, braced, inner = match.groups()
        if inner not in env and inner not in _SET_BY_TARGETS:
            names.append(variable or braced or text[match.start() : match.start() + 60])
    return names
