"""What the page of `explain --html` shows, gathered for every target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ptcompile._internal import arguments
from ptcompile._internal.limits import limits
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.advice import of_all
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic, Problem, Span, field_path
from ptcompile.diagnostics.selection import NO_CODES, selection
from ptcompile.explainer import explanation
from ptcompile.explainer.explanation import Explanation
from ptcompile.explainer.model import Cause, Input
from ptcompile.explainer.values import leaves, shown_value
from ptcompile.kubernetes.unstructured import object_name
from ptcompile.kubernetes.versions import Versions
from ptcompile.registry.targets import TARGETS, target_named
from ptcompile.simulator.world import World, simulate
from ptcompile.source import documents as source, emitter, streams
from ptcompile.source.secrets.scanner import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.explainer.sensitivity import InputName
    from ptcompile.extending import Extensions

    Strength = Literal["value", "there", "said"]
    """How a line matters: another value on it changes what it became, or only leaving it out does, or neither alone."""


class SourceLines(NamedTuple):
    """What a value came from: lines of a file, or in `words` what no file holds."""

    file: InputName
    first: int
    """Lines count from 1; 0 for what stands on no line."""
    last: int
    strength: Strength
    words: str = ""


class Reason(NamedTuple):
    """Why some lines of the manifests are there."""

    first: int
    last: int
    by: str
    """ "spec", "target", or the name of a pass."""
    rule: str
    origins: tuple[SourceLines, ...]


class SourceText(NamedTuple):
    """The lines of a file or of the manifests."""

    lines: tuple[str, ...]
    inside: frozenset[int] = frozenset()
    """Lines that go on with a value of several lines, and so have no keys and no comments."""


class Panel(NamedTuple):
    """The spec or the profile."""

    file: InputName
    filename: str
    text: SourceText | None
    """None where the file could not be read, so which of its words are secrets is unknown."""


class PageFinding(NamedTuple):
    """Something that was found, and for which targets it was."""

    diagnostic: Diagnostic
    targets: tuple[str, ...]
    file: InputName
    line: int
    """0 where it stands on no line."""


class Listing(NamedTuple):
    """One target: its manifests as one stream, and the reason of every value."""

    target: str
    title: str
    text: SourceText
    """No lines where the target cannot express any job of the spec."""
    reasons: tuple[Reason, ...]
    explanation: Explanation
    world: World


class ExplainPage(NamedTuple):
    """One spec with its profile, for some targets."""

    name: str
    """Of the job; of several the names."""
    panels: tuple[Panel, ...]
    listings: tuple[Listing, ...]
    findings: tuple[PageFinding, ...]
    chosen: str
    """The target that is shown first: what `compile` would take, or else the first that can express the job."""
    diagnostics: tuple[Diagnostic, ...]
    """What `compile` would say."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of all targets of the page."""
        return tuple(one.target for one in self.listings)


def listing(target: str, explanation: Explanation, versions: Versions) -> Listing:
    """What a target makes of a spec: its manifests as `compile` writes them with secrets masked, and their pods."""
    manifests = [without_secrets(one) for one in explanation.manifests]
    read = source.read(emitter.emit_all(manifests))
    spans = ((cause, read.documents[cause.manifest].span(cause.path)) for cause in explanation.causes)
    reasons = (_reason(cause, span, explanation) for cause, span in spans if span is not None)
    world = simulate(manifests, versions=versions, target=target)
    text = SourceText(tuple(read.lines[:-1]), inside(read))
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
    found: dict[SourceLines, None] = {}
    for origin in _origins(cause, explanation):
        lines = [other for other in found if origin.first and other[:3] == origin[:3]]
        if not lines:  # the strongest stands first
            found[origin] = None
    return Reason(*lines_of(span), cause.by, cause.rule, tuple(found))


def _origins(cause: Cause, explanation: Explanation) -> Iterator[SourceLines]:
    """The lines: first those whose values count, then those without which it would be another."""
    for one in sorted(cause.inputs, key=lambda one: (not one.other_value, not one.left_out)):
        strength: Strength = "value" if one.other_value else "there" if one.left_out else "said"
        if one.span is None:
            yield SourceLines(one.file, 0, 0, strength, _words(one, explanation))
        else:
            yield SourceLines(one.file, *lines_of(one.span), strength)


def _words(one: Input, explanation: Explanation) -> str:
    """What stands in no file: a default, or a line of what was given as data."""
    if one.given:
        whose = "the profile" if one.file == "cluster" else "the spec"
    else:
        whose = "the profile's default" if "cluster" in explanation.texts else "the built-in profile"
    return f"{whose}: {field_path(one.path)}: {shown_value(one.value, 80)}"


