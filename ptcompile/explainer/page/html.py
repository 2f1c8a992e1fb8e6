"""The page as HTML: listings, findings, pods, styles and data."""

from __future__ import annotations

import base64
import colorsys
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files

from ptcompile._internal.about import __version__
from ptcompile.compiler import passes
from ptcompile.explainer.page.content import ExplainPage, Listing, PageFinding, Panel, Reason, SourceLines, SourceText
from ptcompile.graph import GRAPHS
from ptcompile.graph.svg_elements import STYLE, escape
from ptcompile.report.layout import consequence, printable
from ptcompile.simulator import as_text
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.meeting import JobRendezvous, job_rendezvous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.explainer.sensitivity import InputName


AUTHORS = ("spec", "target", *(one.__name__ for one in passes.PASSES))
"""Who may have written a line, in the order of their marks."""

_key = re.compile(r"""([ ]*(?:-[ ]+)*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#'"\[{&*!|>%@,-][^:#]*)(:)(?=\s|$)""").match
_COMMENT = re.compile(r"""(?:^|(?<=\s))#[^'"]*$""")


def code(
    text: SourceText, prefix: str, *, authors: Mapping[int, str] = {}, notes: Mapping[int, str] = {}
) -> Iterator[str]:
    """A list of lines, each with the id `prefix-N`.

    `authors` names who wrote a line; the name stands on the first of the lines that follow one another. `notes` are
    pieces of HTML that stand below a line.
    """
    yield f'<ol class="code" id="{prefix}-lines">'
    last = ""
    for number, line in enumerate(text.lines, 1):
        shown = escape(line) if number in text.inside else _coloured(line)
        by = authors.get(number, "")
        mark = f' class="a{AUTHORS.index(by)}"' if by in AUTHORS else ""
        name = f"<i>{escape(by)}</i>" if by and by not in (last, "spec") else ""
        yield f'<li id="{prefix}-{number}"{mark}><code{_deep(line)}>{shown}</code>{name}{notes.get(number, "")}'
        last = by
    yield "</ol>"


def _deep(line: str) -> str:
    """How far in a line begins, for where it goes on when it is too long for the page."""
    depth = min(20, (_depth(line) + 1) // 2 * 2)
    return f' class="d{depth}"' if depth else ""


def _coloured(line: str) -> str:
    comment = _COMMENT.search(line)
    end = comment.start() if comment else len(line)
    key = _key(line, 0, end)
    start = key.end(2) if key else 0
    out = f"{escape(key[1])}<b>{escape(key[2])}</b>" if key else ""
    return out + escape(line[start:end]) + (f"<s>{escape(line[end:])}</s>" if comment else "")


def authors_of(listing: Listing) -> dict[int, str]:
    """Who wrote each line. A line that only holds others belongs to the writer of all that it holds."""
    out = {line: one.by for one in listing.reasons for line in range(one.first, one.last + 1)}
    lines = listing.text.lines
    for number in range(len(lines), 0, -1):
        if number not in out and lines[number - 1].rstrip().endswith(":"):
            below = {out.get(inner, "") for inner in _held(lines, number)}
            if len(below) == 1:
                out[number] = below.pop()
    return out


def _held(lines: Sequence[str], number: int) -> Iterator[int]:
    """The numbers of the lines that a key holds: those further in, and the items of a list under it."""
    depth = _depth(lines[number - 1], items=True)
    for inner in range(number + 1, len(lines) + 1):
        line = lines[inner - 1]
        own = _depth(line)
        if own < depth or (own == depth and not line[own:].startswith("- ")):
            return
        yield inner


def _depth(line: str, *, items: bool = False) -> int:
    """Where a line begins; with `items` behind the dashes of a list."""
    return len(line) - len(line.lstrip("- " if items else " "))


_GREYS: Final = {"light": ("#586174", "#4f5869"), "dark": ("#a1acbe", "#a3acba")}
"""The spec's own lines and the target's, which are most of a manifest."""
_LUMINANCE: Final = {"light": 0.1, "dark": 0.45}
"""Relative luminance (WCAG 2.2) that stands out from every ground of the scheme at level AA."""
_SATURATION: Final = {"light": 0.75, "dark": 0.8}
_TURN: Final = 0.618034
"""The golden ratio's share of a turn: hues that follow one another are far apart, and none comes twice."""
_FIRST: Final = 0.6


def author_styles(count: int) -> str:
    """The CSS of `count` authors: a variable each in both schemes, and the class that marks a line with it."""
    light, dark = (_variables(count, scheme) for scheme in ("light", "dark"))
    marks = "".join(f".a{i} {{ --mark: var(--a{i}) }}\n" for i in range(count))
    return f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{\n  :root {{ {dark} }}\n}}\n{marks}"


