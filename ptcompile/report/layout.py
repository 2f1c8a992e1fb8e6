"""Shared layout of text output: order, locations, escaping, tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.secret_formats import mask_formats
from ptcompile.diagnostics import Diagnostic, Severity, Stage
from ptcompile.diagnostics.codes import EFFECTS, SENTENCES

_STAGES = {
    "apply": ("rejected when it is applied", "may be rejected when it is applied"),
    "pod": ("accepted, but its pods are rejected", "accepted, but its pods may be rejected"),
}
"""The sentence for an error, which is certain, and that for warnings and notes."""
_COMPILES = ("it does not compile", "it compiles")
"""The same for ptcompile's own files."""


def sort_by_location(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sort by file, in order of appearance, then by position; findings without a position come
    first.
    """
    ordered = list(diagnostics)
    files = {name: i for i, name in reversed(list(enumerate(d.filename for d in ordered)))}
    return sorted(ordered, key=lambda d: (files[d.filename], d.span or (0,), d.document, d.code))


def format_location(diagnostic: Diagnostic) -> str:
    """Return `file:line:column`, as far as known."""
    location = safe_text(diagnostic.filename or "<input>")
    if diagnostic.span is not None:
        location += f":{diagnostic.span.line}:{diagnostic.span.column}"
    return location


def format_origin(diagnostic: Diagnostic) -> str:
    """Return the template that a finding's document was rendered from, in parentheses after a
    space, or nothing.
    """
    return f" ({safe_text(diagnostic.template)})" if diagnostic.template else ""


def template_instead_of_file(diagnostic: Diagnostic) -> str | None:
    """Return the template of a finding in standard input or in a text without a name, or None.

    CI systems show findings in files. The finding's lines are those of the rendered text, not of
    the template.
    """
    if diagnostic.filename in {None, "<stdin>"}:
        return diagnostic.template
    return None


def consequence(diagnostic: Diagnostic) -> str:
    """Return what the finding leads to and who says so: `fails at run time (kubelet)`, `rule of
    ptcompile.toml`.
    """
    owner = safe_text(diagnostic.owner)
    if owner and diagnostic.stage == "style":
        # a style rule of a plugin or of the configuration has no outcome, only an owner
        return owner

    authority: str = diagnostic.authority
    is_ours = authority == "ptcompile" and not owner
    if owner:
        authority = f"{authority}, {owner}".removeprefix("ptcompile, ")
    if diagnostic.stage == "apply" and diagnostic.blocks_compile and is_ours:
        sentence = _COMPILES[0]
    else:
        # a severity that the configuration sets does not change what will happen
        severity = diagnostic.rule_severity or diagnostic.severity
        sentence = outcome(diagnostic.name, severity, diagnostic.stage, is_ours=is_ours)

    return f"{sentence} ({authority})"


def outcome(name: str, severity: Severity, stage: Stage, *, is_ours: bool = False) -> str:
    """Return what a finding leads to: `may waste resources`. `is_ours`: ptcompile says so, not a
    cluster.
    """
    is_uncertain = severity != "error"
    effect = EFFECTS.get(name)
    if stage in _STAGES and not is_ours:
        return _STAGES[stage][is_uncertain]
    if stage == "apply" and effect is None:
        return _COMPILES[is_uncertain]
    return SENTENCES[effect or ("works" if stage == "style" else "fails")][is_uncertain]


hash_command = Pattern(r"##([A-Za-z]{0,16}\[)")
"""A command of Azure Pipelines (agent, Command.TryParse), of GitHub's older form (runner,
ActionCommand.TryParse) or of TeamCity.
"""
_colon_command = Pattern(r"^( *)::([A-Za-z])")
"""A command of GitHub (runner, ActionCommand.TryParseV2). An IPv6 address such as ::1 is not
one.
"""


def escape_unprintable(text: str) -> str:
    """Escape control characters and direction marks."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def safe_text(text: str) -> str:
    """Return a text of a user as one line of a report, or part of one: what could control the
    terminal or a CI runner is escaped, and secrets with a known format are masked.

    Escaped are control characters, direction marks, and workflow commands: `##vso[...]`, `##[...]`
    and `##teamcity[...]`, which runners find anywhere in a line, and `::command::` at the start of
    one.
    """
    text = escape_unprintable(mask_formats(text))
    if "##" in text:
        text = hash_command.sub(r"#\\x23\1", text)
    if "::" not in text:
        return text
    return _colon_command.sub(r"\1\\x3a:\2", text)


def format_json(data: object) -> str:
    """Return data as JSON for a report: ASCII, without workflow commands, and equal to the data
    when it is read, except that secrets with a known format are masked.
    """
    return hash_command.sub(r"#\\u0023\1", mask_formats(json.dumps(data, indent=2))) + "\n"


LABEL_WIDTH = 13
"""Width of the label column."""


def with_label(label: str, lines: Sequence[str], indent: str = "  ") -> list[str]:
    """Return the lines indented, with a label before the first one."""
    return [
        f"{indent}{label if i == 0 else '':<{LABEL_WIDTH}}{line}" for i, line in enumerate(lines)
    ]


def table(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Return the rows as lines with aligned columns."""
    count = max((len(row) for row in rows), default=0)
    widths = [
        max((len(row[i]) for row in rows if i < len(row) - 1), default=0) for i in range(count)
    ]
    return [
        (indent + "  ".join(f"{cell:<{widths[i]}}" for i, cell in enumerate(row))).rstrip()
        for row in rows
    ]


def shorten(text: str, width: int) -> str:
    """Return the text, cut with an ellipsis if it is longer than `width`."""
    text = safe_text(text)
    return text if len(text) <= width else text[: width - 1] + "…"


def join_escaped(lines: Iterable[str]) -> str:
    """Return the lines as one text, with control characters escaped."""
    return "".join(safe_text(line).rstrip() + "\n" for line in lines)


def safe_lines(text: str) -> str:
    """Return a text of several lines, such as a patch, with everything that `safe_text` escapes
    except tabs and the ends of lines.
    """
    return "\n".join(_safe_line(line) for line in text.split("\n"))


def _safe_line(line: str) -> str:
    text = line.removesuffix("\r")
    return "\t".join(map(safe_text, text.split("\t"))) + line[len(text) :]


def shell_quote(words: Iterable[str]) -> str:
    """Return a command line quoted for a shell."""
    return " ".join(_quote_word(word) for word in words)


def _quote_word(word: str) -> str:
    plain = word and all(c.isalnum() or c in "@%+=:,./-_" for c in word)
    return word if plain else "'" + word.replace("'", "'\"'\"'") + "'"
