"""The baseline: known findings of a team's files, which do not fail a run.

An entry names a finding by its code, its object and its path, without lines, so it still applies
when lines, list items or files move, and to a rendered stream. It covers one finding, so a second
one of its kind is reported. An entry that covers nothing any more is a finding itself, and so is
one whose last day is over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter

from ptcompile._internal.dates import is_date, today
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.secret_formats import mask_formats
from ptcompile._internal.spelling import pluralize, spelling_help
from ptcompile.cli import files
from ptcompile.cli.config import Config, parse_toml
from ptcompile.cli.files import UsageError
from ptcompile.diagnostics import Diagnostic, Problem, Span
from ptcompile.report.layout import sort_by_location
from ptcompile.source.streams import limit_findings, to_diagnostic

_MAX_BYTES = 1 << 23
_STDIN = "<stdin>"


class KnownFinding(NamedTuple):
    """A known finding."""

    code: str
    file: str
    """Relative to the baseline's folder, with slashes; or `<stdin>`."""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    """The path within the object, with the names of list items."""
    reason: str = ""
    owner: str = ""
    expires: str = ""
    """The last day on which it applies, such as 2027-03-31."""
    line: int = 0
    """Its first line in the baseline, from 1; 0 if it is not from a file."""


_KEYS = KnownFinding._fields[:-1]


class Baseline(NamedTuple):
    """The entries of a file."""

    filename: str
    text: str
    entries: tuple[KnownFinding, ...]

    def apply(
        self, diagnostics: Sequence[Diagnostic], names: Iterable[str], codes: Collection[str]
    ) -> Applied:
        """Split findings into new and known ones. `names` are the files of the run, and `codes`
        those of its rules.
        """
        folder = os.path.dirname(self.filename)
        ordered = sort_by_location(diagnostics)
        places = {_place(name, folder) for name in names}
        matched = _match(
            self.entries, [_entry_of(diagnostic, folder) for diagnostic in ordered], folder
        )
        date = today()
        covered = {
            index for index, entry in matched.items() if not entry.expires or date <= entry.expires
        }
        used = {entry.line for entry in matched.values()}
        expired = [entry for index, entry in matched.items() if index not in covered]
        stale = [
            entry
            for entry in self.entries
            if entry.line not in used
            and entry.code in codes
            and (entry.file in places or _is_gone(entry.file, folder))
        ]
        problems = [*map(_expired_entry, expired), *map(_stale_entry, stale)]

        return Applied(
            [diagnostic for index, diagnostic in enumerate(ordered) if index not in covered],
            len(covered),
            limit_findings(
                (to_diagnostic(problem, None, self.filename) for problem in problems), self.filename
            ),
        )


class Applied(NamedTuple):
    """The result of applying a baseline to findings."""

    new: list[Diagnostic]
    known: int
    problems: list[Diagnostic]
    """Findings in the baseline itself."""


def _expired_entry(entry: KnownFinding) -> Problem:
    message = (
        f"the entry for {entry.code} applied until {entry.expires}: the finding is reported again"
    )
    return _problem(
        "expired-baseline",
        entry,
        message,
        "fix the finding and remove the entry, or set a later date",
    )


def _stale_entry(entry: KnownFinding) -> Problem:
    resource = "/".join(filter(None, (entry.kind, entry.name))) or entry.file
    message = f"no finding for this entry: {entry.code} of {resource}" + (
        f" at {entry.path}" if entry.path else ""
    )

    return _problem(
        "stale-baseline",
        entry,
        message,
        "remove it, or write the baseline again with --write-baseline",
    )


def _problem(name: str, entry: KnownFinding, message: str, help: str) -> Problem:
    span = Span(entry.line, 1, entry.line, len("[[finding]]") + 1)
    return Problem(name, (), message, help, "warning", "style", "ptcompile", span=span)


def _is_gone(file: str, folder: str) -> bool:
    return file != _STDIN and not os.path.exists(os.path.join(folder, file))


def _entry_of(diagnostic: Diagnostic, folder: str) -> KnownFinding:
    """Return the entry that covers a finding."""
    kind, _, name = mask_formats(diagnostic.resource or "").partition("/")
    place = _place(diagnostic.filename or _STDIN, folder)
    return KnownFinding(
        diagnostic.code, place, kind, diagnostic.namespace or "", name, diagnostic.stable_path
    )


def _place(filename: str, folder: str) -> str:
    """Return a file's name relative to the baseline's folder."""
    if filename == _STDIN:
        return filename
    relative = os.path.relpath(filename, folder).replace(os.sep, "/")
    return mask_formats(relative.encode(errors="replace").decode())


def _match(
    entries: Iterable[KnownFinding], findings: Sequence[KnownFinding], folder: str
) -> dict[int, KnownFinding]:
    """Return the entry of each finding that has one, by the finding's index.

    An entry for the very place comes first, then one for a file that was renamed or is rendered
    now, then one for another index of the same list.
    """
    unused = [*entries]
    gone = {
        file
        for file in {entry.file for entry in unused}
        if file == _STDIN or _is_gone(file, folder)
    }
    matched: dict[int, KnownFinding] = {}
    for any_index, any_file in ((False, False), (False, True), (True, False), (True, True)):
        candidates: dict[tuple[object, ...], list[KnownFinding]] = {}
        # the first entry is popped first
        for entry in reversed(unused):
            may_move = not any_file or entry.file in gone
            candidates.setdefault((may_move, *_key(entry, any_index, any_file)), []).append(entry)
        for index, finding in enumerate(findings):
            if index in matched or (any_file and not finding.kind):
                continue
            key = _key(finding, any_index, any_file)
            same = candidates.get((True, *key)) or (
                finding.file == _STDIN and candidates.get((False, *key))
            )
            if same:
                matched[index] = same.pop()

        used = {entry.line for entry in matched.values()}
        unused = [entry for entry in unused if entry.line not in used]

    return matched


