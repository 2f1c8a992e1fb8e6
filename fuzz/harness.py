"""What is asked of every input: a harness each, bytes in, and an exception where a promise is
broken.

Beside "it does not raise" each asks what the design promises of any input: positions inside the
text, reports that no file can steer, two readers that agree, the same bytes twice, manifests that
are read back as they were.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import islice
from xml.etree import ElementTree
from zlib import crc32

import ptcompile
from ptcompile._internal.limits import limits
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic, Span
from ptcompile.graph import GRAPHS
from ptcompile.operators.targets import TARGETS
from ptcompile.report import FORMATS, renderer
from ptcompile.simulator.as_json import pod_to_dict
from ptcompile.simulator.as_text import env_file, overview, pod_text
from ptcompile.simulator.world import World
from ptcompile.source import documents as source, emitter, suppression
from ptcompile.source.exact_reader import parse

Harness = Callable[[bytes], None]

NAME = "a b:%,\x1b[31m.yaml"
"""A file's name is hostile too."""
_TARGETS = (None, *TARGETS)
_FORMATS = tuple(FORMATS)
_VERSIONS = (None, "1.30", "1.32", "1.34")


def reader(data: bytes) -> None:
    """The reader: text to documents, positions, and the two readers side by side."""
    read = source.read(data, NAME)
    lines = read.lines
    for problem in read.problems:
        assert problem.message, problem
        assert problem.span is not None, problem
        _within(problem.span, lines)

    for document in read.documents:
        json.dumps(document.data, allow_nan=False).encode()
        path, value = _a_place(document.data, crc32(data))
        span = document.span(path)
        assert span is not None
        _within(span, lines)
        assert emit_and_read(document.data) == document.data
        if not read.is_json:
            text = read.text[document._start : document._end]
            exact = parse(text)
            assert exact.data == document.data, (exact, document.data, value)


def lint(data: bytes) -> None:
    """The lint path: reader, structure, the server's rules, webhooks, rules, suppression,
    reports; the simulator.
    """
    dice = crc32(data)
    report = ptcompile.lint(
        data,
        filename=NAME,
        webhooks=bool(dice & 3),
        kubernetes=_VERSIONS[dice >> 2 & 3],
        unknown_kinds="error" if dice & 16 else "count",
    )
    findings((*report.diagnostics, *report.meant), data)
    if dice % 5 == 0:
        suppression.add_ignores(_text(data), report.diagnostics)
    if dice % 3 == 0:
        world(ptcompile.simulate(data, filename=NAME))


def compile(data: bytes) -> None:
    """The compiler: a stream of specs, and the ClusterProfile in it where there is one."""
    dice = crc32(data)
    target = _TARGETS[dice % len(_TARGETS)]
    cluster = data if b"ClusterProfile" in data and dice & 64 else None
    result = ptcompile.compile(data, filename=NAME, target=target, cluster=cluster)
    findings(result.diagnostics, data)
    assert result.ok or result.diagnostics
    assert result.manifests or not result.ok
    written = result.yaml()
    if len(result.manifests) <= limits().documents:
        read = source.read(written)
        assert not read.problems, read.problems
        assert [document.data for document in read.documents] == list(result.manifests)
    if dice % 7 == 0:
        assert (
            ptcompile.compile(data, filename=NAME, target=target, cluster=cluster).yaml() == written
        )
        world(ptcompile.simulate(data, filename=NAME))
    if cluster is not None:
        findings(tuple(load_profile(data, filename=NAME)[1]), data)


def server(data: bytes) -> None:
    """The language server, of which the other harnesses need nothing."""
    from fuzz.server import server as asked

    asked(data)


def emit_and_read(data: object) -> object:
    """The data as it is read back from what `emit` writes."""
    (document,) = source.read(emitter.emit_all([data])).documents
    return document.data


def world(made: World) -> None:
    """Every form of a simulation's result."""
    harmless(overview(made))
    some = list(islice(made.pods.folded(), 30))
    if len(some) < 30:  # wide worlds are written at length: that takes time, and shows nothing new
        json.dumps(made.to_dict(), allow_nan=False)
        for draw in GRAPHS.values():
            harmless(draw(made))

    for pod in some[:2]:
        harmless(pod_text(pod))
        env_file(pod)
        json.dumps(pod_to_dict(pod))


def findings(found: Sequence[Diagnostic], data: bytes) -> None:
    """Findings have a message and stand in the text; their report, in one of the formats, is
    harmless.
    """
    text = _text(data)
    lines = text.removeprefix("\ufeff").split("\n")
    for one in found:
        assert one.message, one
        if one.span is not None:
            _within(one.span, lines)
    if found:
        name = _FORMATS[crc32(data) // 97 % len(_FORMATS)]
        _report(name, renderer(name)(found, {NAME: text}))


def _report(name: str, report: str) -> None:
    harmless(report)
    if name in ("json", "sarif"):
        json.loads(report)
    elif name == "junit":
        ElementTree.fromstring(report)
    elif name == "github":
        assert all(line.startswith("::") for line in report.splitlines()), report


def _text(data: bytes) -> str:
    """As the command line decodes it for reports."""
    return data.decode(
        "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", errors="replace"
    )


def _within(span: Span, lines: Sequence[str]) -> None:
    assert 1 <= span.line <= span.end_line <= len(lines), span
    assert (span.line, span.column) <= (span.end_line, span.end_column), span
    assert 1 <= span.column <= len(lines[span.line - 1]) + 2, span


def harmless(text: str) -> None:
    """No control character but line ends, no direction marks, and text that can be encoded."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return
    text.encode()
    for character in text:
        assert character == "\n" or character.isprintable(), ascii(text[:500])


def legible(text: str) -> None:
    """No character of a file for people controls a terminal or turns the direction of what
    follows.
    """
    found = _STEERING.search(text)
    assert found is None, ascii(text[max(0, found.start() - 100) :][:200])


_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _a_place(data: object, dice: int) -> tuple[tuple[str | int, ...], object]:
    """The path to some value, and the value."""
    path: list[str | int] = []
    value = data
    while isinstance(value, dict | list) and value and dice:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        at = keys[dice % len(keys)]
        path.append(at)
        value = value[at]
        dice //= 3
    return tuple(path), value
