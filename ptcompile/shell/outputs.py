"""Output of pipelines of common programs, if it is known without running them.

Source: coreutils 9; only the forms that scripts use to take a host name or a list apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ptcompile._internal.spelling import is_short_number
from ptcompile.kubernetes.commands import basename
from ptcompile.shell.patterns import compute


def output_of(commands: Sequence[Sequence[str]], lookup: Callable[[str], str | None]) -> str | None:
    """Return what a pipeline prints, or None if that is not known.

    `lookup` returns the text of a variable, or None if it is not known.
    """
    (program, *arguments), *filters = commands
    text = _output_of_command(basename(program), arguments, lookup)
    for name, *args in filters:
        if text is None:
            return None
        lines = _filter_lines(name, " ".join(args), text.rstrip("\n").split("\n"))
        text = None if lines is None else "\n".join(lines)
    return text


def _output_of_command(
    name: str, args: Sequence[str], lookup: Callable[[str], str | None]
) -> str | None:
    match (name, *args):
        case ["hostname"] | ["hostname", "-s"]:
            return lookup("HOSTNAME")
        case ["echo", *words]:
            return " ".join(words[1:] if words[:1] in (["-n"], ["-e"]) else words)
        case ["expr", _, "+" | "-" | "*" | "/" | "%", _]:
            number = compute(" ".join(args), lookup)
            return None if number is None else str(number)
        case ["printf", form, *words] if _FORM.fullmatch(form) and form.count("%") == len(words):
            values = [int(word) if is_short_number(word, 19) else word for word in words]
            try:
                return form.removesuffix("\\n") % tuple(values)
            except TypeError:
                return None

    return None


def _filter_lines(name: str, args: str, lines: list[str]) -> list[str] | None:
    """Return the lines that a filter prints, or None if that is not known."""
    if name == "head" and args in ("-n1", "-n 1", "-1"):
        return lines[:1]
    if name == "grep" and _NUMBER_AT_END.fullmatch(args):
        last = lines[-1]
        number = last[len(last.rstrip("0123456789")) :]
        return [number] if number else []
    if name == "tr" and (match := _TRANSLATED.fullmatch(args)):
        old, new = (sign.replace("\\n", "\n") for sign in match.groups())
        return "\n".join(lines).replace(old, new).split("\n")
    if name == "cut" and (match := _CUT.fullmatch(args)):
        sign, number, is_open = match.groups()
        return [_field(line.split(sign), int(number), is_open, sign) for line in lines]
    if name == "awk" and (match := _PRINTED.fullmatch(args)):
        sign, field = match.groups()
        index = 0 if field == "NF" else int(field)
        return [_field(line.split(sign), index, "", "") for line in lines]
    if name == "sed" and (match := _REPLACED.fullmatch(args)):
        pattern, new, is_global = match.groups()
        # an untrusted pattern: matching may take time quadratic in a line's length
        if pattern.count("*") > 1 or any(len(line) > _LONGEST_LINE for line in lines):
            return None
        return [re.sub(pattern, new, line, count=not is_global) for line in lines]
    return None


def _field(fields: list[str], number: int, is_open: str, separator: str) -> str:
    """Return a field by its number from 1, with those after it if the list is open; 0 is the
    last one.
    """
    if separator and len(fields) == 1:
        return fields[0]
    return separator.join(fields[number - 1 :] if is_open else fields[number - 1 : number or None])


_LONGEST_LINE = 1_000
"""Longest line that sed is followed on, in characters."""
_FORM = re.compile(r"(?:[^%\\]|%(?:0\d)?d|%s)*(?:\\n)?")
_NUMBER_AT_END = re.compile(r"-(?:oE|Eo|oP|o) (?:\[0-9\][+*]|\\d\+)\$")
_TRANSLATED = re.compile(r"([^\\]|\\n) ([^\\]|\\n)")
_CUT = re.compile(r"-d ?(.) -f ?(\d)(-?)")
_PRINTED = re.compile(r"(?:-F ?['\"]?(\S)['\"]? )?\{ ?print \$(NF|\d) ?;?\}")
_REPLACED = re.compile(r"s/((?:\^?(?:\[[^]/\\]+\]|[\w.-])\*?\$?)+)/([\w-]*)/(g?)")
