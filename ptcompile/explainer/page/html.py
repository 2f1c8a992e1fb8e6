"""The page as HTML: listings, findings, pods, styles and data."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib.resources import files

from ptcompile._internal.about import __version__
from ptcompile._internal.spelling import pluralize
from ptcompile.compiler import passes
from ptcompile.explainer.page.content import (
    ExplainPage,
    Listing,
    PageFinding,
    Panel,
    SourceLines,
    SourceText,
)
from ptcompile.explainer.page.queue import queue_lines
from ptcompile.graph import GRAPHS
from ptcompile.graph.svg_elements import STYLE, escape
from ptcompile.report.layout import consequence, safe_text
from ptcompile.simulator import as_text
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.rendezvous import JobRendezvous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.explainer.sensitivity import InputName


AUTHORS = ("spec", "target", *(compiler_pass.__name__ for compiler_pass in passes.PASSES))
"""Possible writers of a line, in the order of their marks."""

_key = re.compile(
    r"""(?P<lead>[ ]*(?:-[ ]+)*)"""
    r"""(?P<key>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s#'"\[{&*!|>%@,-][^:#]*):(?=\s|$)"""
).match
_COMMENT = re.compile(r"""(?:^|(?<=\s))#[^'"]*$""")


def code_lines(
    text: SourceText, prefix: str, *, authors: Mapping[int, str] = {}, notes: Mapping[int, str] = {}
) -> Iterator[str]:
    """Yield a list of lines, each with the id `prefix-N`.

    `authors` names the writer of each line, shown on the first of consecutive lines. `notes` are
    pieces of HTML below a line.
    """
    yield f'<ol class="code" id="{prefix}-lines">'
    last = ""
    for number, line in text.numbered():
        depth = _indentation(line)
        if number in text.inside:
            content = escape(line)
        else:
            content = f"{line[:depth]}{_colored_line(line[depth:])}"

        author = authors.get(number, "")
        mark = f' class="a{AUTHORS.index(author)}"' if author in AUTHORS else ""
        name = f"<i>{escape(author)}</i>" if author and author not in (last, "spec") else ""
        shown_number = f' data-line="{number}"' if text.numbers else ""
        item = (
            "<li "
            f'id="{prefix}-{number}"{shown_number}{mark}><code{_indent_class(line)}>{content}</code>'
        )
        yield f"{item}{name}{notes.get(number, '')}"
        last = author

    yield "</ol>"


