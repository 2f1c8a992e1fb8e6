"""A reader for `bash -c` scripts, as far as a launcher's command line needs it. Nothing is executed.

Supported: quotes, `;`, `&&`, newlines, assignments, `export`, and `$X`, `${X}`, `${X:-y}`, `${X##*-}`. Variables that
no manifest sets, and `$(command)`, are left unchanged.
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
"""Maximum number of characters of a script; the rest is not read."""

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
_MAX_NAME_LENGTH: Final = 256
_open_name = Pattern(r"\$([A-Za-z_]\w*)\Z")
_assignment = Pattern(r"[A-Za-z_]\w*=").match
_PREFIX_WORDS = frozenset({"exec", "time", "nohup", "command", "env", "then", "do", "else", "{", "("})


def expand(text: str, env: Mapping[str, str], budget: Budget) -> str:
    """Replace `$X` and its other forms with the values in the environment, and `$(hostname)` with the host name.

    A value that exceeds the budget is not substituted.
    """
    original = text

    def if_affordable(match: re.Match[str], value: str) -> str:
        return value if budget.allows(len(value), original) else match[0]

    if "HOSTNAME" in env and "hostname" in text:
        text = _hostname.sub(lambda match: if_affordable(match, env["HOSTNAME"]), text)
    if "$" not in text:
        return text

    def replace(match: re.Match[str]) -> str:
        name, default, tail, bare = match.groups()
        value = env.get(name or bare)
        if value is None or (not value and default is not None):
            return match[0] if default is None else default
        return if_affordable(match, value.rpartition("-")[2] if tail else value)

    return _variable.sub(replace, text)


def simple_commands(script: str, env: Mapping[str, str], budget: Budget) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield the simple commands of a script in order, each with its environment."""
    script_env = dict(env)
    for words in _statements(script[:MAX_SCRIPT]):
        command_env: dict[str, str] = {}
        remaining = [*words]
        while remaining and (remaining[0] in _PREFIX_WORDS or remaining[0] == "export" or _assignment(remaining[0])):
            word = remaining.pop(0)
            if _assignment(word):
                name, _, value = word.partition("=")
                command_env[name] = expand(value, ChainMap(command_env, script_env), budget)
        if remaining:
            yield [expand(word, script_env, budget) for word in remaining], {**script_env, **command_env}
        else:
            script_env.update(command_env)


def split_statements(script: str) -> list[tuple[list[str], str]]:
    """Return the unquoted words of each statement and the operator that ends it: `;`, `&&`, `|`, a newline or ""."""
    statements: list[tuple[list[str], str]] = []
    words: list[str] = []
    word: str | None = None
    for match in _token.finditer(script):
        kind = match.lastgroup
        if kind not in ("blank", "end", "comment"):
            word = _append_part(word or "", match[kind] if kind else "")
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


def _append_part(word: str, part: str) -> str:
    """Append a part to a word. Quotes between them end a variable's name, so the name gets braces."""
    open_name = _open_name.search(word[-_MAX_NAME_LENGTH:]) if part[:1].isalnum() or part[:1] == "_" else None
    return f"{word[: -len(open_name[0])]}${{{open_name[1]}}}{part}" if open_name else word + part


def _statements(script: str) -> list[list[str]]:
    """Return the unquoted words of each statement, with variables unexpanded."""
    return [words for words, _ in split_statements(script) if words]


_BEYOND_ONE_COMMAND = Pattern(r"[;&|<>*?`\n~#]|\$[^\w{]|\$\{\w*[^\w}]")
_shell = Pattern(r"(?:.*/)?(?:ba|da|z|a)?sh").fullmatch
_COMMAND_FLAGS = Pattern(r"-[ceux]*c[ceux]*")


def single_command(argv: Sequence[str]) -> list[str] | None:
    """Return the words of the only simple command of `sh -c`, with `$X` as written, or None for any other script.

    Pipes, lists, redirections, patterns, substitutions and variables in single quotes return None too.
    """
    if len(argv) != 3 or not _shell(argv[0]) or not _COMMAND_FLAGS.fullmatch(argv[1]):
        return None
    script = argv[2].replace("\\\n", " ").strip()
    if _BEYOND_ONE_COMMAND.search(script) or "\\" in script or ("'" in script and "$" in script):
        return None
    statements = [words for words, _ in split_statements(script) if words]
    words = statements[0] if len(statements) == 1 else []
    words = words[1:] if words[:1] == ["exec"] else words
    return words if words and not _assignment(words[0]) else None
