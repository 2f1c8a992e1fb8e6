"""The pods of a target as HTML: what they are called, where they meet, what the first one finds in its environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.graph import GRAPHS
from ptcompile.graph.svg_parts import STYLE, escape
from ptcompile.page.model import Listing
from ptcompile.simulation import Job, overview
from ptcompile.simulation.meeting import Meeting, meeting

_HEAD = ("Pod", "Host name", "DNS name", "Rank", "QoS")
_MOST = 128
"""Variables in which other pods differ from the first one, and characters of each, that are shown."""


def pods(listing: Listing) -> Iterator[str]:
    """Every job of a target's world, and the picture of all of them."""
    for job in listing.world.jobs:
        yield f"<h3>{escape(job.title)}</h3>"
        yield from _job(job, meeting(job))
    yield '<figure class="graph" tabindex="0" aria-label="The pods as a picture">'
    yield GRAPHS["svg"](listing.world).replace(f"<style>{STYLE}</style>\n", "")  # page.css has it, for all of them
    yield "</figure>"


def _job(job: Job, found: Meeting | None) -> Iterator[str]:
    yield '<dl class="facts">'
    for label, lines in overview.facts(job, found):
        if lines:
            yield f"<div><dt>{escape(label)}</dt>{''.join(_fact(label, line) for line in lines)}</div>"
    yield "</dl>"
    if found is not None:
        yield from _table("pods", "Pods", _HEAD, overview.pod_rows(job, found)[1:])
        yield from _environment(job, found)


def _fact(label: str, line: str) -> str:
    return f"<dd><code>{escape(line)}</code></dd>" if label == "runs" else f"<dd>{escape(line)}</dd>"


def _environment(job: Job, found: Meeting) -> Iterator[str]:
    lead = found.roles[0][0]
    first = job.pod(lead, 0)
    rows = overview.env_rows(first)
    container = first.main.name if first.main else ""
    title = f"Environment of {first.shown}, container {container}"
    if rows:
        shown = [["operator" if mark == "+" else "manifest", name, *value] for mark, name, *value in rows]
        yield from _table("env", title, ["Set by", "Variable", "Value", "As written"], shown)
    others = list(overview.others(job, lead))
    if others:
        yield '<ul class="others">'
        for names, differences in others:
            words = ", ".join(f"<code>{escape(folded(one))}</code>" for one in differences[:_MOST])
            same = f"but {words}" if differences else "in all"
            yield f"<li><code>{escape(names)}</code> as <code>{escape(first.shown)}</code> {same}"
        yield "</ul>"


def folded(text: str) -> str:
    """A long text by its beginning."""
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"


def _table(kind: str, title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f'<div class="wide" tabindex="0" role="group" aria-label="{escape(title)}"><table class="{kind}">'
    yield f"<caption>{escape(title)}</caption>"
    yield _row([f'<th scope="col">{escape(name)}</th>' for name in head]).join(("<thead>", "</thead>"))
    yield "<tbody>"
    for row in rows:
        cells = [*row, *[""] * (len(head) - len(row))]
        yield _row([f"<td>{escape(cell)}</td>" for cell in cells])
    yield "</tbody></table></div>"


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"
