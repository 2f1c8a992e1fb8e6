"""A reader for `bash -c` scripts, as far as a launcher's command line needs it. Nothing is executed.

Supported: quotes, `;`, `&&`, newlines, here-documents, assignments, arrays, `export`, and `$X`, `${X}`, `${X:-y}`,
`${X##*-}`, `${X[@]}`, `$((X * 2))`. Variables that no manifest sets, and `$(command)`, are left unchanged.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.limits import Budget
from ptcompile.simulator.launchers.arithmetic import evaluate

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Final

MAX_SCRIPT: Final = 1 << 16
"""Maximum number of characters of a script; the rest is not read."""

LITERAL_DOLLAR: Final = "\ue000"
"""A `$` that no shell expands, because of single quotes or a backslash."""
_QUOTED_DOLLAR: Final = "\ue001"
"""A `$` in double quotes: its value is not split into words."""
_SPLIT: Final = "\ue002"
"""Where the value of an unquoted variable is split into words."""

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
_variable = Pattern(rf"([${_QUOTED_DOLLAR}])(?:\{{(\w+)(?::?([-=?])([^{{}}]*)|(##\*-))?\}}|([A-Za-z_]\w*))")
_array = Pattern(rf"[${_QUOTED_DOLLAR}]\{{(\w+)\[[@*]\]\}}").fullmatch
_hostname = Pattern(r"\$\(hostname(?: -s)?\)|`hostname(?: -s)?`")
_arithmetic = Pattern(r"\$\(\(([^()]*(?:\([^()]*\)[^()]*)*)\)\)")
_escape = Pattern(r"(?s)\\([$`\"\\\n])")
_MAX_NAME_LENGTH: Final = 256
_open_name = Pattern(rf"([${_QUOTED_DOLLAR}])([A-Za-z_]\w*)\Z")
_assignment = Pattern(r"[A-Za-z_]\w*\+?=").match
_array_start = Pattern(r"[A-Za-z_]\w*\+?=\(").match
_PREFIX_WORDS = frozenset({"exec", "time", "nohup", "command", "env", "then", "do", "else", "{", "("})
_DECLARATIONS = frozenset({"export", "local", "declare", "readonly", "typeset"})
_heredoc = Pattern(r"<<-?[ \t]*(?P<quote>[\"'\\]?)(?P<word>[A-Za-z_]\w*)").search
_written_file = Pattern(r"(?<![0-9&>])>[ \t]*([^\s<>|&;]+)").search
_reads_script = Pattern(r"[ \t]*(?:exec[ \t]+)?(?:\S*/)?(?:ba|da|z|a|k)?sh(?:[ \t]+-\w*)*[ \t]*<<").match


def expand(text: str, env: Mapping[str, str], budget: Budget) -> str:
    """Replace `$X` and its other forms with the values in the environment, and `$(hostname)` with the host name.

    A value that exceeds the budget is not substituted.
    """
    return _expand(text, env, budget).replace(_SPLIT, " ")


def _expand(text: str, env: Mapping[str, str], budget: Budget) -> str:
    """Return the expansion, with a mark wherever an unquoted value is split."""
    original = text

    def if_affordable(match: re.Match[str], value: str) -> str:
        return value if budget.allows(len(value), original) else match[0]

    if "HOSTNAME" in env and "hostname" in text:
        text = _hostname.sub(lambda match: if_affordable(match, env["HOSTNAME"]), text)
    if "$((" in text:
        text = _arithmetic.sub(lambda match: _computed(match, env), text)
    if "$" not in text and _QUOTED_DOLLAR not in text:
        return text

    def replace(match: re.Match[str]) -> str:
        dollar, name, sign, default, tail, bare = match.groups()
        value = env.get(name or bare)
        if value is None or (not value and default is not None):
            return match[0] if default is None or sign == "?" else _variable.sub(replace, default)
        value = value.rpartition("-")[2] if tail else value
        is_output = "$(" in value or "`" in value  # of a command: its text is unknown
        is_split = dollar == "$" and not is_output and len(value.split(None, 1)) > 1
        return if_affordable(match, _SPLIT.join(value.split()) if is_split else value)

    return _variable.sub(replace, text)


def _computed(match: re.Match[str], env: Mapping[str, str]) -> str:
    value = evaluate(match[1], env)
    return match[0] if value is None else str(value)


Arrays = dict[str, list[str]]


def simple_commands(
    script: str, env: Mapping[str, str], budget: Budget
) -> Iterator[tuple[list[str], Mapping[str, str]]]:
    """Yield the simple commands of a script in order, each with its environment.

    A `$` that no shell expands is `LITERAL_DOLLAR`. A script that a here-document wrote to a file is read where a shell
    starts it.
    """
    script_env: ChainMap[str, str] = ChainMap({}, env)  # type: ignore[arg-type]  # writes go to the first
    arrays: Arrays = {}
    text, files = _without_heredocs(script[:MAX_SCRIPT])
    for words in _statements(text):
        command_env: dict[str, str] = {}
        remaining = [*words]
        while remaining and (
            remaining[0] in _PREFIX_WORDS or remaining[0] in _DECLARATIONS or _assignment(remaining[0])
        ):
            word = remaining.pop(0)
            if _array_start(word):
                _assign_array(word, remaining, arrays, script_env, budget)
            elif _assignment(word):
                name, _, value = word.partition("=")
                value = expand(value, ChainMap(command_env, script_env), budget)
                command_env[name.rstrip("+")] = script_env.get(name[:-1], "") + value if name[-1] == "+" else value
        if not remaining:
            script_env.update(command_env)
            continue
        command = [word for item in remaining for word in _expand_word(item, arrays, script_env, budget)]
        started = next((files[word] for word in command[:3] if word in files), None) if _reads_file(command) else None
        if started is not None:
            yield from simple_commands(started, _with_variables(script_env, command_env), budget)
        elif command:
            yield command, _with_variables(script_env, command_env)


def _with_variables(env: ChainMap[str, str], variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment as it is now with more variables; what the script does not set is not copied."""
    own, given = env.maps
    return ChainMap({**own, **variables}, given)