def _indent_class(line: str) -> str:
    """Return the class for a line's indentation, which its continuation keeps if the line is too
    long for the page.
    """
    depth = min(20, (_indentation(line) + 1) // 2 * 2)
    return f' class="d{depth}"' if depth else ""


@lru_cache(8192)
def _colored_line(line: str) -> str:
    """Return a line as HTML. The targets repeat each other's lines, and so does the page after a
    change.
    """
    comment = _COMMENT.search(line)
    end = comment.start() if comment else len(line)
    key = _key(line, 0, end)
    start = key.end("key") if key else 0
    out = f"{escape(key['lead'])}<b>{escape(key['key'])}</b>" if key else ""
    return out + escape(line[start:end]) + (f"<s>{escape(line[end:])}</s>" if comment else "")


def authors_of(listing: Listing) -> dict[int, str]:
    """Return the writer of each line. A line with only a key belongs to the writer of all its
    values.
    """
    out = {
        line: reason.by
        for reason in listing.reasons
        for line in range(reason.first, reason.last + 1)
    }
    lines = listing.text.lines
    for number in range(len(lines), 0, -1):
        if number not in out and lines[number - 1].rstrip().endswith(":"):
            nested_authors = (out.get(inner, "") for inner in _nested_lines(lines, number))
            first = next(nested_authors, None)
            if first is not None and all(author == first for author in nested_authors):
                out[number] = first

    return out


def _nested_lines(lines: Sequence[str], number: int) -> Iterator[int]:
    """Yield the numbers of the lines below a key: deeper lines, and the items of a list at its
    own depth.
    """
    depth = _indentation(lines[number - 1], items=True)
    for inner in range(number + 1, len(lines) + 1):
        line = lines[inner - 1]
        indent = _indentation(line)
        if indent < depth or (indent == depth and not line[indent:].startswith("- ")):
            return
        yield inner


def _indentation(line: str, *, items: bool = False) -> int:
    """Return the column at which a line begins; with `items`, after the hyphens of a list."""
    return len(line) - len(line.lstrip("- " if items else " "))


FILES = ("spec", "cluster")
STRENGTHS = ("value", "there", "said")


def page_data(page: ExplainPage) -> str:
    """Return JSON for a script element, without characters that HTML or JavaScript would interpret.

    A reason is `[first line, last line, author, rule, origins]`, an origin `[file, first line, last
    line, strength]`, or `[file, 0, index in words, strength]` if there is no line.
    """
    descriptions: dict[str, int] = {}
    rules: dict[str, int] = {}
    written = {reason.by for tab in page.listings for reason in tab.reasons}
    # the passes of plugins come last
    authors = (*AUTHORS, *sorted(written.difference(AUTHORS)))
    rule_number = cache(lambda rule: rules.setdefault(safe_text(rule), len(rules)))
    origin_data = cache(partial(_origin_data, descriptions=descriptions))
    targets = {
        listing.target: [
            [
                reason.first, reason.last, authors.index(reason.by), rule_number(reason.rule),
                [origin_data(origin) for origin in reason.origins],
            ]
            for reason in listing.reasons
        ]
        for listing in page.listings
    }  # fmt: skip
    payload = {
        "authors": authors,
        "chosen": page.chosen,
        "files": [safe_text(panel.filename) for panel in page.panels],
        "outdated": page.outdated == "manifests",
        "rules": list(rules),
        "strengths": STRENGTHS,
        "targets": targets,
        "words": list(descriptions),
    }
    text = json.dumps(payload, separators=(",", ":"))

    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _origin_data(origin: SourceLines, descriptions: dict[str, int]) -> list[int]:
    file = FILES.index(origin.file)
    strength = STRENGTHS.index(origin.strength)
    if not origin.first:
        return [
            file,
            0,
            descriptions.setdefault(safe_text(origin.words), len(descriptions)),
            strength,
        ]

    return [file, origin.first, origin.last, strength]


def notes_by_line(page: ExplainPage, file: InputName) -> dict[int, str]:
    """Return the findings of a file as HTML, keyed by line."""
    out: dict[int, str] = {}
    for finding in page.findings:
        if finding.file == file and finding.line:
            out[finding.line] = out.get(finding.line, "") + _note_html(finding, page.targets)
    return out


def notes_without_line(page: ExplainPage, panel: Panel) -> list[str]:
    """Return the findings of a file whose line is not shown."""
    shown_lines = {number for number, _ in panel.text.numbered()} if panel.text is not None else ()
    return _notes_html(
        [
            _note_html(finding, page.targets)
            for finding in page.findings
            if finding.file == panel.file and finding.line not in shown_lines
        ]
    )


def _notes_html(notes: Sequence[str]) -> list[str]:
    return ['<div class="notes">', *notes, "</div>"] if notes else []


def rejection_notes(page: ExplainPage, target: str) -> list[str]:
    """Return why a target has no manifests, or nothing if it has. Findings of all targets are shown
    only in the spec.
    """
    errors = [
        finding
        for finding in page.findings
        if target in finding.targets and finding.diagnostic.severity == "error"
    ]
    if not errors:
        return []

    target_errors = [
        finding
        for finding in errors
        if _is_about_target(finding) and set(finding.targets) != set(page.targets)
    ]
    is_invalid = any(finding.diagnostic.name != "unsupported-by-target" for finding in errors)
    shared = len(errors) - len(target_errors)
    suffix = f": {pluralize(shared, 'error')}, shown at the spec's lines" if shared else ""
    notes = _notes_html([_note_html(finding, finding.targets) for finding in target_errors])
    if page.outdated:
        return notes

    sentence = "It does not compile" if is_invalid else f"{target} cannot express this job"
    return [f'<p class="refused">{sentence}{suffix}.</p>', *notes]


def _is_about_target(finding: PageFinding) -> bool:
    """Return whether a finding concerns the target, and not only the job."""
    return len(finding.targets) == 1 or finding.diagnostic.name == "unsupported-by-target"


def _note_html(finding: PageFinding, every: Sequence[str]) -> str:
    """Return one finding, with its targets if it does not concern all targets of the page."""
    diagnostic = finding.diagnostic
    only = finding.targets if set(finding.targets) != set(every) else ()
    attribute = f' data-for="{" ".join(map(escape, only))}"' if only else ""
    targets = f' <span class="only">{escape(", ".join(only))}</span>' if only else ""
    help = f"<span>help: {escape(diagnostic.help)}</span>" if diagnostic.help else ""

    return (
        f'<div class="note {diagnostic.severity}"{attribute}>'
        f"<span><strong>{diagnostic.severity} {escape(diagnostic.code)}</strong> "
        f"{escape(diagnostic.name)}{targets}</span><span>{escape(diagnostic.message)}</span>{help}"
        f"<em>{escape(consequence(diagnostic))}</em></div>"
    )


_POD_COLUMNS = ("Pod", "Host name", "DNS name", "Rank", "QoS")
_MAX_SHOWN = 128
"""Number of differing variables of other pods that are shown, and of characters of each."""


def pod_lines(listing: Listing) -> Iterator[str]:
    """Yield every job of a target's world, and one picture of all of them."""
    for job in listing.world.jobs:
        rendezvous = job.rendezvous
        yield f"<h3>{escape(job.title)}</h3>"
        yield '<dl class="facts">'
        for label, lines in as_text.job_facts(job, rendezvous):
            facts = "".join(_fact_html(label, line) for line in lines)
            if facts:
                yield f"<div><dt>{escape(label)}</dt>{facts}</div>"
        yield "</dl>"
        if rendezvous is not None:
            rows = as_text.pod_rows(job, rendezvous)[1:]
            yield from _table_html("pods", "Pods", _POD_COLUMNS, rows)
            yield from _environment_html(job, rendezvous)
    yield '<figure class="graph" tabindex="0" aria-label="The pods as a picture">'
    # page.css has the style for all pictures
    yield GRAPHS["svg"](listing.world).replace(f"<style>{STYLE}</style>\n", "")
    yield "</figure>"


def _fact_html(label: str, line: str) -> str:
    if label == "runs":
        return f"<dd><code>{escape(line)}</code></dd>"
    return f"<dd>{escape(line)}</dd>"


def _environment_html(job: SimulatedJob, rendezvous: JobRendezvous) -> Iterator[str]:
    lead = rendezvous.roles[0][0]
    first = job.pod(lead, 0)
    rows = as_text.env_rows(first)
    container = first.main.name if first.main else ""
    title = f"Environment of {first.display_name}, container {container}"
    if rows:
        cells = [
            ["operator" if mark == "+" else "manifest", name, *value] for mark, name, *value in rows
        ]
        yield from _table_html("env", title, ["Set by", "Variable", "Value", "As written"], cells)

    other_pods = list(as_text.differences_by_role(job, lead))
    if other_pods:
        yield '<ul class="others">'
        for names, differences in other_pods:
            text = ", ".join(
                f"<code>{escape(shorten_text(difference))}</code>"
                for difference in differences[:_MAX_SHOWN]
            )
            summary = f"but {text}" if differences else "in all"
            yield (
                f"<li><code>{escape(names)}</code> as <code>{escape(first.display_name)}</code> "
                f"{summary}"
            )
        yield "</ul>"


def shorten_text(text: str) -> str:
    """Return a long text cut at the end."""
    if len(text) <= _MAX_SHOWN:
        return text
    return f"{text[: _MAX_SHOWN - 1]}…"


def _table_html(
    kind: str, title: str, head: Sequence[str], rows: Sequence[Sequence[str]]
) -> Iterator[str]:
    yield (
        f'<div class="wide" tabindex="0" role="group" aria-label="{escape(title)}"><table '
        f'class="{kind}">'
    )
    yield f"<caption>{escape(title)}</caption>"
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    yield f"<thead><tr>{heads}</tr></thead>"
    yield "<tbody>"
    for row in rows:
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
        yield f"<tr>{cells}{'<td></td>' * (len(head) - len(row))}</tr>"
    yield "</tbody></table></div>"


_TITLES = {"spec": "Spec", "cluster": "Profile"}
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect "
    "width='16' height='16' "
    "rx='4' fill='%234f46e5'/%3E%3Cpath d='M4 5h8M4 8h5M4 11h7' stroke='white' "
    "stroke-width='1.5'/%3E%3C/svg%3E"
)
_IDLE_HINT = (
    '<span class="pointer">Point at a line, or move to one with Tab and the arrow keys, to see '
    "what it came from or "
    "what it became. Click to pin it, Escape to release.</span>"
    '<span class="touch">Tap a line to see what it came from or what it became. Tap it again to '
    "release it.</span>"
)


