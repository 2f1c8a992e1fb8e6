"""Problems, diagnostics, fixes and edits: mistakes, their positions and their repairs.

A user's mistake is never an exception here. Producers (frontends, validators, rules) yield a
`Problem`: a path into the document and a sentence. `ptcompile.source.streams` turns it into a
`Diagnostic` with its code and position.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from ptcompile._internal.about import page_address
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics.codes import CODES

TYPE_CHECKING = False


if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.diagnostics.terms import (
        Authority as Authority,
        Severity as Severity,
        Stage as Stage,
    )

    Op = Literal["set", "remove", "rename", "append", "quote", "deduplicate"]
else:  # the type hints of `Diagnostic` at run time: precise ones would slow down each start
    Authority = Severity = Stage = Op = str

Path = tuple[str | int, ...]
"""Keys and indexes from the root of one document down to a value."""


class Span(NamedTuple):
    """A range of text. Lines and columns count from 1, in code points; the end is exclusive."""

    line: int
    """The first line."""
    column: int
    """The first column."""
    end_line: int
    """The last line."""
    end_column: int
    """The column after the last character."""


def line_range(span: Span) -> tuple[int, int]:
    """Return the first and the last line that have a character of a span."""
    return span.line, max(span.line, span.end_line - (span.end_column == 1))


class Edit(NamedTuple):
    """One change to a document's data; `ptcompile.fixer` turns it into a text edit.

    `set` sets a value and creates missing parents, `remove` removes a key or an item, `rename`
    changes the last key of the path to `value`, `append` adds `value` to the end of the list at the
    path, `quote` turns a plain number or word into a string as written, and `deduplicate` removes
    the first of two equal keys, where the finding is on the second. Edits are applied in order,
    each to the result of the previous ones.
    """

    op: Op
    path: Path
    value: Any = None


class Fix(NamedTuple):
    """An automatic repair of a finding."""

    title: str
    """What the fix does, as text: "set completions to 4"."""
    edits: tuple[Edit, ...]
    safe: bool = False
    """Whether the job certainly keeps its author's intent; otherwise the fix needs
    `--unsafe-fixes`.
    """


class Problem(NamedTuple):
    """One mistake as its producer knows it: the rule, the path in the document, and the sentence.
    Most are made by `problem_at`; to move one is to replace its `path`.

    `name` is a key of `codes.CODES`; `on_key` requests the position of the last key of `path`
    instead of its value (for unknown fields and duplicate keys). A `path` that does not exist in
    the document points at its nearest ancestor.
    """

    name: str
    path: Path
    text: str
    """The sentence, without the field that it begins with."""
    help: str | None = None
    severity: Severity = "error"
    stage: Stage = "apply"
    authority: Authority = "kube-apiserver"
    on_key: bool = False
    span: Span | None = None
    """The position, if already known: only for findings of the reader, which have no path."""
    fix: Fix | None = None
    code: str = ""
    """The code of a rule outside ptcompile, whose name is not in `codes.CODES`."""
    blocks_compile: bool = False
    """Whether `compile` writes nothing because of it. Neither a comment nor `ignore` suppresses
    such a problem.
    """
    owner: str = ""
    """Whose rule it is, if not ptcompile's: `rule of ptcompile.toml`, `rule of plugin
    acme-ptcompile`.
    """
    field: str | None = ""
    """What the sentence begins with: None for `path`, else another name of the field, such as
    `job[role]`, or nothing.
    """
    setter: str = ""
    """What sets the value, if the field at `path` does not: `memory is set by LimitRange
    ml/defaults`.
    """
    page: str = ""
    """The address of the rule's page, if it is not ptcompile's."""
    source: tuple[Any, Path] | None = None
    """The other object of the stream that has the value, and its path there."""

    @property
    def start(self) -> str:
        """The field that the sentence begins with, or nothing."""
        return field_path(self.path) if self.field is None else self.field

    @property
    def message(self) -> str:
        """The whole sentence, as people read it."""
        return message_at(self.path, self.text, self.field, self.setter)


Problems = Iterator[Problem]
"""What a check yields."""


def problem_at(
    name: str,
    path: Path,
    text: str,
    help: str | None = None,
    severity: Severity = "error",
    stage: Stage = "apply",
    authority: Authority = "kube-apiserver",
    on_key: bool = False,
    *,
    fix: Fix | None = None,
    field: str | None = None,
) -> Problem:
    """Return a problem whose message begins with its field, as most do."""
    return Problem(name, path, text, help, severity, stage, authority, on_key, fix=fix, field=field)


own_problem = partial(problem_at, authority="ptcompile")
"""Makes a problem that ptcompile alone reports, not a server; parameters as of `problem_at`."""


def message_at(path: Path, text: str, field: str | None = None, setter: str = "") -> str:
    """Return the message of a problem: its field, by default in the API server's notation, its
    text, and what sets the value.
    """
    start = field_path(path) if field is None else field
    text = f"{text} ({setter})" if setter else text
    return f"{start}: {text}" if start else text


def deduplicate(problems: Iterable[Problem]) -> list[Problem]:
    """Return the distinct problems by name, path and text. A problem with a fix may hold a list and
    is not hashable.
    """
    distinct: dict[tuple[str, Path, str], Problem] = {}
    for problem in problems:
        distinct.setdefault((problem.name, problem.path, problem.text), problem)
    return [*distinct.values()]


def has_error(problems: Iterable[Problem | Diagnostic]) -> bool:
    """Return whether one of the problems is an error."""
    return any(problem.severity == "error" for problem in problems)


def blocking(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems of a spec or a profile, with errors marked as blocking `compile`."""
    return [
        problem._replace(blocks_compile=True) if problem.severity == "error" else problem
        for problem in problems
    ]


def blocking_text(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems of a spec's or profile's text as `blocking` does, with ptcompile as their
    authority, since no API server reads the text.
    """
    return blocking(problem._replace(authority="ptcompile") for problem in problems)


class Diagnostic(NamedTuple):
    """A complete finding: the contract of the public API and of the JSON report."""

    code: str
    """Such as `PTC302`: stable, and never reused."""
    name: str
    """Such as `missing-shm`: the rule's name, as select and ignore take it."""
    severity: Severity
    """`error`: it fails on any cluster; `warning`: that depends on something outside the files;
    `note`: to know.
    """
    message: str
    """One sentence, which begins with the field."""
    help: str | None
    """How to fix it, or None."""
    path: Path
    """Keys and indexes from the root of the document to the value."""
    span: Span | None
    """The place in the text; None for objects that were never text."""
    stage: Stage
    """When it would fail: `apply`, `pod`, `run` or `style`."""
    authority: Authority
    """Who would say so, such as `kube-apiserver` or `torchrun`."""
    filename: str | None = None
    """The name of the file, or None for a text without one."""
    document: int = 0
    """Index of the document in its stream, from 0."""
    resource: str | None = None
    """`Kind/name` of the object, if it has both."""
    fix: Fix | None = None
    """The automatic repair; its paths start at the root of the document, like `path`."""
    template: str | None = None
    """The template that the document was rendered from, according to Helm's `# Source:` comment."""
    masked: bool = False
    """Whether `***` replaces a secret in the message, the help or the path."""
    blocks_compile: bool = False
    """Whether `compile` writes nothing because of it. Neither a comment nor `ignore` suppresses
    such a finding.
    """
    owner: str = ""
    """Whose rule it is, if not ptcompile's. Text reports print it; the JSON form lacks it."""
    rule_severity: Severity | None = None
    """The rule's own severity, if `severity` in the configuration changed it."""
    namespace: str | None = None
    """`metadata.namespace` of the object, if it has one."""
    labels: tuple[tuple[str, str], ...] = ()
    """`metadata.labels` of the object, up to 32, without secrets."""
    stable_path: str = ""
    """`path` within the object, with the names of list items instead of their indexes, so that it
    stays the same when lines or items move: `spec.containers[pytorch].image`.
    """
    comparison: tuple[tuple[str, str], ...] = ()
    """Two columns that the full text report prints below the finding, the first row with their
    titles.
    """
    field: str = ""
    """The field's path as `message` begins with it; empty if it begins with something else."""
    variant: str = ""
    """The name of the job among those of its document, if there are several."""
    page: str = ""
    """The address of the rule's page, if the rule is not ptcompile's and has one."""

    @property
    def url(self) -> str | None:
        """The page of the code, or None for a plugin's rule without one."""
        return self.page or (None if self.owner else page_address(self.code))

    @property
    def text(self) -> str:
        """`message` without `field`."""
        return self.message.removeprefix(f"{self.field}: ")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: the same names, `span` as an object or null, `path` as a list, and
        `url`, the code's page.
        """
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "help": self.help,
            "path": list(self.path),
            "span": self.span._asdict() if self.span else None,
            "stage": self.stage,
            "authority": self.authority,
            "filename": self.filename,
            "document": self.document,
            "resource": self.resource,
            "fix": self.fix and {"title": self.fix.title, "safe": self.fix.safe},
            "template": self.template,
            "masked": self.masked,
            "url": self.url,
        }


def code_of(name: str) -> str:
    """Return the code of a rule's name, for example `PTC501` for `unknown-field`."""
    return CODES[name]


def field_path(path: Iterable[str | int]) -> str:
    """Return a path in the API server's notation: `spec.containers[0].env[1].name`,
    `metadata.labels[app.kubernetes.io/x]`.

    Keys that are not plain words are in brackets, as the server writes map keys.
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.replace("_", "").replace("-", "").isalnum():
            text += f".{part}" if text else part
        else:
            text += f"[{part}]"
    return text


def shorten(text: str, length: int) -> str:
    """Return a text as messages quote it: with dots for its end if it is longer than `length`."""
    return text if len(text) <= length else f"{text[: length - 3]}..."