def _assign_array(word: str, remaining: list[str], arrays: Arrays, env: Mapping[str, str], budget: Budget) -> None:
    """Set an array from `NAME=(` and the words up to the one that ends with `)`, which are removed from `remaining`."""
    name, _, first = word.partition("=(")
    items = [first]
    while not items[-1].endswith(")") and remaining:
        items.append(remaining.pop(0))
    items[-1] = items[-1].removesuffix(")")
    values = [value for item in items if item for value in _expand_word(item, arrays, env, budget)]
    arrays[name.rstrip("+")] = (arrays.get(name[:-1], []) if name.endswith("+") else []) + values


def _expand_word(word: str, arrays: Arrays, env: Mapping[str, str], budget: Budget) -> list[str]:
    """Return the words that one word expands to: none for an empty unquoted variable, several for an array."""
    if not ("$" in word or "`" in word or _QUOTED_DOLLAR in word):
        return [word]
    if (match := _array(word)) and match[1] in arrays:
        values = arrays[match[1]]
        return values if budget.allows(sum(map(len, values)), word) else [word]
    expanded = _expand(word, env, budget)
    if not expanded and word.startswith("$"):
        return []
    return [part.replace(_QUOTED_DOLLAR, "$") for part in expanded.split(_SPLIT)]


def _reads_file(command: Sequence[str]) -> bool:
    """Return whether a command runs a file as a script: `bash FILE`, `source FILE`, `./FILE`."""
    return bool(command) and (command[0] in ("source", ".") or _shell(command[0]) is not None or "/" in command[0])


def _without_heredocs(script: str) -> tuple[str, dict[str, str]]:
    """Return the script without the texts of its here-documents, and the files that they write.

    The text that a shell reads (`bash <<EOF`) takes the place of that command.
    """
    files: dict[str, str] = {}
    if "<<" not in script:
        return script, files
    lines, kept = script.split("\n"), list[str]()
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        match = _heredoc(line)
        end = (
            _end_of_heredoc(lines, index, match["word"])
            if match and line[match.start() - 1 : match.start()] != "<"
            else None
        )
        if match is None or end is None:
            kept.append(line)
            continue
        body = "\n".join(lines[index:end])
        body = body if match["quote"] else body.replace("\\$", "$")
        if _reads_script(line):
            kept.append(body)
        else:
            kept.append(line)
            if target := _written_file(line):
                files[target[1].strip("\"'")] = body
        index = end + 1
    return "\n".join(kept), files


def _end_of_heredoc(lines: Sequence[str], start: int, word: str) -> int | None:
    """Return the index of the line that ends a here-document, or None."""
    return next((i for i in range(start, len(lines)) if lines[i].strip() == word), None)


def broken_continuation(script: str) -> str | None:
    """Return the first line whose last backslash is followed by whitespace, which the shell does not continue."""
    text, _ = _without_heredocs(script[:MAX_SCRIPT])
    for match in _token.finditer(text) if _continued_blank(text) else ():
        if match.lastgroup == "escaped" and match["escaped"] in " \t\r":
            rest = text[match.end() :].partition("\n")
            if rest[1] and not rest[0].strip():
                return text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
    return None


_continued_blank = Pattern(r"\\[ \t\r]").search


