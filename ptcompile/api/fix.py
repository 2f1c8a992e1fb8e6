"""The verb `fix` as a function: a text, with whatever a program can fix in it fixed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.lint import Report, lint
from ptcompile.diagnostics import Diagnostic
from ptcompile.fixer import Skipped, fix_in_rounds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from ptcompile.spec.cluster_profile import ClusterProfile


class Fixed(NamedTuple):
    """A text with its fixes made, and what is left to say of it."""

    content: bytes
    """The text. Comments, order, quotes and line ends of all that was not fixed are as they were, byte for byte."""
    applied: tuple[Diagnostic, ...]
    """The findings that were fixed, as they stood in the text that was given."""
    skipped: tuple[Skipped, ...]
    """Those whose fix could not be made, each with the reason."""
    report: Report
    """What `lint` says of the text as it is now."""

    @property
    def text(self) -> str:
        """The content as text; what is no UTF-8 is replaced."""
        return self.content.decode("utf-8-sig", errors="replace")


def fix(
    source: str | bytes,
    *,
    unsafe: bool = False,
    filename: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    kubernetes: str | None = None,
    webhooks: bool = True,
    unknown_kinds: Literal["count", "error"] = "count",
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    schemas: Iterable[str | os.PathLike[str]] = (),
) -> Fixed:
    """Make the fixes of what `lint` finds in a text: those that are safe, or all of them with `unsafe`.

    A fix is safe where the job stays what its author meant beyond doubt. All other arguments are those of `lint`, and
    so are the errors raised. A text that cannot be read comes back as it was.
    """
    selected = None if select is None else list(select)
    ignored, definitions = list(ignore), list(schemas)

    def judge(content: bytes) -> Report:
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

    return fixed_by(source.encode() if isinstance(source, str) else source, judge, unsafe=unsafe)


def fixed_by(content: bytes, judge: Callable[[bytes], Report], *, unsafe: bool) -> Fixed:
    """The same with the findings of any `judge`, which is asked once of each text."""
    reports: dict[bytes, Report] = {}

    def report(text: bytes) -> Report:
        if text not in reports:
            reports[text] = judge(text)
        return reports[text]

    mended = fix_in_rounds(content, lambda text: report(text).diagnostics, unsafe=unsafe)
    return Fixed(mended.content, mended.applied, mended.skipped, report(mended.content))