def _variables(count: int, scheme: str) -> str:
    greys = _GREYS[scheme]
    hues = ((_FIRST + i * _TURN) % 1 for i in range(count - len(greys)))
    colours = [*greys, *(_colour(hue, _SATURATION[scheme], _LUMINANCE[scheme]) for hue in hues)]
    return " ".join(f"--a{i}: {colour};" for i, colour in enumerate(colours[:count]))


def _colour(hue: float, saturation: float, luminance: float) -> str:
    """The colour of a hue that is as bright to the eye as all others: found by halving."""
    low, high = 0.0, 1.0
    for _ in range(16):
        lightness = (low + high) / 2
        low, high = (lightness, high) if _luminance(hue, lightness, saturation) < luminance else (low, lightness)
    red, green, blue = (round(255 * part) for part in colorsys.hls_to_rgb(hue, low, saturation))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _luminance(hue: float, lightness: float, saturation: float) -> float:
    parts = colorsys.hls_to_rgb(hue, lightness, saturation)
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


FILES = ("spec", "cluster")
STRENGTHS = ("value", "there", "said")


def data(page: ExplainPage) -> str:
    """JSON that may stand in a script element: it has no character that HTML or JavaScript reads otherwise.

    A reason is `[first line, last line, author, rule, origins]`, an origin `[file, first line, last line, strength]`,
    or `[file, 0, index among the words, strength]` for what stands on no line.
    """
    words: dict[str, int] = {}
    rules: dict[str, int] = {}
    written = {reason.by for one in page.listings for reason in one.reasons}
    authors = (*AUTHORS, *sorted(written.difference(AUTHORS)))  # the passes of plugins last
    targets = {one.target: [_reason(reason, authors, rules, words) for reason in one.reasons] for one in page.listings}
    whole = {
        "authors": authors,
        "chosen": page.chosen,
        "files": [printable(one.filename) for one in page.panels],
        "rules": list(rules),
        "strengths": STRENGTHS,
        "targets": targets,
        "words": list(words),
    }
    text = json.dumps(whole, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _reason(one: Reason, authors: Sequence[str], rules: dict[str, int], words: dict[str, int]) -> list[Any]:
    rule = rules.setdefault(printable(one.rule), len(rules))
    by = authors.index(one.by)
    return [one.first, one.last, by, rule, [_origin(origin, words) for origin in one.origins]]


def _origin(one: SourceLines, words: dict[str, int]) -> list[int]:
    file, strength = FILES.index(one.file), STRENGTHS.index(one.strength)
    if not one.first:
        return [file, 0, words.setdefault(printable(one.words), len(words)), strength]
    return [file, one.first, one.last, strength]


def at_lines(page: ExplainPage, file: InputName) -> dict[int, str]:
    """For each line of a file its findings as HTML."""
    out: dict[int, str] = {}
    for one in page.findings:
        if one.file == file and one.line:
            out[one.line] = out.get(one.line, "") + _note(one, page.targets)
    return out


def without_line(page: ExplainPage, file: InputName, *, all_of_it: bool) -> list[str]:
    """The findings about no line, or all of them where the file's lines are not shown."""
    found = [_note(one, page.targets) for one in page.findings if one.file == file and (all_of_it or not one.line)]
    return ['<div class="notes">', *found, "</div>"] if found else []


def refusal(page: ExplainPage, target: str) -> list[str]:
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


def _of_its_own(one: PageFinding) -> bool:
    """Whether a finding says something of a target, and not only of the job."""
    return len(one.targets) == 1 or one.diagnostic.name == "unsupported-by-target"


def _note(one: PageFinding, every: Sequence[str]) -> str:
    """One finding. It is shown with the targets that it is about, where others are on the page."""
    found = one.diagnostic
    only = one.targets if set(one.targets) != set(every) else ()
    about = f' data-for="{" ".join(map(escape, only))}"' if only else ""
    targets = f' <span class="only">{escape(", ".join(only))}</span>' if only else ""
    help = f"<span>help: {escape(found.help)}</span>" if found.help else ""
    return (
        f'<div class="note {found.severity}"{about}><span><strong>{found.severity} {escape(found.code)}</strong> '
        f"{escape(found.name)}{targets}</span><span>{escape(found.message)}</span>{help}"
        f"<em>{consequence(found)} ({escape(found.authority)})</em></div>"
    )


_HEAD = ("Pod", "Host name", "DNS name", "Rank", "QoS")
_MOST = 128
"""Variables in which other pods differ from the first one, and characters of each, that are shown."""


def pods(listing: Listing) -> Iterator[str]:
    """Every job of a target's world, and the picture of all of them."""
    for job in listing.world.jobs:
        yield f"<h3>{escape(job.title)}</h3>"
        yield from _job(job, job_rendezvous(job))
    yield '<figure class="graph" tabindex="0" aria-label="The pods as a picture">'
    yield GRAPHS["svg"](listing.world).replace(f"<style>{STYLE}</style>\n", "")  # page.css has it, for all of them
    yield "</figure>"


def _job(job: SimulatedJob, found: JobRendezvous | None) -> Iterator[str]:
    yield '<dl class="facts">'
    for label, lines in as_text.facts(job, found):
        if lines:
            yield f"<div><dt>{escape(label)}</dt>{''.join(_fact(label, line) for line in lines)}</div>"
    yield "</dl>"
    if found is not None:
        yield from _table("pods", "Pods", _HEAD, as_text.pod_rows(job, found)[1:])
        yield from _environment(job, found)


def _fact(label: str, line: str) -> str:
    return f"<dd><code>{escape(line)}</code></dd>" if label == "runs" else f"<dd>{escape(line)}</dd>"


def _environment(job: SimulatedJob, found: JobRendezvous) -> Iterator[str]:
    lead = found.roles[0][0]
    first = job.pod(lead, 0)
    rows = as_text.env_rows(first)
    container = first.main.name if first.main else ""
    title = f"Environment of {first.shown}, container {container}"
    if rows:
        shown = [["operator" if mark == "+" else "manifest", name, *value] for mark, name, *value in rows]
        yield from _table("env", title, ["Set by", "Variable", "Value", "As written"], shown)
    others = list(as_text.others(job, lead))
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


_TITLES = {"spec": "Spec", "cluster": "Profile"}
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' "
    "rx='4' fill='%234f46e5'/%3E%3Cpath d='M4 5h8M4 8h5M4 11h7' stroke='white' stroke-width='1.5'/%3E%3C/svg%3E"
)
_IDLE = (
    "Point at a line, or move to one with Tab and the arrow keys, to see what it came from or what it became. Click "
    "to pin it, Escape to release."
)


