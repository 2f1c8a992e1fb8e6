"""`fix`: a text with all automatic fixes applied."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.lint import Report, lint
from ptcompile.diagnostics import Diagnostic
from ptcompile.fixer import Skipped, fix_in_rounds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile._internal.arguments import ProfileSource
    from ptcompile.spec.cluster_profile import ClusterProfile


class Fixed(NamedTuple):
    """A text with its fixes applied, and the findings that remain."""

    content: bytes
    """The text. Comments, order, quotes and line endings outside the fixes are unchanged, byte for byte."""
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
    cluster: ProfileSource | ClusterProfile | None = None,
    kubernetes: str | None = None,
    webhooks: bool = True,
    unknown_kinds: Literal["count", "error"] = "count",
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    schemas: Iterable[str | os.PathLike[str]] = (),
) -> Fixed:
    """Apply the fixes of a text's findings: only the safe ones, or all of them with `unsafe`.

    A fix is safe if the job certainly stays what its author intended. All other arguments and the errors raised are
    those of `lint`. A text that cannot be read is returned unchanged.
    """
    selected = None if select is None else list(select)
    ignored, definitions = list(ignore), list(schemas)

    def lint_content(content: bytes) -> Report:
        return lint(
            content,
            filename=filename,
            cluster=cluster,
            kubernetes=kubernetes,
            webhooks=webhooks,
            unknown_kinds=unknown_kinds,
            select=selected,
            ignore=ignored,
            schemas=definitions,
        )

    return fix_findings_of(source.encode() if isinstance(source, str) else source, lint_content, unsafe=unsafe)


def fix_findings_of(content: bytes, judge: Callable[[bytes], Report], *, unsafe: bool) -> Fixed:
    """Apply the fixes of the findings that `judge` returns; call it once for each version of the text."""
    reports: dict[bytes, Report] = {}

    def report(text: bytes) -> Report:
        if text not in reports:
            reports[text] = judge(text)
        return reports[text]

    result = fix_in_rounds(content, lambda text: report(text).diagnostics, unsafe=unsafe)
    return Fixed(result.content, result.applied, result.skipped, report(result.content))