def split_statements(script: str) -> list[tuple[list[str], str]]:
    """Return the unquoted words of each statement and the operator that ends it: `;`, `&&`, `|`, a newline or ""."""
    return [([restore(word) for word in words], end) for words, end in _split(script)]


def has_marks(text: str) -> bool:
    """Return whether a text has marks for `$`, which only words of a script have."""
    return LITERAL_DOLLAR in text or _QUOTED_DOLLAR in text


def restore(word: str) -> str:
    """Return a word with each `$` as written."""
    return word.replace(LITERAL_DOLLAR, "$").replace(_QUOTED_DOLLAR, "$")


@lru_cache(maxsize=32)  # the pods of a role differ in their environment, not in their script
def _split(script: str) -> list[tuple[list[str], str]]:
    """Return the statements, with marks for `$` in quotes. Never change them."""
    statements: list[tuple[list[str], str]] = []
    words: list[str] = []
    word: str | None = None
    in_array = False
    for match in _token.finditer(script):
        kind = match.lastgroup
        if kind not in ("blank", "end", "comment"):
            word = _append_part(word or "", _unquote(kind, match[kind] if kind else ""))
            in_array = kind in ("plain", "run") and _is_open(word, was_open=in_array)
            continue
        if word is not None:
            words.append(word)
            word = None
        if kind == "end" and not (in_array and not match[0].strip("\n")):
            statements.append((words, match[0].strip("\n") or "\n"))
            words, in_array = [], False
    if word is not None:
        words.append(word)
    return [*statements, (words, "")]


def _is_open(word: str, *, was_open: bool) -> bool:
    """Return whether the words after this one belong to an array: `NAME=(` and no `)` yet."""
    return (was_open or ("=(" in word and _array_start(word) is not None)) and not word.endswith(")")


def _unquote(kind: str | None, text: str) -> str:
    """Return a part of a word without its quotes, with marks for each `$` that is quoted."""
    if kind in ("single", "escaped"):
        return text.replace("$", LITERAL_DOLLAR)
    if kind != "double" or not ("$" in text or "\\" in text):
        return text
    text = _escape.sub(lambda match: {"$": LITERAL_DOLLAR, "\n": ""}.get(match[1], match[1]), text)
    return text.replace("$", _QUOTED_DOLLAR).replace(f"{_QUOTED_DOLLAR}(", "$(")


def _append_part(word: str, part: str) -> str:
    """Append a part to a word. Quotes between them end a variable's name, so the name gets braces."""
    open_name = _open_name.search(word[-_MAX_NAME_LENGTH:]) if part[:1].isalnum() or part[:1] == "_" else None
    return f"{word[: -len(open_name[0])]}{open_name[1]}{{{open_name[2]}}}{part}" if open_name else word + part


def _statements(script: str) -> list[list[str]]:
    """Return the unquoted words of each statement, with variables unexpanded."""
    return [words for words, _ in _split(script) if words]


_BEYOND_ONE_COMMAND = Pattern(r"[;&|<>*?`\n~#]|\$[^\w{]|\$\{\w*[^\w}]")
_shell = Pattern(r"(?:.*/)?(?:ba|da|z|a)?sh").fullmatch
_COMMAND_FLAGS = Pattern(r"-[ceux]*c[ceux]*")
_computed_text = Pattern(r"\$\(\([^()\n]*\)\)|\$\{\w+(?:##\*-|:?-[\w./-]*)\}")
"""Expansions that are read from the simulated pods: arithmetic, the end of a name, a default."""
_option_line = Pattern(r"(?:#[^\n]*|set (?:[-+][eux]*(?:o pipefail)?[ \t]*)+)(?:\n|;|&&)").match


def single_command(argv: Sequence[str]) -> list[str] | None:
    """Return the words of the only simple command of `sh -c`, with `$X` as written, or None for any other script.

    Pipes, lists, redirections, patterns, substitutions and variables in single quotes return None too. Lines before it
    that only switch the shell's options, such as `set -euo pipefail`, change nothing for one command.
    """
    if len(argv) != 3 or not _shell(argv[0]) or not _COMMAND_FLAGS.fullmatch(argv[1]):
        return None
    script = argv[2].replace("\\\n", " ").strip()
    while switch := _option_line(script):
        script = script[switch.end() :].strip()
    rest = _computed_text.sub("", script)
    if _BEYOND_ONE_COMMAND.search(rest) or "\\" in script or ("'" in script and "$" in script):
        return None
    statements = [words for words, _ in split_statements(script) if words]
    words = statements[0] if len(statements) == 1 else []
    words = words[1:] if words[:1] == ["exec"] else words
    return words if words and not _assignment(words[0]) else None
