"""Reading what `bash -c` would run, as far as a launcher's command line needs it. Nothing is run.

Understood: quotes, `;`, `&&`, newlines, assignments, `export`, and `$X`, `${X}`, `${X:-y}`, `${X##*-}`. A variable
that no manifest sets, and `$(command)`, stay as they are written.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.limits import Budget

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Final

MAX_SCRIPT: Final = 1 << 16
"""Longer scripts are not read."""

_token = Pattern(
    r"(?s)(?P<blank>[ \t\r]+|\\\n)"
    r"|(?P<comment>(?:(?<=[\s;&|])|^)\#[^\n]*)"
    r"|(?P<end>[\n;&|]+)"
    r"|'(?P<single>[^']*)'"
    r'|"(?P<double>(?:[^"\\]|\\.)*)"'
    r"|(?P<run>\$\([^()]*(?:\([^()]*\)[^()]*)*\))"
    r"|\\(?P<escaped>.)"
    r"|(?P<plain>[^\s;&|'\"\\$]+|.)"
)
_variable = Pattern(r"\$(?:\{(\w+)(?::?-([^{}]*)|(##\*-))?\}|([A-Za-z_]\w*))")
_hostname = Pattern(r"\$\(hostname(?: -s)?\)|`hostname(?: -s)?`")
_LONGEST_NAME: Final = 256
_open_name = Pattern(r"\$([A-Za-z_]\w*)\Z")
_assignment = Pattern(r"[A-Za-z_]\w*=").match
_SKIPPED = frozenset({"exec", "time", "nohup", "command", "env", "then", "do", "else", "{", "("})


def expand(text: str, env: Mapping[str, str], budget: Budget) -> str:
    """`$X` and its like replaced by what the environment says, `$(hostname)` by the name of the host.

    What exceeds the budget stays as it is written.
    """
    written = text

    def within(match: re.Match[str], value: str) -> str:
        return value if budget.allows(len(value), written) else match[0]

    if "HOSTNAME" in env and "hostname" in text:
        text = _hostname.sub(lambda match: within(match, env["HOSTNAME"]), text)
    if "$" not in text:
        return text

    def replace(match: re.Match[str]) -> str:
        name, default, tail, bare = match.groups()
        value = env.get(name or bare)
        if value is None or (not value and default is not None):
            return match[0] if default is None else default
        return within(match, value.rpartition("-")[2] if tail else value)

    return _variable.sub(replace, text)


def commands(script: str, env: Mapping[str, str], budget: Budget) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The simple commands of a script in order, each with the environment that it finds."""
    seen = dict(env)
    for words in _statements(script[:MAX_SCRIPT]):
        own: dict[str, str] = {}
        rest = [*words]
        while rest and (rest[0] in _SKIPPED or rest[0] == "export" or _assignment(rest[0])):
            word = rest.pop(0)
            if _assignment(word):
                name, _, value = word.partition("=")
                own[name] = expand(value, ChainMap(own, seen), budget)
        if rest:
            yield [expand(word, seen, budget) for word in rest], {**seen, **own}
        else:
            seen.update(own)


def separated(script: str) -> list[tuple[list[str], str]]:
    """The words of each statement, quotes off, and the sign that ends it: `;`, `&&`, `|`, a newline or nothing."""
    statements: list[tuple[list[str], str]] = []
    words: list[str] = []
    word: str | None = None
    for match in _token.finditer(script):
        kind = match.lastgroup
        if kind not in ("blank", "end", "comment"):
            word = _joined(word or "", match[kind] if kind else "")
            continue
        if word is not None:
            words.append(word)
            word = None
        if kind == "end":
            statements.append((words, match[0].strip("\n") or "\n"))
            words = []
    if word is not None:
        words.append(word)
    return [*statements, (words, "")]


def _joined(word: str, more: str) -> str:
    """A word with what follows it in quotes of its own, or behind them: there the name of a variable has ended."""
    found = _open_name.search(word[-_LONGEST_NAME:]) if more[:1].isalnum() or more[:1] == "_" else None
    return f"{word[: -len(found[0])]}${{{found[1]}}}{more}" if found else word + more


def _statements(script: str) -> list[list[str]]:
    """The words of each statement, quotes taken off; variables still stand in them."""
    return [words for words, _ in separated(script) if words]


_MORE_THAN_ONE = Pattern(r"[;&|<>*?`\n~#]|\$[^\w{]|\$\{\w*[^\w}]")
_shell = Pattern(r"(?:.*/)?(?:ba|da|z|a)?sh").fullmatch
_FLAGS = Pattern(r"-[ceux]*c[ceux]*")


def one_command(argv: Sequence[str]) -> list[str] | None:
    """The words of the one simple command that `sh -c` runs, with `$X` as written; None where it does more than that.

    No pipe, list, redirection, pattern or substitution, and no variable that quotes keep as it is.
    """
    if len(argv) != 3 or not _shell(argv[0]) or not _FLAGS.fullmatch(argv[1]):
        return None
    script = argv[2].replace("\\\n", " ").strip()
    if _MORE_THAN_ONE.search(script) or "\\" in script or ("'" in script and "$" in script):
        return None
    found = [words for words, _ in separated(script) if words]
    words = found[0] if len(found) == 1 else []
    words = words[1:] if words[:1] == ["exec"] else words
    return words if words and not _assignment(words[0]) else None
