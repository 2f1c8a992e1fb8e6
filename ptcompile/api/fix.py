"""`fix`: a text with all automatic fixes applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ptcompile._internal import arguments
from ptcompile._internal.limits import limits, while_fixing
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.inputs import AnyProfile, SchemaPaths, read_beside, read_profile
from ptcompile.api.lint import Report, lint_source
from ptcompile.api.options import UnknownKinds, read_options
from ptcompile.diagnostics import Diagnostic
from ptcompile.fixer import Skipped, fix_in_rounds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import StreamSource
    from ptcompile.extending import Extensions


_LISTED = 16
"""How many times as many findings the rounds of a fix list as a report does."""


class Fixed(NamedTuple):
    """A text with its fixes applied, and the findings that remain."""

    content: bytes
    """The text. Comments, order, quotes and line endings outside the fixes are unchanged, byte
    for byte.
    """
    applied: tuple[Diagnostic, ...]
    """The findings that were fixed, with their positions in the original text."""
    skipped: tuple[Skipped, ...]
    """Findings whose fix could not be applied, each with the reason."""
    report: Report
    """The result of linting the fixed text."""

    @property
    def text(self) -> str:
        """The content as text; invalid UTF-8 is replaced."""
        return self.content.decode("utf-8-sig", errors="replace")


def fix(
    source: str | bytes,
    *,
    unsafe: bool = False,
    filename: str | None = None,
    cluster: AnyProfile | None = None,
    kubernetes: str | None = None,
    webhooks: bool = True,
    unknown_kinds: UnknownKinds = "count",
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    severity: Mapping[str, str] | None = None,
    schemas: SchemaPaths = (),
    beside: Iterable[StreamSource] | None = None,
    extensions: Extensions | None = None,
) -> Fixed:
    """Apply the fixes of a text's findings: only the safe ones, or all of them with `unsafe`.

    A fix is safe if the job certainly stays what its author intended. All other arguments and the
    errors raised are those of `lint`. A text that cannot be read is returned unchanged.
    """
    arguments.check(filename=filename)
    others = None if beside is None else read_beside(beside)
    profile = read_profile(cluster)
    options = read_options(
        profile.profile,
        kubernetes=kubernetes,
        webhooks=webhooks,
        unknown_kinds=unknown_kinds,
        select=select,
        ignore=ignore,
        severity=severity,
        schemas=schemas,
        extensions=extensions,
    )

    def judge(content: bytes) -> Report:
        return lint_source(content, filename, options, beside=others, profile=profile)

    return fix_findings_of(
        source.encode() if isinstance(source, str) else source, judge, unsafe=unsafe
    )


def fix_findings_of(content: bytes, judge: Callable[[bytes], Report], *, unsafe: bool) -> Fixed:
    """Apply the fixes of the findings that `judge` returns; call it once for each version of the
    text, and again for a report that is cut at the limit of findings.
    """
    reports: dict[bytes, Report] = {}

    def report(text: bytes) -> Report:
        if text not in reports:
            reports[text] = judge(text)
        return reports[text]

    # a round applies only fixes of listed findings, so a short list would take more rounds
    many = limits()._replace(findings=_LISTED * limits().findings)
    token = while_fixing.set(many)
    try:
        result = fix_in_rounds(content, lambda text: report(text).diagnostics, unsafe=unsafe)
        whole = report(result.content)
    finally:
        while_fixing.reset(token)

    is_short = len(whole.diagnostics) <= limits().findings
    return Fixed(
        result.content,
        result.applied,
        result.skipped,
        whole if is_short else judge(result.content),
    )
