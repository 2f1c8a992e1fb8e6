"""Findings as HTML, below the line that they are about, or in a list where they are about none."""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.graph.svg_parts import escape
from ptcompile.page.model import Finding, Page
from ptcompile.report.common import when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.explaining.variants import File


def at_lines(page: Page, file: File) -> dict[int, str]:
    """For each line of a file its findings as HTML."""
    out: dict[int, str] = {}
    for one in page.findings:
        if one.file == file and one.line:
            out[one.line] = out.get(one.line, "") + _note(one, page.targets)
    return out


def without_line(page: Page, file: File, *, all_of_it: bool) -> list[str]:
    """The findings about no line, or all of them where the file's lines are not shown."""
    found = [_note(one, page.targets) for one in page.findings if one.file == file and (all_of_it or not one.line)]
    return ['<div class="notes">', *found, "</div>"] if found else []


def refusal(page: Page, target: str) -> list[str]:
    """Why a target has no manifests of a job; nothing where it has all. What targets share is in the spec alone."""
    found = [one for one in page.findings if target in one.targets and one.diagnostic.severity == "error"]
    if not found:
        return []
    own = [one for one in found if _of_its_own(one) and set(one.targets) != set(page.targets)]
    wrong = any(one.diagnostic.name != "unsupported-by-target" for one in found)
    left = len(found) - len(own)
    where = f": {left} {'error' if left == 1 else 'errors'}, shown at the spec's lines" if left else ""
    notes = ['<div class="notes">', *(_note(one, one.targets) for one in own), "</div>"] if own else []
    return [
        f'<p class="refused">{"It does not compile" if wrong else f"{target} cannot express this job"}{where}.</p>',
        *notes,
    ]


def _of_its_own(one: Finding) -> bool:
    """Whether a finding says something of a target, and not only of the job."""
    return len(one.targets) == 1 or one.diagnostic.name == "unsupported-by-target"


def _note(one: Finding, every: Sequence[str]) -> str:
    """One finding. It is shown with the targets that it is about, where others are on the page."""
    found = one.diagnostic
    only = one.targets if set(one.targets) != set(every) else ()
    about = f' data-for="{" ".join(map(escape, only))}"' if only else ""
    targets = f' <span class="only">{escape(", ".join(only))}</span>' if only else ""
    help = f"<span>help: {escape(found.help)}</span>" if found.help else ""
    return (
        f'<div class="note {found.severity}"{about}><span><strong>{found.severity} {escape(found.code)}</strong> '
        f"{escape(found.name)}{targets}</span><span>{escape(found.message)}</span>{help}"
        f"<em>{when(found)} ({escape(found.authority)})</em></div>"
    )