def gather(
    spec: str | bytes,
    *,
    target: str | None = None,
    cluster: str | bytes | None = None,
    filename: str = "spec.yaml",
    cluster_filename: str = "cluster.yaml",
    lint: bool = True,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    extensions: Extensions | None = None,
) -> ExplainPage:
    """The page of a spec for one target, or for all of them. Raises nothing for what a user may have written.

    `spec` and `cluster` are texts: a page is about their lines. A profile that is wrong leaves no listings, and so does
    a spec above the limit. The other arguments are those of `explain`.
    """
    arguments.check(target=target, filename=filename, cluster_filename=cluster_filename, extensions=extensions)
    sources: dict[InputName, source.Source] = {"spec": streams.read(spec, filename)}
    if cluster is not None:
        sources["cluster"] = streams.read(cluster, cluster_filename)
    if sum(map(_weight, sources.values())) > limits().page:
        return _too_large(filename)
    files: dict[InputName, str] = {"spec": filename, "cluster": cluster_filename}
    profile, found = load_profile(cluster, filename=cluster_filename)
    explain = partial(
        explanation.explain,
        sources["spec"],
        profile,
        sources.get("cluster"),
        filename=filename,
        found=found,
        asked=selection(select, ignore, extensions.codes if extensions is not None else NO_CODES) if lint else None,
        extensions=extensions,
    )
    wanted, taken, explanations = _explained(explain, target)
    versions = profile.versions() if profile is not None else None
    return ExplainPage(
        ", ".join(filter(None, (object_name(one.data) for one in sources["spec"].documents))) or filename,
        tuple(_panel(file, files[file], read, wanted) for file, read in sources.items()),
        tuple(listing(name, one, versions) for name, one in explanations.items()) if versions is not None else (),
        tuple(_findings(explanations, sources, files)),
        taken,
        wanted.diagnostics,
    )


def _weight(read: source.Source) -> int:
    """Count the values of a file, aliases expanded, and the lines of its texts; 500 characters are a line too."""
    total = 0
    stack: list[object] = [one.data for one in read.documents]
    while stack and total <= limits().page:
        value = stack.pop()
        total += 1
        if isinstance(value, Mapping):
            stack += value.values()
        elif isinstance(value, list):
            stack += value
        elif isinstance(value, str):
            total += value.count("\n") + len(value) // 500
    return total


def _too_large(filename: str) -> ExplainPage:
    message = f"the spec and its profile have more than {limits().page:,} values and lines of texts for one page"
    cure = "explain one path instead, such as `ptcompile explain spec.yaml spec.template.spec.volumes`"
    found = streams.to_diagnostic(Problem("too-large", (), message, cure, authority="ptcompile"), None, filename)
    shown = PageFinding(found, tuple(TARGETS), "spec", 0)
    return ExplainPage(filename, (Panel("spec", filename, None),), (), (shown,), "", (found,))


def _explained(
    explain: Callable[..., Explanation], target: str | None
) -> tuple[Explanation, str, dict[str, Explanation]]:
    """What the caller asked for, the target to show of it, and the explanation for each target."""
    wanted = explain(target=target)
    taken = list(dict.fromkeys(job.target for job in wanted.jobs))
    explanations: dict[str, Explanation] = {}
    for name in TARGETS if target is None else (target,):
        own = target is not None or taken == [name]
        explanations[name] = wanted if own else explain(target=name)
    taken = [name for name in taken if name in explanations]  # and none of a plugin
    able = [name for name, one in explanations.items() if one.jobs]
    if not wanted.jobs and able:  # the target of a job without one is a matter of taste
        wanted = explanations[able[0]]
    return wanted, next(iter([*taken, *able, *explanations])), explanations


def _panel(file: InputName, filename: str, read: source.Source, explanation: Explanation) -> Panel:
    """A file with its secrets masked; without its lines where parts of it could not be read."""
    masked = explanation.texts.get(file)
    if masked is None or any(problem.severity == "error" for problem in read.problems):
        return Panel(file, filename, None)
    lines = masked.lines[:-1] if masked.lines[-1:] == ("",) else masked.lines
    return Panel(file, filename, SourceText(lines, inside(read)))


def _findings(
    explanations: Mapping[str, Explanation], sources: Mapping[InputName, source.Source], files: Mapping[InputName, str]
) -> Iterator[PageFinding]:
    """What was found for any target, each once, in the order of the lines."""
    names = list(explanations)
    found = [
        PageFinding(one, tuple(names[number] for number in numbers), file, _line(one, sources[file]))
        for one, numbers in of_all([each.diagnostics for each in explanations.values()]).items()
        for file in [_file(one, sources, files)]
    ]
    yield from sorted(found, key=lambda one: (one.file != "spec", one.line))


def _file(one: Diagnostic, sources: Mapping[InputName, source.Source], files: Mapping[InputName, str]) -> InputName:
    return "cluster" if "cluster" in sources and one.filename == files["cluster"] != files["spec"] else "spec"


def _line(one: Diagnostic, read: source.Source) -> int:
    """The line to show a finding at: for a mapping of several lines that of its key."""
    if one.span is None:
        return 0
    if one.span.line < one.span.end_line:
        document = next((d for d in read.documents if d.index == one.document), None)
        span = document.span(one.path, on_key=True) if document is not None and one.path else None
        return span.line if span is not None else one.span.line
    return one.span.line
