"""Shell scripts that rules read: what comes after the training, and whether a failure gets through.

Only scripts without control structures are read; of others nothing is said.
"""

from __future__ import annotations

import re

from ptcompile.kubernetes.patterns import Pattern
from ptcompile.kubernetes.wrappers import base
from ptcompile.linting.commands import LAUNCHERS, Script
from ptcompile.typed import NamedTuple

Statement = tuple[list[str], str]
"""The words of a command, and the sign that ends it: `;`, a newline, `&&`, `||`, `|`, `&`, or nothing."""

_REDIRECTION = Pattern(r"[0-9]?>&[0-9-]|&>>?|\|&")
_CONTROL = Pattern(
    r"(?:^|[\s;&|])(?:if|for|while|until|case|function|trap|wait|fg)(?:[\s;]|$)|<<|\$\?|PIPESTATUS|\(\)|\$\(\(|[({]\s"
)
_PYTHON = Pattern(r"python[0-9.]*")


class Reading(NamedTuple):
    """The last command of a script that trains, seen from its end."""

    separator: str
    """What stands behind it."""
    after: list[Statement]
    errexit: bool
    pipefail: bool


def read(script: Script) -> Reading | None:
    """What follows the training in a script; None where there is none, or where it cannot be told."""
    text = script.word.text
    if len(text) > 1 << 14 or _CONTROL.search(text):
        return None
    from ptcompile.simulation.shell import separated

    statements = [one for one in separated(_REDIRECTION.sub(" ", text)) if one[0]]
    training = [i for i, (words, _) in enumerate(statements) if _trains(words)]
    if not training:
        return None
    letters = "".join(flag[1:] for flag in script.flags if flag.startswith("-") and not flag.startswith("--"))
    options = " ".join(" ".join(words) for words, _ in statements if words[0] == "set")
    last = training[-1]
    return Reading(
        separator=statements[last][1],
        after=statements[last + 1 :],
        errexit="e" in letters or "errexit" in options or bool(re.search(r"-[a-z]*e", options)),
        pipefail="pipefail" in options or "pipefail" in script.flags,
    )


def _trains(words: list[str]) -> bool:
    rest = [word for word in words if "=" not in word.partition("/")[0]]
    while rest and rest[0] in ("exec", "env", "time", "nohup", "export"):
        rest = rest[1:]
    head = base(rest[0]) if rest else ""
    if head in LAUNCHERS:
        return True
    return bool(_PYTHON.fullmatch(head)) and any(word.endswith(".py") or word == "-m" for word in rest[1:])