def html(page: ExplainPage) -> str:
    """The whole page. The same page gives the same bytes."""
    style = f"{_file('page.css')}{author_styles(len(AUTHORS))}.graph {{{STYLE}}}\n"
    script = f'"use strict";\n(() => {{\n{_file("reasons.js")}{_file("page.js")}}})();\n'
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(page.name)} - where every line came from</title>",
        f'<link rel="icon" href="{_ICON}">',
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        *_head(page),
        "<main>",
        '<div class="columns">',
        *_given(page),
        *_made(page),
        "</div>",
        *_pods(page),
        "</main>",
        f'<p id="why" role="status" aria-live="polite">{_IDLE}</p>',
        f'<script type="application/json" id="data">{data(page)}</script>',
        f"<script>{script}</script>",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(lines)


def _file(name: str) -> str:
    return files("ptcompile.explainer.page").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _head(page: ExplainPage) -> Iterator[str]:
    able = sum(bool(one.text.lines) for one in page.listings)
    count = f"{able} of {len(page.listings)} targets" if len(page.listings) > 1 else "one target"
    yield "<header>"
    yield f"<h1>{escape(page.name)}</h1>"
    yield f"<p>Where every line came from. {count}, compiled and simulated by ptcompile {__version__}.</p>"
    yield "</header>"


