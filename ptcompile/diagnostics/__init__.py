"""Problems, diagnostics, fixes and edits: what is wrong, where, and how to fix it.

A user's mistake is never an exception here. Producers (front ends, validators, rules) yield a `Problem`: a path into
the document and a sentence. `ptcompile.source.streams` turns it into a `Diagnostic` with its code and its position.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile._internal.about import page_address
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics.codes import CODES

TYPE_CHECKING = False


if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.diagnostics.terms import Authority as Authority, Severity as Severity, Stage as Stage

    Op = Literal["set", "remove", "rename", "append", "quote", "deduplicate"]
else:  # what programs get that ask for the hints of `Diagnostic`: each start would pay for more precise ones
    Authority = Severity = Stage = Op = str

Path = tuple[str | int, ...]
"""Keys and indexes from the root of one document down to a value."""


class Span(NamedTuple):
    """A stretch of text. Lines and columns count from 1, in code points; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Edit(NamedTuple):
    """One change to a document, in terms of its data; `ptcompile.fixer` makes a change of text of it.

    `set` gives a value (parents that are missing are made), `remove` takes a key or an item away, `rename` gives the
    last key of the path the name `value`, `append` puts `value` at the end of the list at the path, `quote` makes a
    string of a plain number or word as it is written, `deduplicate` removes the first of two equal keys, the second of
    which the finding stands on. Several edits are made in order, each on the result of those before it.
    """

    op: Op
    path: Path
    value: Any = None


class Fix(NamedTuple):
    """How a finding can be fixed automatically."""

    title: str
    """What it does, for people: "set completions to 4"."""
    edits: tuple[Edit, ...]
    safe: bool
    """Whether the job stays what its author meant, beyond doubt; else `--unsafe-fixes` has to be asked for."""


class Problem(NamedTuple):
    """One mistake, as the producer knows it: which rule, where in the document, and why.

    `name` is a key of `codes.CODES`; `on_key` asks for the position of the last key of `path` instead of its value
    (unknown fields, duplicate keys). A `path` that does not exist in the document points at its nearest ancestor.
    """

    name: str
    path: Path
    message: str
    help: str | None = None
    severity: Severity = "error"
    stage: Stage = "apply"
    authority: Authority = "kube-apiserver"
    on_key: bool = False
    span: Span | None = None
    """Known already: the reader's findings, which have no path."""
    fix: Fix | None = None
    code: str = ""
    """Of a rule outside ptcompile, whose name has no code in `codes.CODES`."""
    blocks_compile: bool = False
    """Whether `compile` writes nothing because of it. Neither a comment nor `ignore` covers such a problem."""
    owner: str = ""
    """Whose rule it is, if not ptcompile's: `rule of ptcompile.toml`, `rule of plugin acme-ptcompile`."""


def deduplicate(problems: Iterable[Problem]) -> list[Problem]:
    """Each problem once, by what it says: a fix may hold a list, so that a problem is no key."""
    told: dict[tuple[str, Path, str], Problem] = {}
    for one in problems:
        told.setdefault((one.name, one.path, one.message), one)
    return [*told.values()]


def blocking(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems of a spec or a profile with the errors marked: they keep `compile` from writing."""
    return [one._replace(blocks_compile=True) if one.severity == "error" else one for one in problems]


def blocking_text(problems: Iterable[Problem]) -> list[Problem]:
    """Return the same for problems of a spec's or profile's text, which no API server reads."""
    return blocking(problem._replace(authority="ptcompile") for problem in problems)


class Diagnostic(NamedTuple):
    """One finding, complete: the contract of the public API and of the JSON report."""

    code: str
    name: str
    severity: Severity
    message: str
    help: str | None
    path: Path
    span: Span | None
    stage: Stage
    authority: Authority
    filename: str | None = None
    document: int = 0
    """Index of the document in its stream, from 0."""
    resource: str | None = None
    """`Kind/name` of the object, where it has them."""
    fix: Fix | None = None
    """How to fix it automatically; its paths are from the root of the document, as `path` is."""
    template: str | None = None
    """The template that the document was rendered from, as Helm's `# Source:` comment says."""
    masked: bool = False
    """Whether `***` stands for a secret in the message, the help or the path."""
    blocks_compile: bool = False
    """Whether `compile` writes nothing because of it. Neither a comment nor `ignore` covers such a finding."""
    owner: str = ""
    """Whose rule it is, if not ptcompile's. Text reports print it; the JSON form lacks it."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: the same names; `span` as an object or null, `path` as a list, and `url`, the code's page."""
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
            "url": page_address(self.code),
        }


def code_of(name: str) -> str:
    """The code of a rule's name, for example `PTC501` of `unknown-field`."""
    return CODES[name]


def field_path(path: Iterable[str | int]) -> str:
    """A path in the API server's notation: `spec.containers[0].env[1].name`, `metadata.labels[app.kubernetes.io/x]`.

    A key that is not a plain word stands in brackets, as the server writes map keys.
    """
    out = ""
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
        elif part.replace("_", "").replace("-", "").isalnum():
            out += f".{part}" if out else part
        else:
            out += f"[{part}]"
    return out