_SCHEMES = {"light": "@media not all", "dark": "@media screen"}
"""Replacements of the condition under which the page is dark, for a fixed color scheme."""


def html(page: ExplainPage, scheme: str = "") -> str:
    """Return the whole page, in the reader's color scheme or in `scheme` ("light" or "dark"). The
    same page gives the same bytes.
    """
    style = f"{_read_asset('page.css')}{_read_asset('authors.css')}.graph {{{STYLE}}}\n"
    if any(listing.admissions for listing in page.listings):
        style += _read_asset("queue.css")
    if scheme in _SCHEMES:
        style = style.replace("@media screen and (prefers-color-scheme: dark)", _SCHEMES[scheme])
        style = style.replace("color-scheme: light dark", f"color-scheme: {scheme}")
    script = (
        f'"use strict";\n(() => {{\n{_read_asset("reasons.js")}{_read_asset("page.js")}}})();\n'
    )
    policy = (
        f"default-src 'none'; style-src '{_csp_hash(style)}'; script-src '{_csp_hash(script)}'; "
        "img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta name="color-scheme" content="{scheme if scheme in _SCHEMES else "light dark"}">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(page.name)} - where every line came from</title>",
        f'<link rel="icon" href="{_ICON}">',
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        *_page_header(page),
        *_notice(page),
        "<main>",
        '<div class="columns">',
        *_input_panels(page),
        *_manifest_tabs(page),
        "</div>",
        *_pods_section(page),
        "</main>",
        f'<p id="why" role="status" aria-live="polite">{_IDLE_HINT}</p>',
        f'<script type="application/json" id="data">{page_data(page)}</script>',
        f"<script>{script}</script>",
        "</body>",
        "</html>",
        "",
    ]

    return "\n".join(lines)