def _given(page: ExplainPage) -> Iterator[str]:
    yield '<div class="given">'
    for panel in page.panels:
        yield from _panel(panel, page)
    yield "</div>"


def _panel(panel: Panel, page: ExplainPage) -> Iterator[str]:
    name = _TITLES[panel.file]
    yield f'<section class="pane" aria-labelledby="{panel.file}-title">'
    yield f'<h2 id="{panel.file}-title">{name} <small>{escape(panel.filename)}</small></h2>'
    yield from without_line(page, panel.file, all_of_it=panel.text is None)
    if panel.text is not None:
        yield from code(panel.text, panel.file, notes=at_lines(page, panel.file))
    else:
        yield "<p>Not all of it could be read, so what is secret in it is unknown and its lines are not shown.</p>"
    yield "</section>"


def _made(page: ExplainPage) -> Iterator[str]:
    yield '<section class="made" aria-label="Manifests">'
    yield '<div class="tabs">'
    for one in page.listings:
        refused = "" if one.text.lines else ' class="refuses"'
        words = "" if one.text.lines else "<span> (refused)</span>"
        yield f'<a href="#{one.target}" id="tab-{one.target}"{refused}>{one.target}{words}</a>'
    yield "</div>"
    for one in page.listings:
        yield f'<div class="pane" id="{one.target}" data-target="{one.target}">'
        yield from _listing(one, page)
        yield "</div>"
    yield "</section>"


def _listing(one: Listing, page: ExplainPage) -> Iterator[str]:
    yield f"<h2>{escape(one.title)} <small>{one.target}.yaml</small></h2>"
    yield from refusal(page, one.target)
    if one.text.lines:
        yield from _legend(one)
        yield from code(one.text, one.target, authors=authors_of(one))
        yield "<details><summary>What each pass did</summary>"
        yield "<pre>"
        yield from map(escape, one.explanation.text().splitlines())
        yield "</pre></details>"


def _legend(one: Listing) -> Iterator[str]:
    """Who wrote how many values: a button each, which lights them."""
    counted = Counter(reason.by for reason in one.reasons)
    yield '<div class="legend" role="group" aria-label="Who wrote how many values">'
    for index, by in enumerate(AUTHORS):
        if counted[by]:
            yield f'<button type="button" class="a{index}" data-by="{index}">{by} <b>{counted[by]}</b></button>'
    yield "</div>"


def _pods(page: ExplainPage) -> Iterator[str]:
    shown = [one for one in page.listings if one.text.lines]
    if shown:
        yield '<section class="world" aria-labelledby="pods-title">'
        yield '<h2 id="pods-title">Pods, as they will be</h2>'
        for one in shown:
            yield f'<div id="pods-{one.target}" data-target="{one.target}">'
            yield from pods(one)
            yield "</div>"
        yield "</section>"
