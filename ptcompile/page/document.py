"""A page as HTML: one file that loads nothing. It reads without its script; the script adds light, tabs and keys."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files

from ptcompile.about import __version__
from ptcompile.graph.svg_parts import STYLE, escape
from ptcompile.page import colours
from ptcompile.page.code import AUTHORS, authors_of, code
from ptcompile.page.data import data
from ptcompile.page.findings import at_lines, refusal, without_line
from ptcompile.page.model import Listing, Page, Panel
from ptcompile.page.pods import pods

_TITLES = {"spec": "Spec", "cluster": "Profile"}
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' "
    "rx='4' fill='%234f46e5'/%3E%3Cpath d='M4 5h8M4 8h5M4 11h7' stroke='white' stroke-width='1.5'/%3E%3C/svg%3E"
)
_IDLE = (
    "Point at a line, or move to one with Tab and the arrow keys, to see what it came from or what it became. Click "
    "to pin it, Escape to release."
)


def html(page: Page) -> str:
    """The whole page. The same page gives the same bytes."""
    style = f"{_file('page.css')}{colours.style(len(AUTHORS))}.graph {{{STYLE}}}\n"
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
    return files("ptcompile.page").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _head(page: Page) -> Iterator[str]:
    able = sum(bool(one.text.lines) for one in page.listings)
    count = f"{able} of {len(page.listings)} targets" if len(page.listings) > 1 else "one target"
    yield "<header>"
    yield f"<h1>{escape(page.name)}</h1>"
    yield f"<p>Where every line came from. {count}, compiled and simulated by ptcompile {__version__}.</p>"
    yield "</header>"


def _given(page: Page) -> Iterator[str]:
    yield '<div class="given">'
    for panel in page.panels:
        yield from _panel(panel, page)
    yield "</div>"


def _panel(panel: Panel, page: Page) -> Iterator[str]:
    name = _TITLES[panel.file]
    yield f'<section class="pane" aria-labelledby="{panel.file}-title">'
    yield f'<h2 id="{panel.file}-title">{name} <small>{escape(panel.filename)}</small></h2>'
    yield from without_line(page, panel.file, all_of_it=panel.text is None)
    if panel.text is not None:
        yield from code(panel.text, panel.file, notes=at_lines(page, panel.file))
    else:
        yield "<p>Not all of it could be read, so what is secret in it is unknown and its lines are not shown.</p>"
    yield "</section>"


def _made(page: Page) -> Iterator[str]:
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


def _listing(one: Listing, page: Page) -> Iterator[str]:
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


def _pods(page: Page) -> Iterator[str]:
    shown = [one for one in page.listings if one.text.lines]
    if shown:
        yield '<section class="world" aria-labelledby="pods-title">'
        yield '<h2 id="pods-title">Pods, as they will be</h2>'
        for one in shown:
            yield f'<div id="pods-{one.target}" data-target="{one.target}">'
            yield from pods(one)
            yield "</div>"
        yield "</section>"