_index = re.compile(r"\[\d+\]")


def _key(entry: KnownFinding, any_index: bool, any_file: bool) -> tuple[str, ...]:
    """Return what identifies an entry, or less of it: without list indexes, or without the file."""
    path = _index.sub("[]", entry.path) if any_index else entry.path
    return entry.code, "" if any_file else entry.file, entry.kind, entry.namespace, entry.name, path


def read(filename: str, codes: Mapping[str, str]) -> Baseline:
    """Return the baseline in a file. `codes` are those of all rules by name. Raises `UsageError`
    that lists every mistake in it.
    """
    content = files.read(filename)
    table = parse_toml(filename, content, _MAX_BYTES)
    text = content.decode()
    lines = [number for number, line in enumerate(text.split("\n"), 1) if _is_header(line)]
    tables = table.get("finding", [])
    mistakes = [
        f"{key}: unknown key; entries begin with [[finding]]" for key in table if key != "finding"
    ]
    if not isinstance(tables, list) or len(tables) != len(lines):
        mistakes.append("write each entry as a table that begins with a line [[finding]]")
        lines = tables = []
    valid_codes = {*codes.values()}
    entries = [
        _read_entry(item, line, valid_codes, mistakes)
        for item, line in zip(tables, lines, strict=True)
    ]
    if mistakes:
        raise UsageError(f"{filename}: invalid baseline", *(f"  {mistake}" for mistake in mistakes))

    return Baseline(filename, text, tuple(entries))


def without_known(config: Config) -> Callable[[Sequence[Diagnostic]], Sequence[Diagnostic]]:
    """Return a function that drops the findings that the configured baseline covers, for doors
    without a report of the baseline itself. Raises `UsageError`, as `read` does.
    """
    if config.baseline is None:
        return lambda diagnostics: diagnostics
    known = read(config.baseline, config.all_codes)
    return lambda diagnostics: known.apply(diagnostics, (), ()).new


_is_header = re.compile(r"[ \t]*\[\[[ \t]*finding[ \t]*\]\]").match


def _read_entry(table: Any, line: int, codes: Collection[str], mistakes: list[str]) -> KnownFinding:
    """Return an entry of the baseline; add what is wrong with it to the mistakes."""
    values: dict[str, str] = {}
    for key, value in table.items():
        if key not in _KEYS:
            help = spelling_help(key, _KEYS, f"the keys are {', '.join(_KEYS)}")
            mistakes.append(f"line {line}: {key}: unknown key; {help}")
        elif key == "expires":
            values[key] = str(value)
            if not is_date(values[key]):
                mistakes.append(f"line {line}: expires: must be a date, such as 2027-03-31")
        elif not isinstance(value, str):
            mistakes.append(f"line {line}: {key}: must be a string")
        elif "\0" in value:
            mistakes.append(f"line {line}: {key}: must not contain null characters")
        else:
            values[key] = value

    for key in ("code", "file"):
        if not table.get(key):
            mistakes.append(f"line {line}: {key} is missing")
    if (code := values.get("code")) and code not in codes:
        mistakes.append(f"line {line}: code: no rule has the code {code!r}")

    return KnownFinding(**{"code": "", "file": "", **values}, line=line)


def write(
    filename: str,
    diagnostics: Sequence[Diagnostic],
    read_files: Iterable[str],
    codes: Mapping[str, str],
) -> str:
    """Write all findings to a baseline and return a summary of that.

    Entries of an existing baseline that still cover a finding keep their reason, owner and date,
    and those of files that were not read stay. Raises `UsageError` if the existing file is not a
    baseline.
    """
    folder = os.path.dirname(filename)
    old = read(filename, codes).entries if os.path.exists(filename) else ()
    findings = [_entry_of(diagnostic, folder) for diagnostic in sort_by_location(diagnostics)]
    matched = _match(old, findings, folder)
    used = {entry.line for entry in matched.values()}
    places = {_place(name, folder) for name in read_files}
    untouched = [
        e
        for e in old
        if e.line not in used and e.file not in places and not _is_gone(e.file, folder)
    ]
    entries = [*untouched]
    for index, finding in enumerate(findings):
        notes = matched.get(index, finding)
        entries.append(
            finding._replace(reason=notes.reason, owner=notes.owner, expires=notes.expires)
        )

    entries.sort(key=attrgetter("file", "kind", "namespace", "name", "path", "code"))
    files.write_files({filename: "\n".join([_HEAD, *map(_to_toml, entries)])})
    new = len(findings) - len(matched)
    removed = len(old) - len(used) - len(untouched)

    return f"{pluralize(len(entries), 'finding')} in {filename}: {new} new, {removed} removed"


_HEAD = """\
# Known findings, which `ptcompile lint --baseline` does not report; written by `ptcompile lint --write-baseline`.
# An entry may have a reason, an owner and the last day on which it applies: expires = 2027-03-31
"""


def _to_toml(entry: KnownFinding) -> str:
    lines = ["[[finding]]"]
    for key, value in zip(_KEYS, entry, strict=False):
        if value:
            lines.append(f"{key} = {value if key == 'expires' else _quote(str(value))}")
    return "".join(f"{line}\n" for line in lines)


def _quote(text: str) -> str:
    """Return a text as a basic string of TOML."""
    escapes = {'"': '\\"', "\\": "\\\\"}
    return (
        '"'
        + "".join(escapes.get(c) or (c if c.isprintable() else f"\\U{ord(c):08X}") for c in text)
        + '"'
    )