def _read_asset(name: str) -> str:
    return files("ptcompile.explainer.page").joinpath(name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _page_header(page: ExplainPage) -> Iterator[str]:
    able = sum(bool(target_listing.text.lines) for target_listing in page.listings)
    several = f"{able} of {len(page.listings)} targets"
    target = f"target {page.listings[0].target}" if len(page.listings) == 1 else several
    yield "<header>"
    yield f"<h1>{escape(page.name)}</h1>"
    yield (
        f"<p>Where every line came from, for {target}; compiled and simulated by ptcompile "
        f"{__version__}.</p>"
    )
    yield "</header>"


_MAX_LINKS = 5
"""Number of lines with errors to which a notice links."""


def _notice(page: ExplainPage) -> Iterator[str]:
    """Yield why parts of the page are outdated."""
    if page.outdated == "everything":
        yield f'<p class="notice" role="status">{escape(page.notice)}</p>'
    elif page.outdated:
        errors = [finding for finding in page.findings if finding.diagnostic.severity == "error"]
        filenames = {panel.file: panel.filename for panel in page.panels}
        links = dict.fromkeys(
            f'<a href="#{error.file}-{error.line}">{escape(filenames[error.file])}:{error.line}</a>'
            for error in errors
            if error.line
        )
        count = pluralize(len(errors), "error")
        if links:
            count += f" at {', '.join([*links][:_MAX_LINKS])}"
        kept = "The manifests and pods are those of the last version that compiled."
        yield f'<p class="notice" role="status">The spec does not compile: {count}. {kept}</p>'


def _outdated_class(is_outdated: object) -> str:
    return " outdated" if is_outdated else ""


def _input_panels(page: ExplainPage) -> Iterator[str]:
    yield f'<div class="given{_outdated_class(page.outdated == "everything")}">'
    for panel in page.panels:
        yield from _panel_html(panel, page)
    yield "</div>"


def _panel_html(panel: Panel, page: ExplainPage) -> Iterator[str]:
    name = _TITLES[panel.file]
    is_excerpt = panel.text is not None and bool(panel.text.numbers)
    yield f'<section class="pane{" excerpt" * is_excerpt}" aria-labelledby="{panel.file}-title">'
    yield f'<h2 id="{panel.file}-title">{name} <small>{escape(panel.filename)}</small></h2>'
    yield from notes_without_line(page, panel)
    if panel.text is not None:
        yield from code_lines(panel.text, panel.file, notes=notes_by_line(page, panel.file))
    if panel.text is None or is_excerpt:
        yield (
            "<p>Parts of the file could not be parsed, so its other lines are not shown: its "
            "secrets are unknown.</p>"
        )
    yield "</section>"


def _manifest_tabs(page: ExplainPage) -> Iterator[str]:
    yield f'<section class="made{_outdated_class(page.outdated)}" aria-label="Manifests">'
    yield '<div class="tabs">'
    for target_listing in page.listings:
        css_class = "" if target_listing.text.lines else ' class="refuses"'
        suffix = "" if target_listing.text.lines else "<span> (refused)</span>"
        target = target_listing.target
        yield f'<a href="#{target}" id="tab-{target}"{css_class}>{target}{suffix}</a>'

    yield "</div>"
    for target_listing in page.listings:
        yield (
            f'<div class="pane" id="{target_listing.target}" data-target="{target_listing.target}">'
        )
        yield from _listing_html(target_listing, page)
        yield "</div>"

    yield "</section>"


def _listing_html(target_listing: Listing, page: ExplainPage) -> Iterator[str]:
    yield f"<h2>{escape(target_listing.title)} <small>{target_listing.target}.yaml</small></h2>"
    yield from rejection_notes(page, target_listing.target)
    if target_listing.text.lines:
        yield from _legend_html(target_listing)
        yield from code_lines(
            target_listing.text, target_listing.target, authors=authors_of(target_listing)
        )
        yield "<details><summary>What each pass did</summary>"
        yield "<pre>"
        yield from map(escape, target_listing.explanation.text().splitlines())
        yield "</pre></details>"


def _legend_html(target_listing: Listing) -> Iterator[str]:
    """Yield the number of values per writer, as buttons that highlight them."""
    counted = Counter(reason.by for reason in target_listing.reasons)
    yield '<div class="legend" role="group" aria-label="Who wrote how many values">'
    for index, author in enumerate(AUTHORS):
        if counted[author]:
            yield (
                f'<button type="button" class="a{index}" data-by="{index}">{author} '
                f"<b>{counted[author]}</b></button>"
            )
    yield "</div>"


def _pods_section(page: ExplainPage) -> Iterator[str]:
    listings = [target_listing for target_listing in page.listings if target_listing.text.lines]
    if listings:
        yield (
            f'<section class="world{_outdated_class(page.outdated)}" aria-labelledby="pods-title">'
        )
        yield '<h2 id="pods-title">Pods, as they will be</h2>'
        for target_listing in listings:
            yield f'<div id="pods-{target_listing.target}" data-target="{target_listing.target}">'
            yield from pod_lines(target_listing)
            yield from queue_lines(target_listing.admissions)
            yield "</div>"
        yield "</section>"
