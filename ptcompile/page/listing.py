"""The manifests of one target as lines, and for each value on them its cause in terms of lines."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.documents import emit, source
from ptcompile.explaining.explanation import Explanation
from ptcompile.explaining.leaves import leaves
from ptcompile.explaining.model import Cause, Input
from ptcompile.explaining.shown import shown_value
from ptcompile.findings.diagnostics import Span, field_path
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.targets import target_named
from ptcompile.page.model import Listing, Origin, Reason, Text
from ptcompile.secrets.structure import without_secrets
from ptcompile.simulation import simulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.page.model import Strength


def listing(target: str, explanation: Explanation, versions: Versions) -> Listing:
    """What a target makes of a spec: its manifests as `compile` writes them with secrets masked, and their pods."""
    manifests = [without_secrets(one) for one in explanation.manifests]
    read = source.read(emit.emit_all(manifests))
    spans = ((cause, read.documents[cause.manifest].span(cause.path)) for cause in explanation.causes)
    reasons = (_reason(cause, span, explanation) for cause, span in spans if span is not None)
    world = simulate(manifests, versions=versions, target=target)
    text = Text(tuple(read.lines[:-1]), inside(read))
    return Listing(target, target_named(target).title, text, tuple(reasons), explanation, world)


def inside(read: source.Source) -> frozenset[int]:
    """The lines, from 1, that go on with a value of several lines."""
    found = (document.span(path) for document in read.documents for path, _ in leaves(document.data))
    lines = [lines_of(span) for span in found if span is not None and span.line != span.end_line]
    return frozenset(line for first, last in lines for line in range(first + 1, last + 1))


def lines_of(span: Span) -> tuple[int, int]:
    """The first and the last line of a span."""
    return span.line, max(span.line, span.end_line - (span.end_column == 1))


def _reason(cause: Cause, span: Span, explanation: Explanation) -> Reason:
    found: dict[Origin, None] = {}
    for origin in _origins(cause, explanation):
        lines = [other for other in found if origin.first and other[:3] == origin[:3]]
        if not lines:  # the strongest stands first
            found[origin] = None
    return Reason(*lines_of(span), cause.by, cause.rule, tuple(found))


def _origins(cause: Cause, explanation: Explanation) -> Iterator[Origin]:
    """The lines: first those whose values count, then those without which it would be another."""
    for one in sorted(cause.inputs, key=lambda one: (not one.other_value, not one.left_out)):
        strength: Strength = "value" if one.other_value else "there" if one.left_out else "said"
        if one.span is None:
            yield Origin(one.file, 0, 0, strength, _words(one, explanation))
        else:
            yield Origin(one.file, *lines_of(one.span), strength)


def _words(one: Input, explanation: Explanation) -> str:
    """What stands in no file: a default, or a line of what was given as data."""
    if one.given:
        whose = "the profile" if one.file == "cluster" else "the spec"
    else:
        whose = "the profile's default" if "cluster" in explanation.texts else "the built-in profile"
    return f"{whose}: {field_path(one.path)}: {shown_value(one.value, 80)}"
